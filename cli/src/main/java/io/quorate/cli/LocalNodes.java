// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import java.nio.file.Path;
import java.util.List;

/** Knows the nodes on this machine, which are asked when none is named. */
@FunctionalInterface
public interface LocalNodes {
    /**
     * Those that run.
     *
     * @param directory where their cluster is kept, null for where it is by default
     * @return the HTTP addresses, {@code host:port} each, at least one
     * @throws CommandException when none runs
     */
    List<String> running(Path directory);
}
