// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.sandbox.Place;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * A network namespace for each node and one more for the router between them. What the router is told to drop vanishes
 * without a word to anybody, as in a broken switch, each direction by itself. The machine's own network gets one
 * interface and one route, so that the test can reach the nodes at any time; they go away with the namespaces.
 */
final class Network implements AutoCloseable {
    private static final long COMMAND_SECONDS = 20;
    /** The router's table for packets that are to be late. */
    private static final String LATE = "100";

    /** Every process has others, so that networks do not meet. */
    private final String name = "qr" + ProcessHandle.current().pid();

    private final String router = name + "-router";
    /** From the range for tests of devices, RFC 2544; sixteen addresses for each line, two of them used. */
    private final String prefix =
            "198.18." + Math.floorMod(ProcessHandle.current().pid(), 256) + ".";

    private final int nodes;
    private final List<List<String>> dropped = new ArrayList<>();

    private Network(int nodes) {
        this.nodes = nodes;
    }

    /** Whether this machine lets us have namespaces and their rules. */
    static boolean possible() {
        String trial = "qr" + ProcessHandle.current().pid() + "-trial";
        if (!succeeds("sh", "-c", "command -v ip >/dev/null") || !succeeds("ip", "netns", "add", trial)) {
            return false;
        }
        boolean rules = succeeds("ip", "-n", trial, "rule", "add", "from", "198.18.0.1", "blackhole");
        return succeeds("ip", "netns", "del", trial) && rules;
    }

    static Network make(int nodes) {
        Network network = new Network(nodes);
        boolean made = false;
        try {
            network.build();
            made = true;
            return network;
        } finally {
            if (!made) {
                network.close();
            }
        }
    }

    private void build() {
        run("ip", "netns", "add", router);
        run("nsenter", network(router), "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward");
        run("ip", "link", "add", name, "type", "veth", "peer", "name", "line0", "netns", router);
        run("ip", "addr", "add", address(0) + "/28", "dev", name);
        run("ip", "link", "set", name, "up");
        line(0);
        run("ip", "route", "add", prefix + "0/24", "via", gateway(0));
        for (int node = 1; node <= nodes; node++) {
            String space = space(node);
            run("ip", "netns", "add", space);
            run("ip", "-n", space, "link", "set", "lo", "up");
            run(
                    "ip",
                    "-n",
                    space,
                    "link",
                    "add",
                    "uplink",
                    "type",
                    "veth",
                    "peer",
                    "name",
                    "line" + node,
                    "netns",
                    router);
            run("ip", "-n", space, "addr", "add", address(node) + "/28", "dev", "uplink");
            run("ip", "-n", space, "link", "set", "uplink", "up");
            line(node);
            run("ip", "-n", space, "route", "add", prefix + "0/24", "via", gateway(node));
        }
    }

    /** The router's end of a line. */
    private void line(int number) {
        run("ip", "-n", router, "addr", "add", gateway(number) + "/28", "dev", "line" + number);
        run("ip", "-n", router, "link", "set", "line" + number, "up");
    }

    /**
     * The network that {@code nsenter} enters. Not {@code ip netns exec}, which also gives it a copy of all mounts:
     * what another test unmounts meanwhile would stay mounted there, and be the same again when it is mounted next.
     */
    private static String network(String space) {
        return "--net=/run/netns/" + space;
    }

    private String space(int node) {
        return name + "-n" + node;
    }

    /** Of a node, or of this program when 0. */
    String address(int node) {
        return prefix + (16 * node + 2);
    }

    private String gateway(int node) {
        return prefix + (16 * node + 1);
    }

    List<Place> places() {
        return IntStream.rangeClosed(1, nodes)
                .mapToObj(node -> new Place(address(node), List.of("nsenter", network(space(node)))))
                .toList();
    }

    /** From now on no packet of one node reaches the other; what the other sends still arrives. */
    void drop(int from, int to) {
        List<String> rule = List.of("from", address(from), "to", address(to), "blackhole");
        rule("add", rule);
        dropped.add(rule);
    }

    /** Nothing is dropped any more. */
    void heal() {
        dropped.forEach(rule -> rule("del", rule));
        dropped.clear();
    }

    /** From now on packets between nodes go through a program that can make them late. */
    Delay delay() throws IOException {
        Delay delay = Delay.start(List.of("nsenter", network(router)));
        run("ip", "-n", router, "link", "set", Delay.DEVICE, "up");
        run("ip", "-n", router, "route", "add", "default", "dev", Delay.DEVICE, "table", LATE);
        for (int node = 1; node <= nodes; node++) {
            for (int other = 1; other <= nodes; other++) {
                if (other != node) {
                    rule(
                            "add",
                            List.of("from", address(node), "to", address(other), "iif", "line" + node, "table", LATE));
                }
            }
        }
        return delay;
    }

    private void rule(String verb, List<String> rule) {
        List<String> command = new ArrayList<>(List.of("ip", "-n", router, "rule", verb));
        command.addAll(rule);
        run(command.toArray(new String[0]));
    }

    /** Removes it, after all processes in it have ended. */
    @Override
    public void close() {
        for (int node = 1; node <= nodes; node++) {
            succeeds("ip", "netns", "del", space(node));
        }
        // Takes our end of its line along, and with that the route.
        assertThat(succeeds("ip", "netns", "del", router)).isTrue();
    }

    private static void run(String... command) {
        assertThat(succeeds(command)).as(String.join(" ", command)).isTrue();
    }

    private static boolean succeeds(String... command) {
        try {
            Process process = new ProcessBuilder(command).inheritIO().start();
            return process.waitFor(COMMAND_SECONDS, TimeUnit.SECONDS) && process.exitValue() == 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
