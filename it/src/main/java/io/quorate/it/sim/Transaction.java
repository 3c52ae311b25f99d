// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/** An open transaction of a {@link Database}; what isn't private is the database's to change. */
final class Transaction {
    final boolean client;
    final Deque<Change> done = new ArrayDeque<>();
    final List<Change> changes = new ArrayList<>();
    final Set<Long> locks = new LinkedHashSet<>();
    boolean open = true;
    long prepared;
    /** The number of its client's connection. */
    long session;
    /** The table that it defines, which nobody else uses until it is committed. */
    Table defines;
    /** Its GTID number once its commit is in the binlog, where it can't be taken back any more. */
    long committing;

    private long sinceMicros;
    /** Whom it is said whether it is committed; null when there is nobody any more. */
    private Consumer<Boolean> waiter;

    Transaction(boolean client) {
        this.client = client;
    }

    boolean isOpen() {
        return open;
    }

    boolean isEmpty() {
        return changes.isEmpty();
    }

    /** Whether it does nothing but keep clients from a table whose definition the applier is about to run. */
    boolean isLock() {
        return !client && defines != null;
    }

    /** A client begins it on its connection. */
    void on(long connection) {
        session = connection;
    }

    /** The client is told what becomes of its commit. */
    void tells(Consumer<Boolean> client) {
        waiter = client;
    }

    void entersCommit(long number, long micros) {
        committing = number;
        sinceMicros = micros;
    }

    /** Its GTID number, once its commit waits; 0 before. */
    long number() {
        return committing;
    }

    /** Whether it is in the binlog, and waits. */
    boolean isInCommit() {
        return open && committing > 0;
    }

    /** Since when somebody waits for OK; -1 when nobody does. */
    long waitsSince() {
        return isInCommit() && waiter != null ? sinceMicros : -1;
    }

    /** The first answer counts. */
    void answer(boolean ok) {
        Consumer<Boolean> told = waiter;
        waiter = null;
        if (told != null) {
            told.accept(ok);
        }
    }

    /** Its GTID number once it is prepared, 0 before. */
    long prepared() {
        return prepared;
    }
}
