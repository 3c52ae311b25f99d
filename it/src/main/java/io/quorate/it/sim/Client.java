// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.core.Certified;
import io.quorate.core.Gtid;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;

/**
 * A client of one node: transactions of a few statements, one after the other; gives up where it meets a lock. One that
 * is certified reads from a snapshot, as InnoDB gives it, while its changes go to the rows as they are by then.
 */
final class Client {
    private static final int OVER = -1;
    private static final int AWAITING = -2;

    private final Node node;
    private final World world;
    private final boolean definesTables;
    private final boolean certified;
    private Transaction transaction;
    private int left;
    private long fresh;
    private long snapshot;
    private Rows view;
    private List<Change> intended;
    private long life;
    private UUID server;
    /** The number of its connection, which it keeps as long as that lasts. */
    private long session;

    Client(Node node, int number, boolean definesTables, boolean certified) {
        this.node = node;
        this.world = node.world;
        this.definesTables = definesTables;
        this.certified = certified;
        this.fresh = 1000L * (1 + node.number) + 100_000L * number;
        think();
    }

    private void think() {
        world.after(200 + world.random.nextInt(4000), this::begin);
    }

    private void begin() {
        if (!world.writing) {
            return;
        }
        if (!node.isWritable() || (certified && node.applied() < 0)) {
            think();
            return;
        }
        if (definesTables && world.random.nextInt(25) == 0) {
            define();
            return;
        }
        transaction = node.database().begin(true);
        left = 1 + world.random.nextInt(4);
        snapshot = node.applied();
        life = node.life();
        server = node.uuid();
        connect(transaction);
        intended = new ArrayList<>();
        view = null;
        if (certified) {
            world.after(1 + world.random.nextInt(world.faults.stepMicrosMax()), this::read);
        } else {
            statement();
        }
    }

    /** The first statement takes the snapshot of the rows. */
    private void read() {
        if (transaction.isOpen()) {
            view = node.database().committed();
            if (world.mode == Mode.CERTIFIED) {
                node.check();
                world.decided.requireTotal(view, node);
            }
        }
        statement();
    }

    private void define() {
        Table table = world.random.nextBoolean() ? Table.LIST : Table.SCRAP;
        if (node.database().users(table).isEmpty()) {
            Transaction definition = node.database().begin(true);
            server = node.uuid();
            connect(definition);
            awaitsAnswer(definition);
            world.statistics.ddl++;
            world.trace("n" + node.number + " changes table " + table);
            node.database().ddlByClient(table, definition);
            node.committed();
            if (world.mode == Mode.AFTER_SYNC) {
                return;
            }
        }
        think();
    }

    /** Its connection is the same as before if that still lasts. */
    private void connect(Transaction t) {
        if (world.mode == Mode.AFTER_SYNC) {
            session = node.database().isConnected(session)
                    ? session
                    : node.database().connect();
            t.on(session);
        }
    }

    private void awaitsAnswer(Transaction t) {
        if (world.mode == Mode.AFTER_SYNC) {
            t.tells(ok -> {
                world.decided.answered(server, t.number(), ok);
                think();
            });
        }
    }

    private void statement() {
        if (!transaction.isOpen()) {
            // Killed, or the server went away.
            think();
            return;
        }
        boolean went = left > 0 ? change() : commit();
        if (!went) {
            node.database().rollback(transaction);
        }
        if (!went || left == OVER) {
            think();
        } else if (left >= 0) {
            world.after(1 + world.random.nextInt(world.faults.stepMicrosMax()), this::statement);
        }
    }

    private boolean commit() {
        left = OVER;
        if (!node.isWritable() || transaction.isEmpty()) {
            return false;
        }
        if (certified) {
            prepare();
            return true;
        }
        left = world.mode == Mode.AFTER_SYNC ? AWAITING : OVER;
        awaitsAnswer(transaction);
        node.database().commitClient(transaction);
        world.statistics.committed++;
        world.trace("n" + node.number + ":" + node.database().loggedNumber() + " commits "
                + node.database()
                        .binlog()
                        .get(node.database().binlog().size() - 1)
                        .changes());
        node.committed();
        return true;
    }

    private void prepare() {
        left = AWAITING;
        long begun = world.bugs.contains(Bug.SNAPSHOT_TAKEN_LATE) ? Math.max(snapshot, node.applied()) : snapshot;
        node.database().prepare(transaction, begun);
        long number = transaction.prepared();
        world.statistics.prepared++;
        world.decided.intends(new Gtid(node.uuid(), number), List.copyOf(intended));
        world.trace("n" + node.number + ":" + number + " prepares from snapshot " + begun + " " + intended);
        if (world.bugs.contains(Bug.COMMITTED_BEFORE_VERDICT)) {
            node.database().commitPrepared(number, 0);
        }
        node.committed();
        world.after(200, () -> await(number));
    }

