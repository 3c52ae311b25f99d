// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;

/**
 * How commits wait on a server with the plugin {@code rpl_semi_sync_source}. What is committed is written to the binlog
 * and then goes on in groups, one after the other: one that waits for its acknowledgement keeps all others back, and
 * what is written meanwhile is the next group. An acknowledgement lets a group through when it is at or beyond the
 * group's end. Whoever's session is ended meanwhile hears nothing, and commits with the rest.
 */
final class CommitQueue {
    private static final int FLUSH_MICROS_MAX = 150;

    /** Who acknowledges: both connections of the capture, and whoever else is connected; the server asks nobody. */
    private enum Replica {
        CAPTURE,
        WITNESS,
        STRANGER
    }

    /**
     * A commit that waits.
     *
     * @param end where it ends in the binlog
     * @param through what becomes of it when it is let through
     */
    private record Commit(Transaction transaction, long number, int end, Runnable through) {}

    private final World world;
    private boolean enabled;
    private boolean replica;
    private boolean stranger;
    /** Up to where each has acknowledged. */
    private final int[] acknowledged = new int[Replica.values().length];

    private List<Commit> group = new ArrayList<>();
    private final Deque<Commit> flushed = new ArrayDeque<>();

    CommitQueue(World world) {
        this.world = world;
    }

    boolean isEnabled() {
        return enabled;
    }

    void enable() {
        enabled = true;
    }

    /** Whoever waits is let through, and hears OK. */
    void disable() {
        enabled = false;
        letThrough(all());
    }

    boolean isEmpty() {
        return group.isEmpty() && flushed.isEmpty();
    }

    /** The GTID number of the first that waits; there must be one. */
    long firstNumber() {
        return (group.isEmpty() ? flushed.peek() : group.get(0)).number;
    }

    private List<Commit> all() {
        List<Commit> all = new ArrayList<>(group);
        all.addAll(flushed);
        return all;
    }

    void add(Transaction transaction, long number, int end, Runnable through) {
        transaction.entersCommit(number, world.now());
        if (isEmpty()) {
            world.after(1 + world.random.nextInt(FLUSH_MICROS_MAX), this::nextGroup);
        }
        flushed.add(new Commit(transaction, number, end, through));
        if (stranger) {
            world.after(1 + world.strangers.nextInt(FLUSH_MICROS_MAX), () -> byStranger(end));
        }
        if (replica && world.bugs.contains(Bug.WITNESS_NOT_HELD_BACK)) {
            acknowledge(Replica.WITNESS, end);
        }
    }

    private void nextGroup() {
        if (group.isEmpty() && !flushed.isEmpty()) {
            group = new ArrayList<>(flushed);
            flushed.clear();
            world.statistics.jointCommits += group.size() > 1 ? group.size() : 0;
            letThrough();
        }
    }

    private int end() {
        return group.get(group.size() - 1).end;
    }

    private void letThrough() {
        if (!group.isEmpty() && acknowledged() >= end()) {
            letThrough(group);
            if (!flushed.isEmpty()) {
                world.after(1, this::nextGroup);
            }
        }
    }

    private void letThrough(List<Commit> commits) {
        List<Commit> all = List.copyOf(commits);
        group = new ArrayList<>();
        flushed.removeAll(all);
        all.forEach(commit -> commit.through.run());
        all.forEach(commit -> commit.transaction.answer(true));
    }

    // What a replica does.

    /** A connection begins, and asks for what comes after a place: what it doesn't ask for it has. */
    void sends(int from) {
        replica = true;
        acknowledge(from);
    }

    void acknowledge(int end) {
        acknowledge(Replica.CAPTURE, end);
        acknowledge(Replica.WITNESS, end);
    }

    private void acknowledge(Replica by, int end) {
        acknowledged[by.ordinal()] = Math.max(acknowledged[by.ordinal()], end);
        letThrough();
    }

    /** Up to where as many have acknowledged as are needed. */
    private int acknowledged() {
        int[] ascending = acknowledged.clone();
        Arrays.sort(ascending);
        return ascending[ascending.length - (world.bugs.contains(Bug.STRANGER_COUNTS) ? 1 : 2)];
    }

    /** Somebody else's replica is connected for a while, and acknowledges at once whatever it is sent. */
    void strangerComes(long micros) {
        stranger = true;
        all().forEach(commit -> byStranger(commit.end));
        world.after(micros, () -> stranger = false);
    }

    private void byStranger(int end) {
        if (stranger) {
            world.statistics.byStrangers++;
            acknowledge(Replica.STRANGER, end);
        }
    }

    void replicaGone() {
        replica = false;
    }

    boolean hasReplica() {
        return replica;
    }

    /** The end of the group of which a part ends at {@code end} or before; where there is none, {@code end}. */
    int wholeGroup(int end) {
        return group.isEmpty() || group.get(0).end > end ? end : Math.max(end, end());
    }

    /** The server crashes: what is in the binlog comes back committed, and nobody has heard OK. */
    void crash() {
        List<Commit> all = all();
        world.statistics.unheard +=
                all.stream().filter(c -> c.transaction.client).count();
        all.forEach(commit -> commit.transaction.answer(false));
        letThrough(all);
        replica = false;
        stranger = false;
        Arrays.fill(acknowledged, 0);
    }
}
