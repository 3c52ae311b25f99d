// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * One run: a seed, and how much of what it would do is done.
 *
 * @param arbitrator whether the last of the nodes has no database
 * @param micros how long clients write and faults happen
 */
record Run(
        long seed, Mode mode, int nodes, boolean arbitrator, int clients, long micros, Faults faults, Set<Bug> bugs) {
    private static final long SETTLE_MICROS = 60_000_000;
    private static final long EVENTS_MAX = 5_000_000;

    /** What became of it. */
    record Outcome(Run run, String violation, List<String> history, Statistics statistics) {
        boolean failed() {
            return violation != null;
        }
    }

    /** The whole of what a seed stands for. */
    static Run of(long seed, Set<Bug> bugs) {
        Random r = new Random(mixed(seed));
        boolean calm = r.nextInt(4) == 0;
        Faults faults = calm
                ? Faults.NONE
                : new Faults(
                        r.nextInt(3) * 0.05,
                        r.nextInt(3) * 0.05,
                        r.nextInt(5),
                        r.nextInt(3),
                        r.nextInt(4),
                        500 << r.nextInt(6),
                        50 << r.nextInt(7),
                        30 << r.nextInt(4),
                        r.nextInt(3) == 0 ? Faults.ALL_ENTRIES : 4 << r.nextInt(5),
                        r.nextInt(2) == 0 ? Faults.ALL_BYTES : 24 << 10,
                        r.nextInt(3) == 0 ? 0.1 : 0,
                        0,
                        Math.max(0, r.nextInt(6) - 2),
                        Math.max(0, r.nextInt(6) - 3),
                        0);
        int powerLosses = Math.max(0, r.nextInt(6) - 2);
        int nodes = 2 + r.nextInt(3);
        int clients = 1 + r.nextInt(3);
        long micros = 60_000L + r.nextInt(200_000);
        int dice = r.nextInt(6);
        Mode mode = dice < 3 ? Mode.ASYNC : dice < 5 ? Mode.CERTIFIED : Mode.MIXED;
        if (!calm && mode == Mode.ASYNC && powerLosses > 0) {
            faults = faults.withPowerLosses(powerLosses);
        }
        boolean arbitrator = r.nextInt(4) == 0 && nodes > 2;
        Random separate = new Random(mixed(seed) + 2);
        if (separate.nextInt(3) == 0 && faults.powerLosses() == 0) {
            faults = faults.withDisputes(1 + Math.max(0, separate.nextInt(6) - 3));
        }
        if (mode == Mode.ASYNC && new Random(mixed(seed) + 3).nextInt(5) < (faults.disputes() == 0 ? 3 : 2)) {
            mode = Mode.AFTER_SYNC;
        }
        return new Run(seed, mode, nodes, arbitrator, clients, micros, faults, bugs);
    }

    /** Neighbouring seeds of {@link Random} begin alike. */
    static long mixed(long seed) {
        long z = seed * 0x9E3779B97F4A7C15L;
        z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
        return z ^ z >>> 31;
    }

    Run with(int fewerNodes, int fewerClients, long fewerMicros, Faults fewerFaults) {
        return new Run(seed, mode, fewerNodes, arbitrator, fewerClients, fewerMicros, fewerFaults, bugs);
    }

    Outcome execute() {
        Path directory = null;
        World world = null;
        try {
            directory = Files.createTempDirectory(scratch(), "quorate-sim-");
            world = new World(this, directory);
            execute(world);
            return new Outcome(this, null, world.history(), world.statistics);
        } catch (RuntimeException e) {
            String what = e instanceof Violation ? e.getMessage() : e.toString() + at(e);
            return new Outcome(this, what, world == null ? List.of() : world.history(), new Statistics());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            if (world != null) {
                world.nodes().forEach(Node::end);
            }
            delete(directory);
        }
    }

    /** Where in the product or here, innermost first. */
    private static String at(Exception e) {
        return Stream.of(e.getStackTrace())
                .filter(frame -> frame.getClassName().startsWith("io.quorate"))
                .limit(4)
                .map(frame -> " at " + frame)
                .collect(Collectors.joining());
    }

    private static Path scratch() {
        Path memory = Path.of("/dev/shm");
        return Files.isWritable(memory) ? memory : Path.of(System.getProperty("java.io.tmpdir"));
    }

    private void execute(World world) {
        for (Node node : world.nodes()) {
            for (int i = 0; i < clients && !node.isArbitrator(); i++) {
                new Client(node, i, node.number == 0 && i == 0, isCertified(i));
            }
        }
        for (int i = 0; i < faults.crashes(); i++) {
            world.after(world.random.nextInt((int) micros), () -> crash(world));
        }
        for (int i = 0; i < faults.cuts(); i++) {
            world.after(world.random.nextInt((int) micros), () -> cut(world));
        }
        for (int i = 0; i < faults.elections(); i++) {
            world.after(world.random.nextInt((int) micros), world.order()::elect);
        }
        for (int i = 0; i < faults.powerLosses(); i++) {
            world.after(world.random.nextInt((int) micros), () -> losePower(world));
        }
        for (int i = 0; i < faults.departures(); i++) {
            world.after(world.random.nextInt((int) micros), () -> depart(world));
        }
        for (int i = 0; i < faults.recoveries(); i++) {
            world.after(world.random.nextInt((int) micros), () -> recover(world));
        }
        if (world.asking != null) {
            world.after(world.asking.nextInt((int) micros), () -> holdUp(world));
        }
        for (int i = 0; i < nodes && world.strangers != null; i++) {
            Node node = world.nodes().get(i);
            world.after(world.strangers.nextInt((int) micros), () -> strangerComes(node));
        }
        new Reading(world, seed);
        if (world.dispute != null) {
            world.dispute.begin(micros);
        }
        world.run(micros, EVENTS_MAX);
        world.writing = false;
        for (long until = micros; !world.isSettled(); ) {
            until += 20_000;
            if (until > micros + SETTLE_MICROS || world.eventCount() > EVENTS_MAX) {
                throw new Violation("not settled: " + world.nodes());
            }
            world.order().heal();
            world.run(until, EVENTS_MAX);
            world.nodes().forEach(node -> node.link().requireAnswers(micros));
        }
        if (world.isStuck()) {
            world.statistics.stuck++;
            return;
        }
        world.nodes().forEach(Node::check);
        world.requireEqual();
    }

    private boolean isCertified(int client) {
        return mode == Mode.CERTIFIED || (mode == Mode.MIXED && client % 2 == 0);
    }

    private static void crash(World world) {
        Node node = world.nodes().get(world.random.nextInt(world.nodes().size()));
        long away = 1000L + world.random.nextInt(40_000);
        boolean alone = world.random.nextInt(3) == 0;
        if (!alone && node.isServing()) {
            node.crashService();
            world.after(away, node::startService);
        }
        if (world.random.nextInt(3) == 0 && node.databaseUp) {
            node.crashDatabase();
            world.after(away / 2, () -> node.databaseUp = true);
            if (alone) {
                // The service has gone on without it, and remembers more than the database when it starts anew.
                world.after(away / 2, () -> restart(world, node));
            }
        }
    }

    private static void restart(World world, Node node) {
        if (node.isServing()) {
            node.killService();
            world.after(1L + world.random.nextInt(1000), node::startService);
        }
    }

    /** Power fails at one node, for its server alone or for its service too. */
    private static void losePower(World world) {
        Node node = world.nodes().get(world.random.nextInt(world.nodes().size()));
        // What can't be repaired takes a copy of another server, so there must be one.
        if (node.databaseUp && world.order().canSpare(node)) {
            if (world.random.nextBoolean() && node.isServing()) {
                node.crashService();
                world.after(1000L + world.random.nextInt(20_000), node::startService);
            }
            node.losePower();
            world.after(1000L + world.random.nextInt(20_000), () -> node.databaseUp = true);
        }
    }

    /** A server doesn't answer its capture for a while. */
    private static void holdUp(World world) {
        Session session = world.nodes()
                .get(world.asking.nextInt(world.nodes().size()))
                .link()
                .session();
        if (session != null) {
            session.captureWaits(world.asking.nextInt(3 * (int) world.answerMicrosMax()));
        }
    }

    private void strangerComes(Node node) {
        if (node.databaseUp) {
            node.world.trace(node.name() + " has another semi-sync replica");
            node.database().commits().strangerComes(node.world.strangers.nextInt((int) micros));
        }
    }

    /** A node loses its directory, or is taken out; soon after another one may be gone for a while. */
    private static void depart(World world) {
        Node node = world.nodes().get(world.random.nextInt(world.nodes().size()));
        if (world.random.nextBoolean()) {
            node.loseDirectory();
        } else {
            node.leave();
        }
        if (world.random.nextBoolean()) {
            cut(world);
        }
    }

    /** One that was in a minority, often. */
    private static void recover(World world) {
        List<Node> survivors = world.nodes().stream()
                .filter(n -> n.isServing() && world.order().members().contains(n.replica()) && n.canGoOn())
                .toList();
        if (!survivors.isEmpty()) {
            world.recover(survivors.get(world.random.nextInt(survivors.size())));
        }
    }

    private static void cut(World world) {
        Node node = world.nodes().get(world.random.nextInt(world.nodes().size()));
        node.cutOff = true;
        world.trace("n" + node.number + " is cut off");
        world.after(1000L + world.random.nextInt(40_000), () -> {
            node.cutOff = false;
            node.wake();
        });
    }

    private static void delete(Path directory) {
        if (directory == null) {
            return;
        }
        try (Stream<Path> all = Files.walk(directory)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
