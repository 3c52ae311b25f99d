// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import io.quorate.cli.AskedNode;
import io.quorate.cli.LocalNodes;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** The sandbox's nodes, for operators' commands when the user names none. */
final class RunningSandbox implements LocalNodes {
    @Override
    public List<AskedNode> running(Path directory) {
        List<AskedNode> running = open(directory).nodes().stream()
                .filter(SandboxNode::isServiceAlive)
                .map(SandboxNode::asked)
                .toList();
        if (running.isEmpty()) {
            throw new SandboxException("no node of the sandbox runs; start it, or name a node with --http");
        }
        return running;
    }

    @Override
    public Optional<AskedNode> at(Path directory, String address) {
        if (!Sandbox.existsIn(CacheDirectory.sandbox(directory))) {
            return Optional.empty();
        }
        String named = address.replaceFirst("^localhost:", Place.LOOPBACK_HOST + ":");
        return open(directory).nodes().stream()
                .map(SandboxNode::asked)
                .filter(node -> node.address().equals(named))
                .findFirst();
    }

    private static Sandbox open(Path directory) {
        return Sandbox.open(CacheDirectory.sandbox(directory), line -> {});
    }
}
