// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import java.util.concurrent.atomic.LongAdder;

/** The counters from which {@link ApplierStats} is made. */
final class Counters {
    final LongAdder transactions = new LongAdder();
    final LongAdder groups = new LongAdder();
    final LongAdder skipped = new LongAdder();
    final LongAdder statements = new LongAdder();
    final LongAdder bytes = new LongAdder();
    final LongAdder ddl = new LongAdder();
    final LongAdder retries = new LongAdder();
    final LongAdder lockWaits = new LongAdder();
    final LongAdder yields = new LongAdder();
    final LongAdder blockersKilled = new LongAdder();
    final LongAdder readOnlyWaits = new LongAdder();
    final LongAdder captureWaits = new LongAdder();
    final LongAdder undone = new LongAdder();
    final LongAdder settled = new LongAdder();
    final LongAdder preparedRolledBack = new LongAdder();
    final LongAdder busyNanos = new LongAdder();
}
