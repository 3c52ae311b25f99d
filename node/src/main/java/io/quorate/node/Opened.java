// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import java.util.ArrayDeque;
import java.util.Deque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The parts that were opened; closes them in reverse order. If one can't be closed, the others are closed all the same.
 */
final class Opened implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Opened.class);

    private final Deque<AutoCloseable> parts = new ArrayDeque<>();

    /** Makes this object responsible for closing {@code part}. */
    synchronized <T extends AutoCloseable> T add(T part) {
        parts.push(part);
        return part;
    }

    @Override
    public synchronized void close() {
        while (!parts.isEmpty()) {
            try {
                parts.pop().close();
            } catch (Exception e) {
                log.warn("while the node ends: {}", e.toString());
            }
        }
    }
}
