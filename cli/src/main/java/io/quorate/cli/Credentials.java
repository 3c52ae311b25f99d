// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Where the token for a node comes from: a file, or a variable of the environment. Never an argument, which everybody
 * on the machine sees in the list of processes.
 */
final class Credentials {
    static final String VARIABLE = "QUORATE_TOKEN";

    static final Credentials NONE = new Credentials("none", () -> null);

    private final String from;
    private final Supplier<String> token;

    private Credentials(String from, Supplier<String> token) {
        this.from = from;
        this.token = token;
    }

    /** Those in a file that must be there. */
    static Credentials in(Path file) {
        return new Credentials("from " + file, () -> read(file));
    }

    /** Those in a file that may be made later. */
    static Credentials whenThere(Path file) {
        return new Credentials("from " + file, () -> Files.exists(file) ? read(file) : null);
    }

    /** Those in the environment, if there are any. */
    static Credentials of(Map<String, String> environment) {
        String token = environment.getOrDefault(VARIABLE, "").strip();
        return token.isEmpty() ? NONE : new Credentials("from " + VARIABLE, () -> token);
    }

    private static String read(Path file) {
        try {
            String token = Files.readString(file).strip();
            if (!token.matches("[\\x21-\\x7e]+")) {
                throw new CommandException(file + " has no token: one line of characters without blanks is needed");
            }
            return token;
        } catch (IOException e) {
            throw new CommandException("the token in " + file + " can't be read: " + e);
        }
    }

    /** Null when there is none. */
    String token() {
        return token.get();
    }

    /** Where it comes from; never what it is. */
    @Override
    public String toString() {
        return from;
    }
}
