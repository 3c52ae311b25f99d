// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Knows the nodes on this machine, which are asked when the user names none. */
@FunctionalInterface
public interface LocalNodes {
    /**
     * The nodes that run.
     *
     * @param directory where their cluster is kept, null for the default
     * @return at least one
     * @throws CommandException when none runs
     */
    List<AskedNode> running(Path directory);

    /**
     * The node on this machine that the user has named, with its token; empty when it is another one.
     *
     * @param address {@code host:port}
     */
    default Optional<AskedNode> at(Path directory, String address) {
        return Optional.empty();
    }
}
