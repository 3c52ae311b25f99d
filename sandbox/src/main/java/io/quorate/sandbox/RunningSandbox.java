// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import io.quorate.cli.LocalNodes;
import java.nio.file.Path;
import java.util.List;

/** The sandbox's nodes, for operators' commands when the user names none. */
final class RunningSandbox implements LocalNodes {
    @Override
    public List<String> running(Path directory) {
        List<String> running = Sandbox.open(CacheDirectory.sandbox(directory), line -> {}).nodes().stream()
                .filter(SandboxNode::isServiceAlive)
                .map(node -> node.host() + ":" + node.ports().http())
                .toList();
        if (running.isEmpty()) {
            throw new SandboxException("no node of the sandbox runs; start it, or name a node with --http");
        }
        return running;
    }
}
