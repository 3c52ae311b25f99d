// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.conflict;

import io.micrometer.core.instrument.MeterRegistry;
import io.quorate.certification.OrderedStream;
import io.quorate.core.Certified;
import io.quorate.core.Gtid;
import io.quorate.core.WriteSetLog;
import io.quorate.core.answer.ConflictsAnswer.Mismatch;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.thread.FaultHandler;
import io.quorate.node.thread.OwnedThread;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Keeps every writeset that failed certification or turned out void, by seqno: one line of JSON each, in files of the
 * node's data directory, which are bounded by size and age. The journal is the same on every node, except for what only
 * the loser's node knows. The thread that hands out the order only passes on the seqno; the journal's own thread reads
 * the writesets, asks the server and writes.
 *
 * <p>Seqnos wait in a bounded queue. A seqno that doesn't fit is not lost: the highest one is remembered, and the
 * cache, which has every loser, is searched from the last seqno that was written up to there.
 */
public final class ConflictJournal implements OrderedStream.Failures, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(ConflictJournal.class);
    /** How many seqnos are searched at most; whatever is further back was written long ago. */
    private static final long LOOK_BACK_MAX = 1_000_000;

    static final int WAITING_MAX = 4096;
    /**
     * How long the thread waits for a seqno before it looks whether one has found the queue full. That may happen just
     * when the last seqno in the queue has been taken.
     */
    private static final long LOOK_MILLIS = 1000;

    private static final long AWAIT_MILLIS = 10;

    static final int RECENT_MAX = 20;

    private static final int FILES = 8;
    private static final String PREFIX = "conflicts-";
    private static final String SUFFIX = ".jsonl";
    private static final String MISMATCHES = "mismatches.jsonl";

    private final Path directory;
    private final NodeProperties.Conflicts settings;
    private final WriteSetLog cache;
    private final JsonMapper json;
    private final ConflictCounters counters;
    private final ConflictReader reader;
    private final Explainer explainer;
    private final ArrayBlockingQueue<Long> failed = new ArrayBlockingQueue<>(WAITING_MAX);
    /** The highest seqno that has found the queue full since the thread last looked; 0 when there was none. */
    private final AtomicLong overflowed = new AtomicLong();

    private final JournalReach reach;
    private @Nullable Supplier<JournalReach.Mark> order;
    private @Nullable LongSupplier lastOrdered;
    private @Nullable OwnedThread thread;
    private final FaultHandler faults;
    private long last;
    private Path current;
    /** The latest, newest first; null until somebody wants them. A page that is open wants them each second. */
    private @Nullable ArrayDeque<Conflict> recent;

    /**
     * Opens it; {@link #begin} has it write.
     *
     * @param explainer has to stay open until the journal is closed
     */
    public ConflictJournal(
            Path directory,
            NodeProperties.Conflicts settings,
            WriteSetLog cache,
            JsonMapper json,
            MeterRegistry meters,
            Explainer explainer,
            FaultHandler faults)
            throws IOException {
        this.directory = Files.createDirectories(directory);
        this.settings = settings;
        this.cache = cache;
        this.json = json;
        this.counters = new ConflictCounters(meters);
        this.explainer = explainer;
        this.reader = new ConflictReader(settings.mask(), explainer);
        List<Path> files = files();
        endLine(directory.resolve(MISMATCHES));
        if (!files.isEmpty()) {
            current = files.get(files.size() - 1);
            endLine(current);
            List<Conflict> newest = lines(current, Conflict.class);
            last = newest.isEmpty()
                    ? first(current) - 1
                    : newest.stream().mapToLong(Conflict::seqno).max().getAsLong();
        }
        this.reach = new JournalReach(directory, json);
        this.faults = faults;
    }

    /** Has it write from now on what it is told, and was told already. */
    public void begin(OrderedStream stream) {
        begin(
                () -> stream.ask(certifier -> new JournalReach.Mark(certifier.lastSeqno(), certifier.positions())),
                stream::lastOrdered);
    }

    /**
     * @param now where the order is
     * @param ordered the seqno up to which this journal has been told of what failed
     */
    void begin(Supplier<JournalReach.Mark> now, LongSupplier ordered) {
        order = now;
        lastOrdered = ordered;
        reach.begin(now.get());
        thread = OwnedThread.lasting("quorate-conflicts", this::run, faults).start();
    }

    @Override
    public void failed(long seqno) {
        enter(seqno, seqno);
    }

    /**
     * Makes the journal search for writesets that failed up to {@code seqno} and aren't written yet: they came by a
     * transfer, or the node ended before they could be written. Never blocks.
     */
    @Override
    public void lookBack(long seqno) {
        enter(-seqno, seqno);
    }

    private void enter(long order, long seqno) {
        if (!failed.offer(order) && overflowed.getAndAccumulate(seqno, Math::max) == 0) {
            log.warn(
                    "{} conflicts wait to be written to the journal; those from seqno {} on are looked for in"
                            + " the writeset cache",
                    WAITING_MAX,
                    seqno);
        }
    }

    /** How many seqnos wait in the queue. */
    int waiting() {
        return failed.size();
    }

    private void run() throws InterruptedException {
        while (true) {
            // Before the queue is found to be empty: what failed up to there has been in it.
            long ordered = lastOrdered.getAsLong();
            Long seqno = failed.poll(LOOK_MILLIS, TimeUnit.MILLISECONDS);
            // Seqnos that found the queue full come first: they would count as written once a later one is.
            long upTo = overflowed.getAndSet(0);
            if (upTo > 0) {
                look(upTo);
            }
            if (seqno != null && seqno < 0) {
                look(-seqno);
            } else if (seqno != null && seqno > last) {
                // A seqno that the order hands out again after a restart has been written already.
                write(seqno);
            }
            if (failed.isEmpty() && overflowed.get() == 0) {
                keep(reach.upTo(ordered));
            }
        }
    }

    private void keep(boolean due) {
        if (!due) {
            return;
        }
        if (current != null && Files.exists(current)) {
            try (FileChannel channel = FileChannel.open(current, StandardOpenOption.WRITE)) {
                channel.force(true);
            } catch (IOException e) {
                log.warn("the conflict journal in {} can't be written: {}", directory, e.toString());
                return;
            }
        }
        reach.keep();
    }

    /**
     * Waits until everything is written down that had failed up to that seqno.
     *
     * @return whether it is
     */
    public boolean awaitWritten(long seqno, Duration limit) throws InterruptedException {
        long deadline = System.nanoTime() + limit.toNanos();
        while (reach.upTo() < seqno && System.nanoTime() < deadline) {
            // Wakes the thread.
            failed.offer(0L);
            Thread.sleep(AWAIT_MILLIS);
        }
        return reach.upTo() >= seqno;
    }

    /** Whether the order decided on that transaction so long ago that this journal may not have it, if it failed. */
    public boolean isBefore(Gtid gtid) {
        return reach.isBefore(gtid);
    }

    private void write(long seqno) throws InterruptedException {
        try {
            Certified loser = cached(seqno);
            if (loser == null) {
                log.warn("seqno {} failed and is no longer in the writeset cache: it is not in the journal", seqno);
                reach.lost(order.get());
            } else if (loser.passed()) {
                writeVoid(loser);
            } else {
                write(reader.read(loser, cached(loser.conflictsWith()), explainer.accountOf(loser)));
            }
        } catch (IOException | UncheckedIOException e) {
            log.warn("the conflict journal in {} can't be written: {}", directory, e.toString());
            reach.lost(order.get());
        } catch (RuntimeException e) {
            log.warn("seqno {} can't be described for the conflict journal: {}", seqno, e.toString());
            reach.lost(order.get());
        }
    }

    /**
     * Writes down what is void by a verdict: what was built on the definition, then the definition itself. Their lines
     * come where the verdict was found.
     */
    private void writeVoid(Certified verdict) throws IOException, InterruptedException {
        long definition = verdict.writeSet().voidsDefinition();
        Certified winner = cached(definition);
        for (long built : verdict.writeSet().voidsBuilt()) {
            Certified lost = cached(built);
            if (lost == null) {
                reach.lost(order.get());
            } else {
                write(reader.voided(built, lost, winner, explainer.accountOf(lost)));
            }
        }
        if (winner == null) {
            log.warn("seqno {} is void and no longer in the writeset cache: it is not in the journal", definition);
            reach.lost(order.get());
            return;
        }
        write(reader.voided(verdict.seqno(), winner, null, explainer.accountOf(winner)));
    }

    private void write(Conflict conflict) throws IOException {
        append(conflict);
        counters.count(conflict);
    }

    private void look(long upTo) throws InterruptedException {
        long next = Math.max(last, reach.upTo()) + 1;
        if (next > upTo) {
            return;
        }
        long from = Math.max(Math.max(next, cache.first()), upTo - LOOK_BACK_MAX);
        if (from > next || upTo > cache.last()) {
            // As on a new node, whose server got a copy.
            log.info("what failed before seqno {} is not in this node's conflict journal", Math.min(from, upTo + 1));
            reach.lost(order.get());
        }
        if (from > Math.min(upTo, cache.last())) {
            return;
        }
        try (WriteSetLog.Cursor cursor = cache.read(from)) {
            for (long seqno = from; seqno <= upTo; seqno++) {
                Certified c = cursor.next(Duration.ZERO);
                if (c == null) {
                    reach.lost(order.get());
                    return;
                }
                if (!c.passed() || c.writeSet().voidsDefinition() > 0) {
                    write(seqno);
                }
            }
        } catch (IOException | RuntimeException e) {
            log.warn("the writeset cache can't be looked through for conflicts: {}", e.toString());
            reach.lost(order.get());
        }
    }

    private Certified cached(long seqno) throws IOException, InterruptedException {
        return seqno < cache.first() || seqno > cache.last() ? null : cache.at(seqno);
    }

    private synchronized void append(Conflict conflict) throws IOException {
        if (current == null || Files.size(current) >= settings.bytesMax().toBytes() / FILES) {
            // The files are in the order in which they were written, whatever is in them.
            current = directory.resolve(PREFIX + "%020d".formatted(Math.max(last, conflict.seqno())) + SUFFIX);
            reach.begun(current, order.get());
            forgetOldest();
        }
        String line = json.writeValueAsString(conflict);
        Files.writeString(
                current, line + "\n", StandardCharsets.UTF_8, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        last = Math.max(last, conflict.seqno());
        if (recent != null) {
            // As it reads from the file.
            recent.addFirst(json.readValue(line, Conflict.class));
            if (recent.size() > RECENT_MAX) {
                recent.removeLast();
            }
        }
    }

    /** Writes down what showed that this node's server holds something else than the order says. */
    public synchronized void mismatch(String what) {
        try {
            Files.writeString(
                    directory.resolve(MISMATCHES),
                    json.writeValueAsString(new Mismatch(Instant.now().toString(), what)) + "\n",
                    StandardCharsets.UTF_8,
                    StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
        } catch (IOException e) {
            log.warn("the conflict journal in {} can't be written: {}", directory, e.toString());
        }
    }

    /** All mismatches, oldest first. */
    public synchronized List<Mismatch> mismatches() throws IOException {
        Path file = directory.resolve(MISMATCHES);
        return Files.exists(file) ? lines(file, Mismatch.class) : List.of();
    }

    private void forgetOldest() throws IOException {
        recent = null;
        List<Path> files = files();
        Instant oldest = Instant.now().minus(settings.ageMax());
        for (int i = 0; i < files.size(); i++) {
            boolean tooMany = files.size() - i >= FILES;
            if (tooMany || Files.getLastModifiedTime(files.get(i)).toInstant().isBefore(oldest)) {
                Files.delete(files.get(i));
            }
        }
        List<Path> left = new ArrayList<>(files());
        if (left.size() < files.size()) {
            left.add(current);
            reach.deleted(left, order.get());
        }
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> all = Files.list(directory)) {
            return all.filter(f -> f.getFileName().toString().startsWith(PREFIX)
                            && f.getFileName().toString().endsWith(SUFFIX))
                    .sorted()
                    .toList();
        }
    }

    /** Ends a line that a crash cut short: the next one would be lost with it. */
    private static void endLine(Path file) throws IOException {
        if (Files.notExists(file)) {
            return;
        }
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            long size = channel.size();
            ByteBuffer last = ByteBuffer.allocate(1);
            if (size > 0 && channel.read(last, size - 1) == 1 && last.get(0) != '\n') {
                channel.write(ByteBuffer.wrap(new byte[] {'\n'}), size);
            }
        }
    }

    private static long first(Path file) {
        String name = file.getFileName().toString();
        return Long.parseLong(name.substring(PREFIX.length(), name.length() - SUFFIX.length()));
    }

    /** Reads the lines of a file; a line that a crash cut short is left out. */
    private <T> List<T> lines(Path file, Class<T> type) throws IOException {
        List<T> all = new ArrayList<>();
        for (String line : Files.readString(file, StandardCharsets.UTF_8).split("\n")) {
            T read = read(file, line, type);
            if (read != null) {
                all.add(read);
            }
        }
        return all;
    }

    /** Null for a line that a crash cut short; what it said was written again behind it. */
    private <T> @Nullable T read(Path file, String line, Class<T> type) {
        try {
            return line.isEmpty() ? null : json.readValue(line, type);
        } catch (JacksonException e) {
            log.debug("left out a line of {}", file);
            return null;
        }
    }

    /** The latest conflicts, newest first. */
    public synchronized List<Conflict> latest(int limit) throws IOException {
        if (limit > RECENT_MAX) {
            return read(limit);
        }
        if (recent == null) {
            recent = new ArrayDeque<>(read(RECENT_MAX));
        }
        return recent.stream().limit(limit).toList();
    }

    private List<Conflict> read(int limit) throws IOException {
        List<Conflict> latest = new ArrayList<>();
        List<Path> files = files();
        for (int i = files.size() - 1; i >= 0 && latest.size() < limit; i--) {
            List<Conflict> conflicts = lines(files.get(i), Conflict.class);
            for (int n = conflicts.size() - 1; n >= 0 && latest.size() < limit; n--) {
                latest.add(conflicts.get(n));
            }
        }
        return latest;
    }

    /** The conflict at this seqno; null when there is none. */
    public Conflict find(long seqno) throws IOException {
        String begins = "{\"seqno\":" + seqno + ",";
        return find(line -> line.startsWith(begins), conflict -> true);
    }

    /** The conflict that this transaction has lost; null when there is none. */
    public Conflict find(Gtid loser) throws IOException {
        String gtid = loser.toString();
        return find(
                line -> line.contains(gtid),
                conflict -> gtid.equals(conflict.loser().gtid()));
    }

    /** @param lines which lines are worth reading */
    private synchronized @Nullable Conflict find(Predicate<String> lines, Predicate<Conflict> which)
            throws IOException {
        List<Path> files = files();
        for (int i = files.size() - 1; i >= 0; i--) {
            Path file = files.get(i);
            // What is void is in the file of its verdict, which may have begun with a later seqno.
            try (Stream<String> all = Files.lines(file, StandardCharsets.UTF_8)) {
                Optional<Conflict> found = all.filter(lines)
                        .map(line -> read(file, line, Conflict.class))
                        .filter(conflict -> conflict != null && which.test(conflict))
                        .findFirst();
                if (found.isPresent()) {
                    return found.get();
                }
            }
        }
        return null;
    }

    @Override
    public void close() {
        if (thread != null) {
            thread.close();
            keep(true);
        }
    }
}
