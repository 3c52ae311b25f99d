// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;

/**
 * One writer of the demo: inserts, updates and deletes rows of its own, in transactions of one to seven rows, in tables
 * that it shares with all other writers.
 */
final class DemoWriter implements Runnable {
    /** How many rows of one kind a writer keeps track of; beyond that it deletes rather than inserts. */
    private static final int OWN_MAX = 2_000;

    /**
     * ER_LOCK_WAIT_TIMEOUT, ER_LOCK_DEADLOCK: a client repeats the transaction; the applier's transactions hold locks
     * too.
     */
    private static final List<Integer> RETRIED = List.of(1205, 1213);

    /** A purchase with its number of items. */
    private record Purchase(long id, int lines) {}

    private final MySqlServer server;
    private final String name;
    private final Random random;
    private final AtomicBoolean stop;
    private final LongAdder committed;
    private final LongAdder retried;
    private final List<Long> accounts = new ArrayList<>();
    private final List<Purchase> purchases = new ArrayList<>();
    private final List<byte[]> documents = new ArrayList<>();
    private long counter;
    private Connection connection;

    /** @param name different for every writer */
    DemoWriter(MySqlServer server, String name, long seed, AtomicBoolean stop, LongAdder committed, LongAdder retried) {
        this.server = server;
        this.name = name;
        this.random = new Random(seed);
        this.stop = stop;
        this.committed = committed;
        this.retried = retried;
    }

    @Override
    public void run() {
        try (Connection own = server.connect(Accounts.APP_USER, Accounts.APP_PASSWORD, DemoSchema.NAME)) {
            connection = own;
            own.setAutoCommit(false);
            own.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
            insertAccount();
            while (!stop.get()) {
                once();
            }
        } catch (SQLException e) {
            throw new SandboxException("writer " + name + ": " + e.getMessage(), e);
        }
    }

    private void once() throws SQLException {
        try {
            int dice = random.nextInt(100);
            if (dice < 35) {
                insertPurchase();
            } else if (dice < 55) {
                pay();
            } else if (dice < 70) {
                deletePurchase();
            } else if (dice < 78) {
                insertAccount();
            } else if (dice < 92) {
                writeDocument();
            } else {
                deleteDocument();
            }
        } catch (SQLException e) {
            if (!RETRIED.contains(e.getErrorCode())) {
                throw e;
            }
            connection.rollback();
            retried.increment();
        }
    }

    private void commit() throws SQLException {
        connection.commit();
        committed.increment();
    }

    private long insert(String sql, Object... values) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql, Statement.RETURN_GENERATED_KEYS)) {
            bind(statement, values).executeUpdate();
            try (ResultSet key = statement.getGeneratedKeys()) {
                return key.next() ? key.getLong(1) : 0;
            }
        }
    }

    private void update(String sql, Object... values) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            if (bind(statement, values).executeUpdate() != 1) {
                throw new SandboxException("writer " + name + " did not find a row of its own: " + statement);
            }
        }
    }

    private static PreparedStatement bind(PreparedStatement statement, Object... values) throws SQLException {
        for (int i = 0; i < values.length; i++) {
            statement.setObject(i + 1, values[i]);
        }
        return statement;
    }

    private void insertAccount() throws SQLException {
        long id = insert(
                "INSERT INTO account (owner, email, balance) VALUES (?, ?, ?)",
                "Zoë Müller " + random.nextInt(500),
                name + "." + counter++ + "@example.org",
                random.nextInt(100_000) / 100.0);
        commit();
        remember(accounts, id);
    }

    private void insertPurchase() throws SQLException {
        if (purchases.size() >= OWN_MAX) {
            deletePurchase();
            return;
        }
        long account = accounts.get(random.nextInt(accounts.size()));
        long id = insert(
                "INSERT INTO purchase (account, status, placed, note, labels) VALUES (?, 'new', NOW(3), ?, ?)",
                account,
                random.nextInt(3) == 0 ? null : "left at the door \u2014 " + counter++,
                random.nextBoolean() ? "gift,fragile" : "express");
        int lines = 1 + random.nextInt(5);
        for (int line = 1; line <= lines; line++) {
            insert(
                    "INSERT INTO item VALUES (?, ?, ?, ?, ?, ?)",
                    id,
                    line,
                    "P" + random.nextInt(5_000),
                    1 + random.nextInt(9),
                    random.nextDouble() * 100,
                    "{\"colour\": \"blue\", \"size\": " + random.nextInt(60) + "}");
        }
        update("UPDATE account SET balance = balance - ? WHERE id = ?", lines, account);
        commit();
        purchases.add(new Purchase(id, lines));
    }

    private void pay() throws SQLException {
        if (purchases.isEmpty()) {
            return;
        }
        Purchase purchase = purchases.get(random.nextInt(purchases.size()));
        update(
                "UPDATE purchase SET status = ELT(1 + status MOD 4, 'paid', 'sent', 'returned', 'new'),"
                        + " note = CONCAT('step ', ?) WHERE id = ?",
                counter++,
                purchase.id());
        update("UPDATE item SET pieces = pieces + 1 WHERE purchase = ? AND line = 1", purchase.id());
        commit();
    }

    private void deletePurchase() throws SQLException {
        if (purchases.isEmpty()) {
            return;
        }
        int index = random.nextInt(purchases.size());
        Purchase purchase = purchases.get(index);
        for (int line = 1; line <= purchase.lines(); line++) {
            update("DELETE FROM item WHERE purchase = ? AND line = ?", purchase.id(), line);
        }
        update("DELETE FROM purchase WHERE id = ?", purchase.id());
        commit();
        purchases.remove(index);
    }

    private void writeDocument() throws SQLException {
        if (!documents.isEmpty() && (documents.size() >= OWN_MAX || random.nextBoolean())) {
            byte[] id = documents.get(random.nextInt(documents.size()));
            update("UPDATE document SET score = ?, body = ? WHERE id = ?", counter++ / 7.0, body(), id);
            commit();
            return;
        }
        byte[] id = ByteBuffer.allocate(16)
                .putLong(name.hashCode())
                .putLong(counter++)
                .array();
        insert(
                "INSERT INTO document (id, title, day, duration, score, body) VALUES (?, ?, ?, ?, ?, ?)",
                id,
                "caf\u00e9 " + name,
                "20" + (10 + random.nextInt(20)) + "-02-28",
                "-" + random.nextInt(800) + ":59:59.25",
                null,
                body());
        commit();
        documents.add(id);
    }

    private byte[] body() {
        byte[] body = new byte[random.nextInt(400)];
        random.nextBytes(body);
        return body.length == 0 ? "empty".getBytes(StandardCharsets.US_ASCII) : body;
    }

    private void deleteDocument() throws SQLException {
        if (documents.isEmpty()) {
            return;
        }
        int index = random.nextInt(documents.size());
        update("DELETE FROM document WHERE id = ?", (Object) documents.get(index));
        commit();
        documents.remove(index);
    }

    private void remember(List<Long> ids, long id) {
        if (ids.size() < OWN_MAX) {
            ids.add(id);
        } else {
            ids.set(random.nextInt(OWN_MAX), id);
        }
    }
}
