// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import io.quorate.cli.CommandException;

/** Something on this machine kept a server or a local cluster from running. The message says what, and the way out. */
public final class SandboxException extends CommandException {
    private static final long serialVersionUID = 1L;

    public SandboxException(String message) {
        this(message, null);
    }

    public SandboxException(String message, Throwable cause) {
        this(message, cause, false);
    }

    private SandboxException(String message, Throwable cause, boolean usage) {
        super(message, cause, usage);
    }

    /** The request is impossible, whatever the state of the machine. */
    static SandboxException usage(String message) {
        return new SandboxException(message, null, true);
    }
}
