// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** The options of commands that ask a node. */
final class NodeAddress {
    @Option(
            names = "--http",
            scope = ScopeType.INHERIT,
            paramLabel = "HOST:PORT",
            description = "the node's HTTP address; by default the sandbox's")
    private String address;

    @Option(
            names = "--token-file",
            scope = ScopeType.INHERIT,
            paramLabel = "FILE",
            description = "has the token that the node wants; by default a node of the sandbox's own file, else what is"
                    + " in " + Credentials.VARIABLE)
    private Path tokenFile;

    @Option(
            names = "--dir",
            scope = ScopeType.INHERIT,
            paramLabel = "D",
            description = "where the sandbox is kept; by default in the user's cache")
    private Path dir;

    @Option(names = "-o", scope = ScopeType.INHERIT, paramLabel = "text|json", description = "text by default")
    private Output output = Output.TEXT;

    private final LocalNodes local;
    private final Map<String, String> environment;

    NodeAddress(LocalNodes local, Map<String, String> environment) {
        this.local = local;
        this.environment = environment;
    }

    boolean json() {
        return output == Output.JSON;
    }

    /** The node named; otherwise the running nodes on this machine. */
    List<AskedNode> all() {
        if (address != null) {
            return List.of(named());
        }
        List<AskedNode> running = local.running(dir);
        return tokenFile == null
                ? running
                : running.stream()
                        .map(node -> new AskedNode(node.address(), Credentials.in(tokenFile)))
                        .toList();
    }

    /**
     * What those of {@link #all} that answer say there, in their order; the others are left out.
     *
     * @throws UncheckedIOException when none answers, as is {@link CommandException}
     */
    <T> Map<AskedNode, T> answers(String path, Class<T> type) {
        Map<AskedNode, T> answers = new LinkedHashMap<>();
        RuntimeException first = null;
        for (AskedNode each : all()) {
            try {
                answers.put(each, Answers.read(each.askState(path), type));
            } catch (UncheckedIOException | CommandException e) {
                first = first == null ? e : first;
            }
        }
        if (answers.isEmpty() && first != null) {
            throw first;
        }
        return answers;
    }

    private AskedNode named() {
        return another(address);
    }

    /** Another node than those named, with what was said for these. */
    AskedNode another(String other) {
        if (tokenFile != null) {
            return new AskedNode(other, Credentials.in(tokenFile));
        }
        return local.at(dir, other).orElseGet(() -> new AskedNode(other, Credentials.of(environment)));
    }

    /** The first of them that answers; the very first when none does. */
    AskedNode first() {
        List<AskedNode> all = all();
        return all.size() == 1
                ? all.get(0)
                : all.stream().filter(NodeAddress::answers).findFirst().orElse(all.get(0));
    }

    /** Whether it is neither frozen nor starting. */
    private static boolean answers(AskedNode node) {
        try {
            node.askState("/actuator/cluster/self");
            return true;
        } catch (UncheckedIOException | CommandException e) {
            return false;
        }
    }

    /**
     * The one that is meant, for what nobody wants done to another one.
     *
     * @param purpose what is to happen to it, for the question which node
     */
    AskedNode only(String purpose) {
        List<AskedNode> hosts = all();
        if (hosts.size() != 1) {
            throw new CommandException("which node? Name the one that is to " + purpose + " with --http HOST:PORT");
        }
        return hosts.get(0);
    }
}
