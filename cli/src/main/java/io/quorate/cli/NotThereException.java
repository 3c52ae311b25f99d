// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

/** A node answers, and has nothing under the path that it was asked for. */
final class NotThereException extends CommandException {
    private static final long serialVersionUID = 1L;

    NotThereException(String message) {
        super(message);
    }
}
