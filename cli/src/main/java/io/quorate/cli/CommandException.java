// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

/**
 * A command could not be carried out, for a reason that its user can act upon. The message says what failed, and the
 * way out.
 */
public class CommandException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final boolean usage;

    public CommandException(String message) {
        this(message, null, false);
    }

    /** @param usage whether the request is impossible, whatever the state of the machine */
    protected CommandException(String message, Throwable cause, boolean usage) {
        super(message, cause);
        this.usage = usage;
    }

    /** Whether the request is impossible, whatever the state of the machine. */
    public boolean isUsage() {
        return usage;
    }
}
