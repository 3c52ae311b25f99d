// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import java.nio.file.Path;
import java.util.List;

/** Knows the nodes on this machine, which are asked when the user names none. */
@FunctionalInterface
public interface LocalNodes {
    /**
     * The nodes that run.
     *
     * @param directory where their cluster is kept, null for the default
     * @return the HTTP addresses, {@code host:port} each, at least one
     * @throws CommandException when none runs
     */
    List<String> running(Path directory);
}