    /** Until the node knows the verdict and has come to its place; who loses the connection never hears of it. */
    private void await(long number) {
        if (node.life() != life || !node.databaseUp || !server.equals(node.uuid())) {
            think();
            return;
        }
        Certified fate = world.decided.fate(node.uuid(), number);
        if (fate == null || node.applied() < fate.seqno()) {
            world.after(200, () -> await(number));
            return;
        }
        if (fate.passed()) {
            world.decided.acknowledge(node, number);
        }
        think();
    }

    private boolean change() {
        left--;
        if (world.dispute != null && world.dispute.random.nextInt(world.dispute.tagsShare(node)) == 0) {
            return tag(world.dispute.random);
        }
        return switch (world.random.nextInt(8)) {
            case 0, 1 -> transfer();
            case 2 -> token();
            case 3 -> append();
            case 4 -> child();
            case 5 -> parent();
            // Without a key it can't be repaired where servers lose their ends.
            default -> (world.faults.powerLosses() > 0 && world.random.nextInt(50) > 0) ? append() : scrap();
        };
    }

    private boolean put(Table table, Row before, Row after) {
        try {
            Change change = new Change(table, node.database().version(table), before, after);
            if (!node.database().change(transaction, change).isEmpty()) {
                return false;
            }
            if (certified) {
                view.apply(change);
                intended.add(change);
            }
            return true;
        } catch (Rows.Misfit e) {
            // A duplicate, say: the client gives up.
            return false;
        }
    }

    private Row any(Table table) {
        List<Row> rows = (certified ? view : node.database().rows()).all(table);
        return rows.isEmpty() ? null : rows.get(world.random.nextInt(rows.size()));
    }

    private boolean transfer() {
        Row from = any(Table.ACCOUNT);
        Row to = any(Table.ACCOUNT);
        long amount = 1L + world.random.nextInt(9);
        if (from.equals(to) || from.get(0).equals(to.get(0))) {
            return true;
        }
        return put(Table.ACCOUNT, from, from.with(1, from.get(1) - amount))
                && put(Table.ACCOUNT, to, to.with(1, to.get(1) + amount));
    }

    private boolean token() {
        Row account = any(Table.ACCOUNT);
        Long token = world.random.nextInt(4) == 0 ? null : (long) world.random.nextInt(6);
        return put(Table.ACCOUNT, account, account.with(2, token));
    }

    private boolean append() {
        Row list = any(Table.LIST);
        return put(Table.LIST, list, Row.of(list.get(0), list.get(1) + 1, list.get(2) * 31 + fresh++));
    }

    /** Of separate choices: whoever doesn't see the index must not trip over it more often than that rows lose. */
    private boolean tag(Random random) {
        List<Row> rows = (certified ? view : node.database().rows()).all(Table.TAG);
        Row row = rows.isEmpty() ? null : rows.get(random.nextInt(rows.size()));
        long tag = random.nextInt(8);
        if (world.dispute.keepsFromTags(node)) {
            return true;
        }
        if (row == null || random.nextInt(3) == 0) {
            long id = random.nextInt(5);
            return node.model().isTampered(Table.TAG, id) || put(Table.TAG, null, Row.of(id, tag));
        }
        return node.model().isTampered(Table.TAG, row.get(0))
                || put(Table.TAG, row, random.nextInt(3) == 0 ? null : row.with(1, tag));
    }

    private boolean child() {
        Row child = any(Table.CHILD);
        if (child != null && world.random.nextInt(3) == 0) {
            return put(Table.CHILD, child, null);
        }
        Row parent = any(Table.PARENT);
        if (child != null && parent != null && world.random.nextInt(3) == 0) {
            return put(Table.CHILD, child, child.with(1, parent.get(0)));
        }
        return parent == null || put(Table.CHILD, null, Row.of((long) world.random.nextInt(8), parent.get(0)));
    }

    private boolean parent() {
        Row parent = any(Table.PARENT);
        if (parent == null || world.random.nextInt(3) == 0) {
            return put(Table.PARENT, null, Row.of((long) world.random.nextInt(6), 0L));
        }
        return world.random.nextBoolean()
                ? put(Table.PARENT, parent, null)
                : put(Table.PARENT, parent, parent.with(1, parent.get(1) + 1));
    }

    private boolean scrap() {
        Row row = any(Table.SCRAP);
        if (row == null || world.random.nextInt(3) == 0) {
            return put(Table.SCRAP, null, Row.of((long) world.random.nextInt(3), (long) world.random.nextInt(2)));
        }
        return put(Table.SCRAP, row, world.random.nextBoolean() ? null : row.with(1, (long) world.random.nextInt(3)));
    }
}
