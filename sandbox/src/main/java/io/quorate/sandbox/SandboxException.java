// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

/** Something on this machine kept a server or a local cluster from running. The message says what, and the way out. */
public final class SandboxException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public SandboxException(String message) {
        super(message);
    }

    public SandboxException(String message, Throwable cause) {
        super(message, cause);
    }
}
