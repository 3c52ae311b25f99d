// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import io.quorate.core.TotalOrder;
import io.quorate.transport.TransportSettings.Peer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;

/** A cluster in this JVM, on loopback. */
final class Nodes implements AutoCloseable {
    private static final int PORTS_EACH = 2000;
    private static final int PORTS = 10_000 + PORTS_EACH * Integer.getInteger("quorate.fork", 1);
    private static int lastPort = (int) (ProcessHandle.current().pid() % PORTS_EACH);

    /** Far more than anything takes; the machine may be busy with much else. */
    private static final Duration LIMIT = Duration.ofMinutes(3);

    private final Path directory;
    private final UnaryOperator<TransportSettings> tuning;
    private final List<Peer> peers = new ArrayList<>();
    private final Map<String, RatisTotalOrder> running = new LinkedHashMap<>();
    private final Map<String, Peer> joined = new LinkedHashMap<>();
    private final Map<String, Recorder> recorders = new LinkedHashMap<>();

    Nodes(Path directory, int count, UnaryOperator<TransportSettings> tuning) {
        this.directory = directory;
        this.tuning = tuning;
        List<Integer> ports = freePorts(2 * count);
        for (int i = 0; i < count; i++) {
            peers.add(new Peer("n" + (i + 1), "127.0.0.1", ports.get(2 * i), ports.get(2 * i + 1)));
            recorders.put("n" + (i + 1), new Recorder());
        }
    }

    static Nodes of(Path directory, int count) {
        return new Nodes(directory, count, s -> s.withTimeouts(Duration.ofMillis(300), Duration.ofMillis(600)));
    }

    /**
     * Ports that nobody has now and no system gives out by itself: those would be taken by a test beside this one
     * before they are used. Each process that runs tests has some of its own.
     */
    static synchronized List<Integer> freePorts(int count) {
        List<Integer> ports = new ArrayList<>();
        while (ports.size() < count) {
            int port = PORTS + lastPort++ % PORTS_EACH;
            try (ServerSocket free = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                ports.add(free.getLocalPort());
            } catch (IOException e) {
                // Somebody's. The next one.
            }
        }
        return ports;
    }

    static void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + LIMIT.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("not within " + LIMIT + ": " + what);
            }
            pause(20);
        }
    }

    static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    List<Peer> peers() {
        return peers;
    }

    List<String> names() {
        return peers.stream().map(Peer::name).toList();
    }

    TransportSettings settings(String name) {
        List<Peer> initial =
                peers.stream().anyMatch(peer -> peer.name().equals(name)) ? peers : List.of(joined.get(name));
        return tuning.apply(TransportSettings.of("test", name, initial, directory.resolve(name)));
    }

    Nodes start() {
        names().forEach(this::start);
        return this;
    }

    RatisTotalOrder start(String name) {
        TransportSettings settings = settings(name);
        return start(name, settings.withPeers(settings.knownMembers(), false));
    }

    /** Starts a node that is to join, by itself or in place of another one of its name. */
    RatisTotalOrder startJoining(Peer joiner) {
        recorders.put(joiner.name(), new Recorder());
        joined.put(joiner.name(), joiner);
        TransportSettings settings = tuning.apply(
                TransportSettings.of("test", joiner.name(), List.of(joiner), directory.resolve(joiner.name())));
        List<Peer> known = new ArrayList<>(peers);
        known.removeIf(peer -> peer.name().equals(joiner.name()));
        known.add(joiner);
        return start(joiner.name(), settings.withPeers(known, true));
    }

    private RatisTotalOrder start(String name, TransportSettings settings) {
        RatisTotalOrder node = RatisTotalOrder.start(settings, recorders.get(name));
        running.put(name, node);
        return node;
    }

    void stop(String name) {
        running.remove(name).close();
    }

    RatisTotalOrder node(String name) {
        return running.get(name);
    }

    List<String> runningNames() {
        return List.copyOf(running.keySet());
    }

    Recorder recorder(String name) {
        return recorders.get(name);
    }

    /** Waits for all running nodes to be primary under one leader. */
    String awaitLeader() {
        await("one leader, known to all", () -> {
            List<TotalOrder.Quorum> seen =
                    running.values().stream().map(RatisTotalOrder::quorum).toList();
            return seen.stream()
                    .allMatch(q -> q.primary() && q.leader().equals(seen.get(0).leader()));
        });
        return running.values().iterator().next().quorum().leader();
    }

    /** Who leads now by the word of any that knows, the first one when none does. */
    String runningLeader() {
        return running.values().stream()
                .map(node -> node.quorum().leader())
                .filter(leader -> leader != null && running.containsKey(leader))
                .findFirst()
                .orElse(running.keySet().iterator().next());
    }

    String awaitFollower() {
        String leader = awaitLeader();
        return runningNames().stream()
                .filter(n -> !n.equals(leader))
                .findFirst()
                .orElseThrow();
    }

    /** Submits until the node has been handed the entry, as a real submitter does. */
    void submitSurely(String name, String entry) {
        submitSurely(name, entry.getBytes(StandardCharsets.UTF_8), entry);
    }

    void submitSurely(String name, byte[] entry, String rememberedAs) {
        for (int attempt = 0; !recorder(name).has(rememberedAs); attempt++) {
            if (attempt > 600) {
                throw new AssertionError("never ordered: " + rememberedAs);
            }
            try {
                node(name).submit(entry).get(20, TimeUnit.SECONDS);
                await(rememberedAs + " at " + name, () -> recorder(name).has(rememberedAs));
            } catch (ExecutionException | TimeoutException e) {
                pause(50);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(e);
            }
        }
    }

    /**
     * Asks a leader for a member until it is one, as a real joiner does: a leader gives up on one that comes slowly.
     */
    void addSurely(String leader, Peer joiner) {
        for (int attempt = 0; !node(leader).members().contains(joiner); attempt++) {
            if (attempt > 20) {
                throw new AssertionError("never made a member: " + joiner);
            }
            try {
                node(leader).add(joiner).get(60, TimeUnit.SECONDS);
            } catch (ExecutionException | TimeoutException e) {
                pause(500);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(e);
            }
        }
    }

    void awaitEverywhere(String entry) {
        for (String name : runningNames()) {
            await(entry + " at " + name, () -> recorder(name).has(entry));
        }
    }

    @Override
    public void close() {
        // At once, since Ratis takes its time to let go of its threads.
        running.values().parallelStream().forEach(RatisTotalOrder::close);
        running.clear();
    }
}
