// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.util.function.BooleanSupplier;

/**
 * File work that an interrupt must not break off. When a thread is interrupted, the {@link
 * java.nio.channels.FileChannel} it uses is closed, for all its users; so the work is done again with a new one, and
 * the interrupt is passed on afterwards.
 */
interface Uninterrupted {
    /** Opens its channel anew if that is closed; may be run again. */
    void work() throws IOException;

    static void run(Uninterrupted work) throws IOException {
        run(work, () -> false);
    }

    /** @param closed whether the channel was closed on purpose */
    static void run(Uninterrupted work, BooleanSupplier closed) throws IOException {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    work.work();
                    return;
                } catch (ClosedChannelException e) {
                    interrupted |= e instanceof ClosedByInterruptException && Thread.interrupted();
                    if (closed.getAsBoolean()) {
                        throw e;
                    }
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
