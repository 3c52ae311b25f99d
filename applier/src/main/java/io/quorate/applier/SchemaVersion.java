// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts the DDL statements passed, so that each worker forgets what it knows of tables when it next starts a group.
 */
final class SchemaVersion {
    private final AtomicLong version = new AtomicLong();

    long current() {
        return version.get();
    }

    void changed() {
        version.incrementAndGet();
    }
}
