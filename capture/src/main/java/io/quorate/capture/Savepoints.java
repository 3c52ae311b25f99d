// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.ErrorCode;
import io.quorate.core.PayloadBuilder;
import io.quorate.core.QuorateException;
import java.util.ArrayDeque;
import java.util.Deque;

/** The savepoints of the transaction being read, and how much had been collected at each. */
final class Savepoints {
    private record Savepoint(String name, PayloadBuilder.Mark mark) {}

    private final Deque<Savepoint> latestFirst = new ArrayDeque<>();

    void set(String name, PayloadBuilder.Mark mark) {
        latestFirst.push(new Savepoint(name, mark));
    }

    /**
     * Forgets the savepoints after the latest one of that name, which stays; returns how much had been collected there.
     */
    PayloadBuilder.Mark back(String name) {
        while (!latestFirst.isEmpty()) {
            Savepoint savepoint = latestFirst.peek();
            if (savepoint.name.equalsIgnoreCase(name)) {
                return savepoint.mark;
            }
            latestFirst.pop();
        }
        throw new QuorateException(ErrorCode.UNSUPPORTED_EVENT, "ROLLBACK TO an unknown savepoint " + name);
    }

    void clear() {
        latestFirst.clear();
    }
}
