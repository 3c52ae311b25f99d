// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.core.answer.Difference;
import io.quorate.node.AuditQuestion.Definitions;
import io.quorate.node.AuditQuestion.End;
import io.quorate.node.AuditQuestion.Next;
import io.quorate.node.AuditQuestion.SumOf;
import io.quorate.node.AuditQuestion.TableName;
import io.quorate.node.AuditQuestion.Tables;
import io.quorate.node.AuditedNodes.Answers;
import io.quorate.sst.audit.AuditedTable.Stretch;
import io.quorate.sst.audit.AuditedTable.Sum;
import io.quorate.transport.DurableFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Compares all nodes' servers, stretch by stretch of every table, while they are written to. Sums that agree settle a stretch, at
 * whatever moment each server took its own. Where they don't, its rows are read {@link AuditedRows#LOOKS} times, each time from servers that
 * hold all that any of them had at the time before, in the order's sense; rows that differ in the same way every time are no
 * writeset on its way. (Only rows that went to another value and back between all the looks would be taken for it.) No lock is taken.
 *
 * <p>It goes on where it was after a restart of this node; a node that can't be asked is left out until it can.
 */
final class Audit implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Audit.class);
    private static final String FILE = "audit.json";
    /** A stretch with nodes that come and go is tried so often. */
    private static final int ATTEMPTS = 5;

    private static final Duration PAUSE = Duration.ofSeconds(1);
    private static final Duration SAVE = Duration.ofSeconds(1);
    private static final Duration PAUSE_MAX = Duration.ofSeconds(10);

    private final NodeProperties properties;
    private final AuditedNodes nodes;
    private final JsonMapper json;
    private final AuditedRows rows;
    private final Path file;
    private final OwnedThread thread;
    private volatile AuditState state;
    private volatile String waits = "";
    private volatile boolean stop;
    private volatile boolean closed;
    private long savedNanos;

    Audit(NodeProperties properties, AuditedNodes nodes, JsonMapper json, FaultHandler faults) throws IOException {
        this.properties = properties;
        this.nodes = nodes;
        this.json = json;
        this.rows = new AuditedRows(nodes, properties.conflicts().mask(), this::check);
        this.file = properties.dataDir().resolve(FILE);
        this.thread = OwnedThread.lasting("quorate-audit", this::run, faults);
        if (Files.exists(file)) {
            try {
                state = json.readValue(Files.readAllBytes(file), AuditState.class);
            } catch (JacksonException e) {
                log.warn("{} is unreadable and is put aside: {}", file, e.getMessage());
                Files.move(
                        file,
                        file.resolveSibling(FILE + ".damaged"),
                        java.nio.file.StandardCopyOption.REPLACE_EXISTING);
            }
        }
    }

    void startThread() {
        thread.start();
    }

    /** The one that runs, or ran last on this node; null when there was none. */
    AuditState state() {
        return state;
    }

    /** What a running one waits for, empty when it works. */
    String waits() {
        return waits;
    }

    /**
     * Begins one.
     *
     * @param only {@code schema.table}, null for all tables
     * @return why not, null when it was begun
     */
    synchronized String start(String only) {
        if (!thread.isAlive()) {
            return "an arbitrator has no server to be compared; ask another node";
        }
        AuditState now = state;
        if (now != null && now.isRunning()) {
            return "an audit is running since " + now.started() + "; stop it first";
        }
        if (only != null && only.indexOf('.') < 0) {
            return "a table is named schema.table, not " + only;
        }
        stop = false;
        state = AuditState.begin(Instant.now().toString(), only);
        notifyAll();
        return null;
    }

    /** @return why not, null when it was */
    synchronized String stop() {
        AuditState now = state;
        if (now == null || !now.isRunning()) {
            return "no audit is running";
        }
        stop = true;
        notifyAll();
        return null;
    }

    private void run() throws InterruptedException {
        while (!closed) {
            AuditState now = awaitWork();
            if (now != null) {
                workOrEnd();
            }
        }
    }

    /** A fault of ours ends the audit, not the thread. */
    private void workOrEnd() throws InterruptedException {
        try {
            work();
        } catch (RuntimeException e) {
            log.error("the audit ends at {}", state.table(), e);
            change(state.end(Instant.now().toString(), true));
            save();
        }
    }

    private synchronized AuditState awaitWork() throws InterruptedException {
        while (!closed) {
            AuditState now = state;
            if (now != null && now.isRunning()) {
                return now;
            }
            if (isDue(now)) {
                start(null);
            } else {
                wait(PAUSE.toMillis());
            }
        }
        return null;
    }

    private boolean isDue(AuditState last) {
        Duration interval = properties.audit().interval();
        return !interval.isZero()
                && (last == null || Instant.parse(last.ended()).plus(interval).isBefore(Instant.now()));
    }

    private void work() throws InterruptedException {
        long began = System.nanoTime();
        log.info("audit: {}", state.table() == null ? "begins" : "goes on at " + state.table());
        save();
        try {
            List<String> tables = definitions();
            AuditState planned = state;
            int done = 0;
            for (String table : tables) {
                if (planned.table() == null || table.compareTo(planned.table()) >= 0) {
                    if (!table.equals(state.table())) {
                        change(state.at(table, done));
                        save();
                    }
                    table(table);
                }
                done++;
            }
            change(state.at(null, done).worked(seconds(began)).end(Instant.now().toString(), false));
        } catch (Stopped e) {
            if (!closed) {
                change(state.worked(seconds(began)).end(Instant.now().toString(), true));
            }
        }
        waits = "";
        save();
        AuditState ended = state;
        if (!ended.isRunning()) {
            String found = ended.found() == 0 ? "no difference" : ended.found() + " differences; quorate audit show";
            log.atLevel(ended.found() == 0 ? org.slf4j.event.Level.INFO : org.slf4j.event.Level.ERROR)
                    .log(
                            "audit {}: {} rows of {} tables compared on {}, {}",
                            ended.stopped() ? "stopped" : "ended",
                            ended.rows(),
                            ended.tablesDone(),
                            ended.nodes(),
                            found);
        }
    }

    private static long seconds(long sinceNanos) {
        return TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - sinceNanos);
    }

    /** Thrown through the work when it is to end. */
    static final class Stopped extends Exception {
        private static final long serialVersionUID = 1;
    }

    private void check() throws Stopped {
        if (stop || closed) {
            throw new Stopped();
        }
    }

    private void change(AuditState next) {
        state = next;
    }

    private void save() {
        savedNanos = System.nanoTime();
        try {
            DurableFile.write(file, json.writeValueAsString(state));
        } catch (IOException e) {
            log.warn("the audit's state could not be kept: {}", e.toString());
        }
    }

    private void pause(String why) throws InterruptedException, Stopped {
        waits = why;
        check();
        Thread.sleep(PAUSE.toMillis());
        check();
    }

    /** Asks two nodes at least, this one among them, for as long as it takes until they answer. */
    private <T> Answers<T> compare(AuditQuestion<T> question) throws InterruptedException, Stopped {
        while (true) {
            check();
            Set<String> servers = nodes.servers();
            if (servers.size() < 2) {
                pause("no other node with a server is SYNCED");
                continue;
            }
            Answers<T> answers = nodes.ask(servers, question);
            if (answers.given().size() >= 2 && answers.given().containsKey(properties.node())) {
                waits = "";
                return answers;
            }
            pause(answers.why());
        }
    }

    /** Compares the tables themselves. Returns those whose rows can be compared, in the order they are. */
    private List<String> definitions() throws InterruptedException, Stopped {
        Map<String, Map<String, String>> before = null;
        Set<String> all = new TreeSet<>();
        long after = 0;
        for (int looks = 0; looks < AuditedRows.LOOKS; looks++) {
            Answers<Definitions> answers = compare(new Tables(after));
            Map<String, Map<String, String>> versions = new TreeMap<>();
            answers.given().forEach((node, tables) -> versions.put(node, tables.definitions()));
            all.clear();
            versions.values().forEach(each -> all.addAll(each.keySet()));
            Map<String, Map<String, String>> differing = AuditedRows.differing(versions);
            if (before != null) {
                differing.entrySet().retainAll(before.entrySet());
            }
            before = differing;
            if (differing.isEmpty()) {
                break;
            }
            // DDL that is on its way, for however long it takes, is no difference.
            after = nodes.settle(answers.given().keySet());
            while (after < 0) {
                pause("nodes come and go; looking at definitions again");
                after = nodes.settle(nodes.servers());
            }
        }
        waits = "";
        Map<String, Map<String, String>> differing = Objects.requireNonNull(before);
        String only = state.only();
        all.removeIf(table -> only != null && !only.equals(table));
        if (only != null && all.isEmpty()) {
            change(state.leftOut(only, "no node has it"));
        }
        if (state.table() == null) {
            List<Difference> found = new ArrayList<>();
            differing.forEach((table, versions) -> {
                if (all.contains(table)) {
                    found.add(new Difference(table, null, versions, AuditedRows.majority(versions), Map.of(), null));
                    change(state.leftOut(table, "its definition isn't the same on all nodes"));
                }
            });
            change(state.with(found));
        }
        all.removeAll(differing.keySet());
        long rows = 0;
        for (String table : all) {
            rows += next(table, null).rows();
        }
        change(state.planned(all.size(), rows));
        return List.copyOf(all);
    }

    private End next(String table, String from) throws InterruptedException, Stopped {
        while (true) {
            check();
            try {
                End next = nodes.ask(properties.node(), new Next(TableName.of(table), from));
                waits = "";
                return next;
            } catch (QuorateException e) {
                pause(e.getMessage());
            } catch (IOException e) {
                throw new IllegalStateException("this node asks itself without a network", e);
            }
        }
    }

    private void table(String table) throws InterruptedException, Stopped {
        String from = state.from();
        do {
            long began = System.nanoTime();
            End next = next(table, from);
            if (next.unreadable() != null) {
                change(state.leftOut(table, next.unreadable()));
                return;
            }
            Stretch stretch = new Stretch(from, next.to());
            Answers<Sum> sums = compare(new SumOf(TableName.of(table), stretch));
            if (new HashSet<>(sums.given().values()).size() > 1) {
                examine(table, stretch);
            }
            from = next.to();
            change(state.compared(
                    from,
                    sums.given().get(properties.node()).rows(),
                    sums.given().keySet(),
                    sums.without()));
            if (System.nanoTime() - savedNanos > SAVE.toNanos()) {
                save();
            }
            rest(System.nanoTime() - began);
        } while (from != null);
    }

    private void rest(long workedNanos) throws InterruptedException, Stopped {
        double share = properties.audit().share();
        long millis = (long) (workedNanos / 1e6 * (1 - share) / share);
        check();
        Thread.sleep(Math.min(millis, PAUSE_MAX.toMillis()));
        check();
    }

    /** Reads the rows of a stretch until it is known which differ. */
    private void examine(String table, Stretch stretch) throws InterruptedException, Stopped {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            Set<String> servers = nodes.servers();
            Map<String, Map<String, String>> differing =
                    servers.size() < 2 ? null : rows.differing(servers, table, stretch);
            if (differing != null) {
                if (!differing.isEmpty()) {
                    change(state.with(rows.described(servers, table, differing)));
                    save();
                    log.error(
                            "audit: {} rows of {} are not the same on {}, the first {}",
                            differing.size(),
                            table,
                            servers,
                            differing.entrySet().iterator().next());
                }
                return;
            }
            pause("nodes come and go; comparing a stretch of " + table + " again");
        }
        change(state.leftOut(table, "a stretch after " + stretch.from() + " could not be compared row by row"));
    }

    /**
     * Puts rows right that the last audit found.
     *
     * @param trusted whose rows are right, null for those of the majority
     * @param apply whether to do it, or only to say what would be done
     * @return by row and node, what became of it
     * @throws QuorateException AUDIT_REFUSED with the reason
     */
    synchronized List<Difference> repair(String trusted, boolean apply) {
        AuditState now = state;
        if (now == null || now.isRunning()) {
            throw new QuorateException(
                    ErrorCode.AUDIT_REFUSED,
                    now == null ? "no audit was done by this node" : "the audit is still running");
        }
        List<Difference> told = new AuditRepair(nodes, trusted, apply).of(now.differences());
        if (apply) {
            state = now.repaired(told);
            save();
        }
        return told;
    }

    @Override
    public void close() {
        closed = true;
        thread.close();
        if (state != null && state.isRunning()) {
            save();
        }
        nodes.close();
    }
}
