// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.util.function.Predicate;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The password of the service's account at its MySQL server. It may be changed while the service runs: when the server
 * refuses it, it is read again from where it is kept, and tried once more if it is another one now. Any thread.
 */
public final class ServerPassword {
    private static final Logger log = LoggerFactory.getLogger(ServerPassword.class);

    /** ER_ACCESS_DENIED_ERROR. */
    public static final int ACCESS_DENIED = 1045;

    /** Connects with a password. */
    @FunctionalInterface
    public interface Login<T, E extends Exception> {
        T with(String password) throws E;
    }

    private final Supplier<String> source;
    private volatile String value;

    /** @param source where it is kept; asked now, and whenever a server refuses what it said */
    public ServerPassword(Supplier<String> source) {
        this.source = source;
        this.value = source.get();
    }

    /** One that never changes. */
    public static ServerPassword fixed(String password) {
        return new ServerPassword(() -> password);
    }

    /** As it was read last. */
    public String value() {
        return value;
    }

    /**
     * Connects, a second time if the password turns out to be another one now.
     *
     * @param denied whether a failure means that the server refused the password ({@link #ACCESS_DENIED})
     * @throws E when that fails, also when the server takes neither
     */
    public <T, E extends Exception> T login(Login<T, E> login, Predicate<Exception> denied) throws E {
        String tried = value;
        try {
            return login.with(tried);
        } catch (Exception e) {
            if (!denied.test(e) || isSame(tried, e)) {
                throw e;
            }
        }
        return login.with(value);
    }

    private boolean isSame(String refused, Exception e) {
        try {
            value = source.get();
        } catch (QuorateException unreadable) {
            e.addSuppressed(unreadable);
            return true;
        }
        boolean same = value.equals(refused);
        if (!same) {
            log.info("the server refused the password of the service's account; it was read again and is another one");
        }
        return same;
    }

    /** Without the password. */
    @Override
    public String toString() {
        return "password";
    }
}
