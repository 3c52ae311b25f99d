// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import io.quorate.cli.AskedNode;
import io.quorate.cli.CommandException;
import io.quorate.cli.Membership;
import io.quorate.cli.NodeJar;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * A local cluster in one directory: N nodes on loopback, or at a {@link Place}, each a mysqld and a service. Its
 * processes go on when this program ends; an object that is made later for the same directory is the same cluster.
 *
 * <p>Commands that change it exclude each other, also between programs; {@link #kill} and {@link #status} may be called
 * at any time.
 */
public final class Sandbox {
    /** The parts of a node that can be killed. */
    public enum Part {
        SERVICE,
        MYSQLD,
        BOTH
    }

    /** Records the program that a cluster ends with. */
    private static final String OWNER = "owner";

    private final Path directory;
    private final SandboxSettings settings;
    private final List<SandboxNode> nodes;
    private final Consumer<String> progress;

    private Sandbox(Path directory, SandboxSettings settings, Consumer<String> progress) {
        this.directory = directory;
        this.settings = settings;
        this.progress = progress;
        this.nodes = settings.numbers().stream()
                .map(i -> new SandboxNode(settings, i, directory.resolve(NodeConfiguration.name(i))))
                .toList();
    }

    /**
     * Makes a new sandbox, without starting it.
     *
     * @param directory absent or empty; it stays so when another program uses one of the ports
     * @param set as in {@link SandboxSettings}
     * @param progress is told, a line each, what is being done
     */
    public static Sandbox create(
            Path directory, int nodes, int basePort, Map<String, String> set, Consumer<String> progress) {
        return create(directory, nodes, Set.of(), basePort, set, List.of(), MySqlSeries.any(), progress);
    }

    /**
     * Like {@link #create(Path, int, int, Map, Consumer)}, with nodes that have no server, or are elsewhere than on
     * loopback.
     *
     * @param arbitrators numbers of those without a server
     * @param places one for each node; none: all on loopback
     * @param mysql of which series the servers are
     */
    public static Sandbox create(
            Path directory,
            int nodes,
            Set<Integer> arbitrators,
            int basePort,
            Map<String, String> set,
            List<Place> places,
            MySqlSeries mysql,
            Consumer<String> progress) {
        Path absolute = directory.toAbsolutePath().normalize();
        String cluster =
                "sandbox-" + Integer.toHexString(ThreadLocalRandom.current().nextInt(0x100000, 0x1000000));
        SandboxSettings settings =
                new SandboxSettings(cluster, nodes, Set.of(), arbitrators, basePort, set, places, mysql);
        try {
            PrivateFiles.createDirectory(absolute);
            try (Stream<Path> content = Files.list(absolute)) {
                if (content.findAny().isPresent()) {
                    throw new SandboxException(absolute + " is not empty and has no sandbox in it; name another --dir");
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot make " + absolute, e);
        }
        Sandbox sandbox = new Sandbox(absolute, settings, progress);
        new PortCheck(sandbox.nodes).requireFree();
        settings.write(absolute);
        return sandbox;
    }

    /** Opens the sandbox in that directory. */
    public static Sandbox open(Path directory, Consumer<String> progress) {
        Path absolute = directory.toAbsolutePath().normalize();
        if (!SandboxSettings.existIn(absolute)) {
            throw new SandboxException(
                    "there is no sandbox in " + absolute + "; start one with: quorate sandbox start");
        }
        return new Sandbox(absolute, SandboxSettings.read(absolute), progress);
    }

    public static boolean existsIn(Path directory) {
        return SandboxSettings.existIn(directory);
    }

    /** The same sandbox with settings added or replaced; only while nothing of it runs. */
    public Sandbox with(Map<String, String> set) {
        if (nodes.stream().anyMatch(Sandbox::runs)) {
            throw new SandboxException("the sandbox runs; stop it before changing its settings with --set");
        }
        SandboxSettings changed = settings.with(set);
        changed.write(directory);
        return new Sandbox(directory, changed, progress);
    }

    public Path directory() {
        return directory;
    }

    public SandboxSettings settings() {
        return settings;
    }

    public List<SandboxNode> nodes() {
        return nodes;
    }

    /** The node named {@code n2}, or just {@code 2}. */
    public SandboxNode node(String name) {
        return nodes.stream()
                .filter(node -> node.name().equals(name)
                        || Integer.toString(node.number()).equals(name))
                .findFirst()
                .orElseThrow(() -> SandboxException.usage("there is no node " + name + ", only "
                        + String.join(
                                ", ", nodes.stream().map(SandboxNode::name).toList())));
    }

    public SandboxStatus status() {
        return SandboxStatus.of(settings.cluster(), nodes);
    }

    /**
     * Starts what doesn't run, and returns when all nodes are SYNCED.
     *
     * @param limit for becoming SYNCED, after the processes are started
     * @throws SandboxException when that fails; what this call started is stopped again, the logs are kept
     */
    public void start(Duration limit) {
        exclusively(() -> {
            new PortCheck(nodes).requireFree();
            List<SandboxNode> mysqlDown =
                    nodes.stream().filter(SandboxNode::isServerDown).toList();
            List<SandboxNode> serviceDown =
                    nodes.stream().filter(node -> !node.isServiceAlive()).toList();
            OnExit undo = OnExit.run(() -> undoStart(serviceDown, mysqlDown));
            boolean done = false;
            try {
                bringUp(nodes);
                new Readiness(nodes, progress).awaitSynced(nodes, limit);
                done = true;
            } finally {
                undo.forget();
                if (!done) {
                    undoStart(serviceDown, mysqlDown);
                }
            }
        });
    }

    private static void undoStart(List<SandboxNode> services, List<SandboxNode> servers) {
        InParallel.run(services, node -> node.service().kill9());
        InParallel.run(servers, node -> node.mysql().kill9());
    }

    private void bringUp(List<SandboxNode> some) {
        List<SandboxNode> down = some.stream().filter(SandboxNode::isServerDown).toList();
        if (!down.isEmpty()) {
            // Reports what it downloads, here rather than in each node's thread.
            down.stream()
                    .map(node -> settings.mysql().of(node.number()))
                    .distinct()
                    .forEach(series -> MySqlDistribution.find(series, progress));
            progress.accept("starting mysqld of " + names(down));
            // The first makes the template that the others copy.
            InParallel.run(some, SandboxNode::startMySql);
        }
        List<SandboxNode> without =
                some.stream().filter(node -> !node.isServiceAlive()).toList();
        if (!without.isEmpty()) {
            List<String> program = new ServiceProgram(CacheDirectory.ofUser(), progress).arguments(NodeJar.find());
            NodeCertificates.make(
                    directory,
                    settings.cluster(),
                    without.stream().map(SandboxNode::name).toList());
            progress.accept("starting the service of " + names(without));
            InParallel.run(without, node -> node.service().start(program));
        }
    }

    /** What follows {@code java} and its options where a sandbox runs the service, prepared for fast starts. */
    public static List<String> serviceProgram() {
        return new ServiceProgram(CacheDirectory.ofUser(), line -> {}).arguments(NodeJar.find());
    }

    /** Stops everything normally, and keeps the data. */
    public void stop() {
        exclusively(this::stopAll);
    }

    /** Stops the service of a node normally; its server goes on. */
    public void stopService(SandboxNode node) {
        exclusively(() -> node.service().stop());
    }

    private void stopAll() {
        InParallel.run(nodes, SandboxNode::drain);
        InParallel.run(nodes, node -> node.service().stop());
        InParallel.run(nodes, node -> node.mysql().stop());
    }

    /** Ends all processes and deletes the directory. */
    public void destroy() {
        exclusively(this::killAll);
        try {
            CacheDirectory.deleteTree(directory);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot delete " + directory, e);
        }
    }

    /**
     * Ends all processes of the cluster when this program ends; after a SIGKILL, another program's {@link #endOrphans}
     * does.
     */
    public void endWithThisProgram() {
        try {
            OwnedProcess.recordThisProgram(directory.resolve(OWNER));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write to " + directory, e);
        }
        OnExit.run(this::killAll);
    }

    /**
     * Ends the running processes of those clusters directly below {@code parent} that were to end with a program that
     * is gone.
     */
    public static void endOrphans(Path parent, Consumer<String> progress) {
        if (!Files.isDirectory(parent)) {
            return;
        }
        try (Stream<Path> directories = Files.list(parent)) {
            for (Path each : directories.toList()) {
                Path owner = each.resolve(OWNER);
                if (Files.exists(owner) && OwnedProcess.recordedIn(owner).isEmpty() && existsIn(each)) {
                    Sandbox orphan = open(each, progress);
                    if (orphan.nodes.stream().anyMatch(Sandbox::runs)) {
                        progress.accept("ending the nodes in " + each + ", which a program that is gone left running");
                        orphan.killAll();
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot look through " + parent, e);
        }
    }

    /** SIGKILL for all processes of the cluster, the services first. */
    public void killAll() {
        InParallel.run(nodes, node -> node.service().kill9());
        InParallel.run(nodes, node -> node.mysql().kill9());
    }

    /** SIGKILL for a part of a node. Returns when it is gone; does nothing if it doesn't run. */
    public void kill(SandboxNode node, Part part) {
        if (part != Part.MYSQLD) {
            node.service().kill9();
        }
        if (part != Part.SERVICE) {
            node.mysql().kill9();
        }
    }

    /**
     * Starts what is down of a node, and returns when it is SYNCED; or, while too few nodes run for a majority, when
     * its service answers.
     *
     * @return whether it is SYNCED
     */
    public boolean restart(SandboxNode node, Duration limit) {
        boolean[] synced = new boolean[1];
        exclusively(() -> {
            new PortCheck(List.of(node)).requireFree();
            bringUp(List.of(node));
            Readiness readiness = new Readiness(nodes, progress);
            synced[0] = readiness.majorityRuns();
            if (synced[0]) {
                readiness.awaitSynced(List.of(node), limit);
            } else {
                readiness.awaitAnswer(node, limit);
            }
        });
        return synced[0];
    }

    /**
     * Puts a newer MySQL under a node, and returns when it is SYNCED. Where mysqld can upgrade the data directory, the
     * node keeps it; otherwise it begins with an empty server, in place of the former one, and gets a copy of another
     * node's.
     *
     * @param series such as {@code 9.7}
     * @return this sandbox with it
     * @throws SandboxException when that version is older than what the node runs, or the others can't do without it
     */
    public Sandbox upgrade(SandboxNode node, String series, Duration limit) {
        Sandbox[] upgraded = new Sandbox[1];
        exclusively(() -> {
            if (!node.hasServer()) {
                throw SandboxException.usage(node.name() + " is an arbitrator, without a server");
            }
            SandboxSettings changed = settings.with(node.number(), series);
            String from = node.mysql().distribution().version();
            String to = MySqlDistribution.find(series, progress).version();
            if (MySqlDistribution.compare(from, to) > 0) {
                throw new SandboxException(node.name() + " runs MySQL " + from + ", and doesn't go back to " + to
                        + "; to have that, remove the node and start another sandbox");
            }
            boolean inPlace = MySqlSeries.upgradesInPlace(from, to);
            requireOthersGoOn(node, inPlace);
            if (!inPlace) {
                Accounts.makeReadyFor(writable(node), to);
            }
            progress.accept("MySQL " + from + " of " + node.name() + " is being stopped");
            node.drain();
            node.service().stop();
            node.mysql().stop();
            if (!inPlace) {
                progress.accept("mysqld " + to + " can't upgrade the data of " + from + ": " + node.name()
                        + " begins with an empty server, and gets a copy of another node's");
                node.deleteData();
            }
            changed.write(directory);
            upgraded[0] = new Sandbox(directory, changed, progress);
            SandboxNode again = upgraded[0].node(node.name());
            upgraded[0].bringUp(List.of(again));
            new Readiness(upgraded[0].nodes, progress).awaitSynced(List.of(again), limit);
            progress.accept(node.name() + " runs MySQL " + to);
        });
        return upgraded[0];
    }

    /** Its data go only where another node has them, and they are a majority without it. */
    private void requireOthersGoOn(SandboxNode node, boolean inPlace) {
        List<SandboxNode> others = nodes.stream()
                .filter(other -> other != node)
                .filter(other -> other.report()
                        .filter(report -> report.state().equals("SYNCED") || !other.hasServer())
                        .isPresent())
                .toList();
        boolean someHasData = others.stream().anyMatch(SandboxNode::hasServer);
        if (!inPlace && (2 * others.size() <= nodes.size() || !someHasData)) {
            throw new SandboxException(node.name() + " needs a copy of another node's data, for which a majority of the"
                    + " nodes must be SYNCED without it; " + others.size() + " of " + nodes.size() + " are");
        }
    }

    private MySqlServer writable(SandboxNode without) {
        return nodes.stream()
                .filter(other -> other != without && other.hasServer())
                .filter(other -> other.report()
                        .filter(report -> report.state().equals("SYNCED"))
                        .isPresent())
                .findFirst()
                .orElseThrow(() -> new SandboxException("no other node is SYNCED"))
                .mysql();
    }

    private void admit(SandboxNode added) {
        SandboxNode member = nodes.stream()
                .filter(SandboxNode::isServiceAlive)
                .findFirst()
                .orElseThrow(() -> new SandboxException("no node runs that could take in another one"));
        Membership.admit(member.asked(), added.name());
    }

    /**
     * Adds a node, with an empty server or as an arbitrator, and returns when it is SYNCED.
     *
     * @return this sandbox with it
     * @throws SandboxException when it doesn't become SYNCED; the node exists then, and may be restarted or removed
     */
    public Sandbox add(boolean arbitrator, Duration limit) {
        Sandbox[] larger = new Sandbox[1];
        exclusively(() -> {
            SandboxSettings more = settings.withOneMore(arbitrator);
            more.write(directory);
            larger[0] = new Sandbox(directory, more, progress);
            Set<Integer> before = Set.copyOf(settings.numbers());
            List<SandboxNode> added = larger[0].nodes.stream()
                    .filter(node -> !before.contains(node.number()))
                    .toList();
            new PortCheck(added).requireFree();
            added.forEach(this::admit);
            larger[0].bringUp(added);
            new Readiness(larger[0].nodes, progress).awaitSynced(added, limit);
        });
        return larger[0];
    }

    /**
     * Takes a node out of the cluster, ends its processes and deletes its data.
     *
     * @return this sandbox without it
     * @throws CommandException when the others can't do without it; then nothing has changed
     */
    public Sandbox remove(SandboxNode node) {
        Sandbox[] smaller = new Sandbox[1];
        exclusively(() -> {
            leave(node);
            SandboxSettings fewer = settings.without(node.number());
            fewer.write(directory);
            node.service().kill9();
            node.mysql().kill9();
            try {
                CacheDirectory.deleteTree(directory.resolve(node.name()));
            } catch (IOException e) {
                throw new UncheckedIOException("cannot delete the data of " + node.name(), e);
            }
            smaller[0] = new Sandbox(directory, fewer, progress);
        });
        return smaller[0];
    }

    private void leave(SandboxNode node) {
        AskedNode by = nodes.stream()
                .filter(other -> other.number() != node.number() && other.isServiceAlive())
                .map(SandboxNode::asked)
                .findFirst()
                .orElseThrow(() -> new SandboxException("no other node runs; " + node.name() + " is all there is"));
        Membership.leave(by, node.name(), false);
        progress.accept(node.name() + " has left the cluster");
    }

    private void exclusively(Runnable work) {
        Path file = directory.resolve("sandbox.lock");
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            FileLock lock = channel.tryLock();
            if (lock == null) {
                throw new SandboxException(
                        "another command is at work on the sandbox in " + directory + "; wait for it");
            }
            work.run();
        } catch (OverlappingFileLockException e) {
            throw new SandboxException("another thread is at work on the sandbox in " + directory, e);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot use " + directory, e);
        }
    }

    private static boolean runs(SandboxNode node) {
        return node.mysql().isAlive() || node.isServiceAlive();
    }

    private static String names(List<SandboxNode> some) {
        List<String> names = new ArrayList<>();
        some.forEach(node -> names.add(node.name()));
        return String.join(", ", names);
    }
}
