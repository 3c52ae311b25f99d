// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.core.ColumnMask;
import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.node.AuditRequest.Contents;
import io.quorate.node.AuditRequest.Next;
import io.quorate.node.AuditRequest.Repaired;
import io.quorate.node.AuditRequest.Rows;
import io.quorate.node.AuditRequest.Tables;
import io.quorate.node.AuditRequest.What;
import io.quorate.node.AuditRequest.Wrong;
import io.quorate.node.AuditState.Difference;
import io.quorate.node.AuditedNodes.Answers;
import io.quorate.sst.audit.AuditedTable.Row;
import io.quorate.sst.audit.AuditedTable.Stretch;
import io.quorate.sst.audit.AuditedTable.Sum;
import io.quorate.transport.DurableFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
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
 * whatever moment each server took its own. Where they don't, its rows are read {@link #LOOKS} times, each time from servers that
 * hold all that any of them had at the time before, in the order's sense; rows that differ in the same way every time are no
 * writeset on its way. (Only rows that went to another value and back between all the looks would be taken for it.) No lock is taken.
 *
 * <p>It goes on where it was after a restart of this node; a node that can't be asked is left out until it can.
 */
final class Audit implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Audit.class);
    private static final String FILE = "audit.json";
    private static final int LOOKS = 3;
    /** A stretch with nodes that come and go is tried so often. */
    private static final int ATTEMPTS = 5;

    private static final Duration PAUSE = Duration.ofSeconds(1);
    private static final Duration SAVE = Duration.ofSeconds(1);
    private static final Duration PAUSE_MAX = Duration.ofSeconds(10);
    /** Rows of a stretch that are shown with their values. */
    private static final int SHOWN_ROWS = 100;

    private final NodeProperties properties;
    private final AuditedNodes nodes;
    private final JsonMapper json;
    private final ColumnMask mask;
    private final Path file;
    private final Thread thread;
    private volatile AuditState state;
    private volatile String waits = "";
    private volatile boolean stop;
    private volatile boolean closed;
    private long savedNanos;

    Audit(NodeProperties properties, AuditedNodes nodes, JsonMapper json) throws IOException {
        this.properties = properties;
        this.nodes = nodes;
        this.json = json;
        this.mask = properties.conflicts().mask();
        this.file = properties.dataDir().resolve(FILE);
        this.thread = new Thread(this::run, "quorate-audit");
        thread.setDaemon(true);
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

    private void run() {
        try {
            while (!closed) {
                AuditState now = awaitWork();
                if (now != null) {
                    workOrEnd();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
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
    private static final class Stopped extends Exception {
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
    private <T> Answers<T> compare(AuditRequest request, Class<T> type) throws InterruptedException, Stopped {
        while (true) {
            check();
            Set<String> servers = nodes.servers();
            if (servers.size() < 2) {
                pause("no other node with a server is SYNCED");
                continue;
            }
            Answers<T> answers = nodes.ask(servers, request, type);
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
        for (int looks = 0; looks < LOOKS; looks++) {
            Answers<Tables> answers = compare(AuditRequest.of(What.TABLES, null, null, null, after), Tables.class);
            Map<String, Map<String, String>> versions = new TreeMap<>();
            answers.given().forEach((node, tables) -> versions.put(node, tables.definitions()));
            all.clear();
            versions.values().forEach(each -> all.addAll(each.keySet()));
            Map<String, Map<String, String>> differing = differing(versions);
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
                    found.add(new Difference(table, null, versions, majority(versions), Map.of(), null));
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

    /** What isn't the same on all nodes, by node. */
    private static Map<String, Map<String, String>> differing(Map<String, Map<String, String>> versions) {
        Set<String> all = new TreeSet<>();
        versions.values().forEach(each -> all.addAll(each.keySet()));
        Map<String, Map<String, String>> differing = new LinkedHashMap<>();
        for (String each : all) {
            Map<String, String> byNode = new TreeMap<>();
            versions.forEach((node, has) -> byNode.put(node, has.getOrDefault(each, AuditState.ABSENT)));
            if (new HashSet<>(byNode.values()).size() > 1) {
                differing.put(each, byNode);
            }
        }
        return differing;
    }

    private static String majority(Map<String, String> versions) {
        return versions.values().stream()
                .filter(v -> 2 * versions.values().stream().filter(v::equals).count() > versions.size())
                .findFirst()
                .orElse(null);
    }

    private static String schema(String table) {
        return table.substring(0, table.indexOf('.'));
    }

    private static String name(String table) {
        return table.substring(table.indexOf('.') + 1);
    }

    private static AuditRequest of(What what, String table, Stretch stretch, long after) {
        return AuditRequest.of(what, schema(table), name(table), stretch, after);
    }

    private Next next(String table, String from) throws InterruptedException, Stopped {
        while (true) {
            check();
            try {
                Next next = nodes.ask(properties.node(), of(What.NEXT, table, new Stretch(from, null), 0), Next.class);
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
            Next next = next(table, from);
            if (next.unreadable() != null) {
                change(state.leftOut(table, next.unreadable()));
                return;
            }
            Stretch stretch = new Stretch(from, next.to());
            Answers<Sum> sums = compare(of(What.SUM, table, stretch, 0), Sum.class);
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
            Map<String, Map<String, String>> differing = servers.size() < 2 ? null : look(servers, table, stretch);
            if (differing != null) {
                if (!differing.isEmpty()) {
                    change(state.with(describe(servers, table, differing)));
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

    /** @return by identity and node, null when a node could not answer all the time */
    private Map<String, Map<String, String>> look(Set<String> servers, String table, Stretch stretch)
            throws InterruptedException, Stopped {
        Map<String, Map<String, String>> before = null;
        for (int looks = 0; looks < LOOKS; looks++) {
            check();
            long after = nodes.settle(servers);
            if (after < 0) {
                return null;
            }
            Answers<Rows> rows = nodes.ask(servers, of(What.ROWS, table, stretch, after), Rows.class);
            if (!rows.without().isEmpty()) {
                return null;
            }
            Map<String, Map<String, String>> versions = new TreeMap<>();
            rows.given().forEach((node, each) -> versions.put(node, each.versions()));
            Map<String, Map<String, String>> differing = differing(versions);
            if (before != null) {
                differing.entrySet().retainAll(before.entrySet());
            }
            if (differing.isEmpty()) {
                return differing;
            }
            before = differing;
        }
        return before;
    }

    private List<Difference> describe(Set<String> servers, String table, Map<String, Map<String, String>> differing)
            throws InterruptedException {
        List<String> shown = differing.keySet().stream().limit(SHOWN_ROWS).toList();
        Answers<Contents> contents =
                nodes.ask(servers, AuditRequest.shown(schema(table), name(table), shown), Contents.class);
        List<Difference> described = new ArrayList<>();
        differing.forEach((identity, versions) -> {
            Map<String, Row> rows = new TreeMap<>();
            contents.given().forEach((node, each) -> {
                Row row = each.rows().get(identity);
                if (row != null) {
                    rows.put(node, row);
                }
            });
            described.add(new Difference(table, identity, versions, majority(versions), values(table, rows), null));
        });
        return described;
    }

    private Map<String, Map<String, String>> values(String table, Map<String, Row> rows) {
        Map<String, Map<String, String>> values = new TreeMap<>();
        rows.forEach((node, row) -> {
            Map<String, String> line = new LinkedHashMap<>();
            row.shown().forEach((column, value) -> line.put(column, shown(table, column, value)));
            values.put(node, line);
        });
        return values;
    }

    private String shown(String table, String column, String value) {
        if (value == null) {
            return null;
        }
        if (mask.hides(schema(table), name(table), column)) {
            return ColumnMask.MASKED;
        }
        return value;
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
        // Rows that are too many go first, for those that are missing may need their place in a unique key.
        Map<Difference, Difference> done = new HashMap<>();
        for (boolean gone : new boolean[] {true, false}) {
            for (Difference d : now.differences()) {
                if (gone == AuditState.ABSENT.equals(right(d, trusted))) {
                    done.put(d, d.outcome(repair(d, trusted, apply)));
                }
            }
        }
        List<Difference> told = now.differences().stream().map(done::get).toList();
        if (apply) {
            state = now.repaired(told);
            save();
        }
        return told;
    }

    private static String right(Difference d, String trusted) {
        return trusted == null ? d.right() : d.versions().get(trusted);
    }

    private String repair(Difference d, String trusted, boolean apply) {
        if (d.identity() == null) {
            return "left alone: the table's definition differs; change it by hand";
        }
        if (d.outcome() != null
                && d.outcome().contains("repaired")
                && !d.outcome().contains("left alone")) {
            return d.outcome();
        }
        String right = right(d, trusted);
        if (right == null) {
            return trusted == null
                    ? "left alone: no majority of the nodes has the same row; name a node to be trusted"
                    : "left alone: " + trusted + " was not compared";
        }
        String whose = trusted != null ? trusted : rightNode(d, right);
        List<String> outcomes = new ArrayList<>();
        for (String odd : d.odd(right)) {
            String found = d.versions().get(odd);
            Wrong wrong = new Wrong(
                    d.identity(),
                    found.equals(AuditState.ABSENT) ? null : found,
                    right.equals(AuditState.ABSENT) ? null : right);
            AuditRequest request = new AuditRequest(
                    What.REPAIR, schema(d.table()), name(d.table()), null, 0, List.of(wrong), whose, apply);
            String outcome;
            try {
                outcome = nodes.ask(odd, request, Repaired.class).outcomes().get(d.identity());
            } catch (IOException | QuorateException e) {
                outcome = "left alone: " + e.getMessage();
            }
            outcomes.add(odd + " " + outcome);
        }
        return String.join("; ", outcomes);
    }

    /** The first that can be asked. */
    private String rightNode(Difference d, String right) {
        Set<String> servers = nodes.servers();
        return d.versions().entrySet().stream()
                .filter(e -> e.getValue().equals(right))
                .map(Map.Entry::getKey)
                .min((a, b) -> Boolean.compare(servers.contains(b), servers.contains(a)))
                .orElseThrow();
    }

    @Override
    public void close() {
        closed = true;
        thread.interrupt();
        try {
            thread.join(2000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (state != null && state.isRunning()) {
            save();
        }
        nodes.close();
    }
}
