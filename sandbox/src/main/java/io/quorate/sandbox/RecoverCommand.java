// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code quorate recover}. */
@Command(
        name = "recover",
        description = "When a majority is lost for good: what would be lost with it, and going on without it.",
        mixinStandardHelpOptions = true)
final class RecoverCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Mixin
    private NodeAddress node;

    @Option(
            names = "--force-primary",
            description =
                    "has this node go on alone, in a new life of the cluster; the others are shut out until they have"
                            + " taken that over")
    private boolean force;

    @Option(names = "--yes", description = "doesn't ask")
    private boolean yes;

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        String address = furthest();
        String body = node.ask(address, "/actuator/recovery");
        if (node.json()) {
            out.println(body);
        } else {
            print(out, JsonMapper.shared().readTree(body));
        }
        if (!force) {
            return 0;
        }
        String cluster = JsonMapper.shared().readTree(body).path("cluster").asString();
        if (!yes && !isConfirmed(out, cluster)) {
            out.println("nothing was changed");
            return 1;
        }
        NodeAddress.post(address, "/actuator/recovery", Map.of("action", "force", "cluster", cluster));
        out.println("done; nodes that come back take over what this one holds, or say why they can't");
        return 0;
    }

    /** Of the nodes asked, the one whose log goes furthest. */
    private String furthest() {
        List<String> all = new ArrayList<>(node.all());
        String best = all.get(0);
        long[] bestEnd = {-1, -1};
        for (String address : all) {
            String[] end = JsonMapper.shared()
                    .readTree(node.ask(address, "/actuator/recovery"))
                    .path("logEnd")
                    .asString()
                    .split(":", 2);
            long[] parsed = {Long.parseLong(end[0]), Long.parseLong(end[1])};
            if (parsed[0] > bestEnd[0] || (parsed[0] == bestEnd[0] && parsed[1] > bestEnd[1])) {
                best = address;
                bestEnd = parsed;
            }
        }
        return best;
    }

    private static void print(PrintWriter out, JsonNode r) {
        out.printf(
                "%s of cluster %s, in its life %s: %s%n",
                r.path("node").asString(),
                r.path("cluster").asString(),
                r.path("life").asString(),
                r.path("majority").asBoolean() ? "there is a majority, nothing has to be forced" : "no majority");
        out.printf(
                "It holds the order up to seqno %d%s. All of that stays.%n",
                r.path("ordered").asLong(),
                r.path("unconfirmedEntries").asLong() > 0
                        ? ", and " + r.path("unconfirmedEntries").asLong()
                                + " entries after it that no majority has confirmed to it"
                        : "");
        for (JsonNode m : r.path("missing")) {
            out.printf(
                    "%s is missing%s%n",
                    m.path("name").asString(),
                    m.path("ordered").isNumber()
                            ? ": heard " + m.path("heardSecondsAgo").asLong() + " s ago, at seqno "
                                    + m.path("ordered").asLong()
                            : ", and was not heard of since this node started");
        }
        for (JsonNode name : r.path("present")) {
            out.printf("%s is here, and joins by itself%n", name.asString());
        }
        long beyond = r.path("furthestHeard").asLong() - r.path("ordered").asLong();
        if (beyond > 0) {
            out.printf("LOST at least: %d writesets that a missing node had and this one lacks.%n", beyond);
        }
        if (!r.path("majority").asBoolean()) {
            out.println(
                    "LOST besides: whatever the missing nodes ordered or committed after they were heard last. That can't be"
                            + " told from here. If one of them can be started again, start it instead.");
        }
        out.flush();
    }

    private static boolean isConfirmed(PrintWriter out, String cluster) {
        out.printf("Type the cluster's name (%s) to go on without the missing nodes: ", cluster);
        out.flush();
        try {
            String answer = new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset())).readLine();
            return cluster.equals(answer == null ? null : answer.strip());
        } catch (IOException e) {
            return false;
        }
    }
}
