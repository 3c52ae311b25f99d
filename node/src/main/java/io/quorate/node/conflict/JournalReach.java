// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.conflict;

import io.quorate.core.Gtid;
import io.quorate.core.OriginPosition;
import io.quorate.transport.DurableFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * From where in the order up to where the journal has all that failed. Who isn't in it has won only if it was decided
 * in between. The journal loses its beginning when its oldest file is deleted, and all up to now when something that
 * failed can't be written down: on a node that came by a copy, because it isn't in the node's writeset cache.
 */
final class JournalReach {
    private static final Logger log = LoggerFactory.getLogger(JournalReach.class);
    private static final String FILE = "reach.json";
    /** The cache never loses its beginning so fast that the journal would seem incomplete after a crash. */
    private static final long KEEP_NANOS = Duration.ofMinutes(1).toNanos();

    /**
     * A place in the order.
     *
     * @param positions of all origins there
     */
    record Mark(long seqno, Map<UUID, OriginPosition> positions) {
        boolean hasDecided(Gtid gtid) {
            OriginPosition there = positions.get(gtid.source());
            return there != null && there.hasDecided(gtid.number());
        }
    }

    /**
     * What is kept on disk.
     *
     * @param since the journal has what failed after this
     * @param upTo and not after this seqno
     * @param files where the order was when each file was begun
     */
    private record Kept(Mark since, long upTo, Map<String, Mark> files) {}

    private final Path file;
    private final JsonMapper json;
    private final Map<String, Mark> files = new HashMap<>();
    private volatile @Nullable Mark since;
    private volatile long upTo;
    private long keptUpTo;
    private long keptNanos = System.nanoTime();

    JournalReach(Path directory, JsonMapper json) {
        this.file = directory.resolve(FILE);
        this.json = json;
        try {
            if (Files.exists(file)) {
                Kept kept = json.readValue(Files.readString(file), Kept.class);
                since = kept.since;
                upTo = kept.upTo;
                keptUpTo = upTo;
                files.putAll(kept.files);
            }
        } catch (IOException | JacksonException e) {
            log.warn("{} can't be read, so the journal begins now: {}", file, e.toString());
        }
    }

    /** The journal is read and written from here on; a new one begins now. */
    void begin(Mark now) {
        if (since == null) {
            lost(now);
        }
    }

    /** Something that failed up to now isn't in the journal. */
    void lost(Mark now) {
        since = now;
        write();
    }

    /**
     * Everything that has failed up to that seqno is written down.
     *
     * @return whether it is time to {@link #keep} that
     */
    boolean upTo(long seqno) {
        upTo = Math.max(upTo, seqno);
        return upTo > keptUpTo && System.nanoTime() - keptNanos > KEEP_NANOS;
    }

    /** What the journal has is on disk. */
    void keep() {
        keptUpTo = upTo;
        keptNanos = System.nanoTime();
        write();
    }

    long upTo() {
        return upTo;
    }

    /** A file is begun. */
    void begun(Path journal, Mark now) {
        files.put(journal.getFileName().toString(), now);
        write();
    }

    /** Files are deleted, and these are left, the oldest first. */
    void deleted(Collection<Path> left, Mark now) {
        files.keySet().removeIf(name -> left.stream()
                .noneMatch(path -> path.getFileName().toString().equals(name)));
        Mark oldest = left.stream()
                .findFirst()
                .map(path -> files.get(path.getFileName().toString()))
                .orElse(now);
        Mark before = since;
        since = before != null && before.seqno > oldest.seqno ? before : oldest;
        write();
    }

    /** Whether the order had decided on that before the journal is complete. */
    boolean isBefore(Gtid gtid) {
        Mark begins = since;
        return begins == null || begins.hasDecided(gtid);
    }

    private void write() {
        try {
            DurableFile.write(file, json.writeValueAsString(new Kept(since, keptUpTo, Map.copyOf(files))));
        } catch (IOException e) {
            log.warn(
                    "{} can't be written; after a restart the outcome of earlier transactions is unknown: {}",
                    file,
                    e.toString());
        }
    }
}
