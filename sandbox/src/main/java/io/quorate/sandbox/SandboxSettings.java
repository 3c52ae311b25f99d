// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * The settings of a local cluster, kept in its directory as {@code sandbox.json}. That file also marks the directory as
 * ours: nothing is ever deleted where it is missing.
 *
 * @param cluster the cluster's name
 * @param nodes the highest number of a node, 1 to 9
 * @param removed numbers up to there that are no nodes any more
 * @param arbitrators numbers of the nodes that have no server and only vote
 * @param basePort P; MySQL of node i listens on P+i, its HTTP endpoint on P+200+i, and so on (see {@link NodePorts})
 * @param set {@code quorate.key} (the service's configuration), {@code mysql.variable} (mysqld's options) and {@code
 *     logging.level...}, each with its value
 * @param places one for each node, or none when all are on loopback
 * @param mysql of which series the servers are
 */
public record SandboxSettings(
        String cluster,
        int nodes,
        Set<Integer> removed,
        Set<Integer> arbitrators,
        int basePort,
        Map<String, String> set,
        List<Place> places,
        MySqlSeries mysql) {
    static final String FILE = "sandbox.json";
    static final int NODES_MAX = 9;
    /** What a cluster that is started for a trial has unless it is set otherwise. */
    private static final Map<String, String> OF_TRIALS = Map.of("quorate.commit-mode", "after-sync");

    /** Settings that connect the parts of a node, and that a user may not change. */
    private static final Set<String> OWN = Set.of(
            "mysql.port",
            "mysql.socket",
            "mysql.datadir",
            "mysql.pid-file",
            "mysql.log-error",
            "mysql.server-id",
            "quorate.cluster",
            "quorate.node",
            "quorate.data-dir",
            "quorate.http.token-file",
            "quorate.http.probe-port",
            "quorate.mysql.host",
            "quorate.mysql.port",
            "quorate.mysql.user",
            "quorate.mysql.password");

    private static final JsonMapper JSON =
            JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

    public SandboxSettings {
        if (nodes < 1 || nodes > NODES_MAX) {
            throw SandboxException.usage("a sandbox has 1 to " + NODES_MAX + " nodes, not " + nodes);
        }
        if (basePort < 1024 || basePort + NodePorts.OFFSET_MAX > 65_535) {
            throw SandboxException.usage(
                    "the base port must be between 1024 and " + (65_535 - NodePorts.OFFSET_MAX) + ", not " + basePort);
        }
        removed = removed == null ? Set.of() : new TreeSet<>(removed);
        arbitrators = arbitrators == null ? Set.of() : new TreeSet<>(arbitrators);
        set = new TreeMap<>(set);
        set.keySet().forEach(SandboxSettings::requireSettable);
        places = places == null ? List.of() : List.copyOf(places);
        mysql = mysql == null ? MySqlSeries.any() : mysql;
        if (!places.isEmpty() && places.size() > nodes) {
            throw SandboxException.usage(places.size() + " places for " + nodes + " nodes");
        }
    }

    /** These settings, and beside them what a cluster for a trial has. */
    static Map<String, String> forTrial(Map<String, String> set) {
        Map<String, String> all = new LinkedHashMap<>(OF_TRIALS);
        all.putAll(set);
        return all;
    }

    /** With all nodes on loopback. */
    public SandboxSettings(String cluster, int nodes, int basePort, Map<String, String> set) {
        this(cluster, nodes, Set.of(), Set.of(), basePort, set, List.of(), MySqlSeries.any());
    }

    private static void requireSettable(String key) {
        if (!key.matches("(quorate|mysql|logging)\\.\\S+")) {
            throw SandboxException.usage(
                    "cannot set \"" + key + "\": a key starts with quorate. (the service) or mysql. (mysqld)");
        }
        if (OWN.contains(key.replace('_', '-'))) {
            throw SandboxException.usage("cannot set \"" + key + "\": the sandbox needs it for itself");
        }
    }

    static boolean existIn(Path directory) {
        return Files.isRegularFile(directory.resolve(FILE));
    }

    static SandboxSettings read(Path directory) {
        Path file = directory.resolve(FILE);
        try {
            return JSON.readValue(Files.readString(file), SandboxSettings.class);
        } catch (JacksonException e) {
            throw new SandboxException(file + " is damaged: " + e.getOriginalMessage(), e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void write(Path directory) {
        try {
            PrivateFiles.write(directory.resolve(FILE), JSON.writeValueAsString(this) + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** These settings with some keys added or replaced. */
    SandboxSettings with(Map<String, String> more) {
        Map<String, String> merged = new TreeMap<>(set);
        merged.putAll(more);
        return new SandboxSettings(cluster, nodes, removed, arbitrators, basePort, merged, places, mysql);
    }

    /** With a node's server of that series. */
    SandboxSettings with(int node, String series) {
        return new SandboxSettings(
                cluster, nodes, removed, arbitrators, basePort, set, places, mysql.with(node, series));
    }

    /** The place of a node, counted from 1; nodes added later are on loopback. */
    Place place(int node) {
        return node > places.size() ? Place.LOOPBACK : places.get(node - 1);
    }

    /** With one more node: the lowest number that is free. */
    SandboxSettings withOneMore(boolean arbitrator) {
        Set<Integer> left = new TreeSet<>(removed);
        int added = left.isEmpty() ? nodes + 1 : left.iterator().next();
        left.remove(added);
        Set<Integer> voters = new TreeSet<>(arbitrators);
        if (arbitrator) {
            voters.add(added);
        }
        return new SandboxSettings(cluster, Math.max(nodes, added), left, voters, basePort, set, places, mysql);
    }

    SandboxSettings without(int node) {
        Set<Integer> more = new TreeSet<>(removed);
        more.add(node);
        Set<Integer> voters = new TreeSet<>(arbitrators);
        voters.remove(node);
        return new SandboxSettings(cluster, nodes, more, voters, basePort, set, places, mysql.without(node));
    }

    /** The numbers of the nodes. */
    List<Integer> numbers() {
        return IntStream.rangeClosed(1, nodes)
                .filter(i -> !removed.contains(i))
                .boxed()
                .toList();
    }

    /** The settings of one kind, without their prefix. */
    Map<String, String> ofKind(String prefix) {
        Map<String, String> some = new TreeMap<>();
        set.forEach((key, value) -> {
            if (key.startsWith(prefix)) {
                some.put(key.substring(prefix.length()), value);
            }
        });
        return some;
    }
}
