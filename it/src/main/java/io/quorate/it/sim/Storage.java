// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.certification.Certifier;
import io.quorate.certification.OrderedStream;
import io.quorate.core.Certified;
import io.quorate.core.LogPosition;
import io.quorate.core.QuorateException;
import io.quorate.core.WriteSetLog;
import io.quorate.ist.CacheSettings;
import io.quorate.ist.CheckpointStore;
import io.quorate.ist.Donor;
import io.quorate.ist.WriteSetCache;
import io.quorate.node.order.Stores;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * What a node has on its disk beside the order's log, the product's {@link Stores} of writesets and checkpoints, and
 * what a crash makes of them.
 */
final class Storage {
    static final UUID INCARNATION = new UUID(1, 1);
    private static final int SEGMENT_BYTES = 8 << 10;
    private static final int KEYS_MAX = 4096;

    private final Path directory;
    private final long cacheBytesMax;
    private final Random random;
    private final Disk disk;
    private Stores stores;
    private boolean spoilt;
    private boolean lost;

    Storage(Path directory, long cacheBytesMax, Random random) {
        this.directory = directory;
        this.cacheBytesMax = cacheBytesMax;
        this.random = random;
        this.disk = new Disk(directory.resolve("cache"), random);
    }

    WriteSetCache cache() {
        return stores.cache();
    }

    CheckpointStore checkpoints() {
        return stores.checkpoints();
    }

    /** Whether it ever began anew above what it had held. */
    boolean hasLostCache() {
        return lost;
    }

    /** What was wrong with the cache when the service started, which is empty for that; null when nothing was. */
    QuorateException damage() {
        return stores.damage();
    }

    /** Up to where the cache was forced when its newest checkpoint was made. */
    long durableSeqno() {
        return checkpoints().newest().map(CheckpointStore.Checkpoint::seqno).orElse(0L);
    }

    LogPosition position() {
        return checkpoints().newest().map(CheckpointStore.Checkpoint::position).orElse(LogPosition.START);
    }

    Donor donor() {
        return new Donor(cache(), checkpoints(), INCARNATION);
    }

    /** What certification knew at the newest checkpoint. */
    Certifier open() {
        // All up to its checkpoint may have been let go, and a crash has taken all that came after it.
        boolean mayBeDamaged = spoilt || disk.hasNothingForced();
        try {
            stores = Stores.open(
                    directory,
                    KEYS_MAX,
                    new CacheSettings(disk.directory(), INCARNATION, SEGMENT_BYTES, cacheBytesMax));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        if (stores.damage() != null && !mayBeDamaged) {
            throw stores.damage();
        }
        return stores.certifier();
    }

    void retain(long applied, OrderedStream stream) {
        stores.retain(applied, stream, Long.MAX_VALUE);
    }

    /** What certification knew may come from what the cluster has left behind; the cache stays. */
    void forget(OrderedStream stream) throws IOException {
        stores.forget(stream);
        // Before the next checkpoint a crash finds a cache that begins anywhere.
        spoilt = true;
    }

    /** Another node's checkpoint is this one's from now on. */
    void install(CheckpointStore.Checkpoint checkpoint, OrderedStream stream) throws IOException {
        requireForced("another node's checkpoint is adopted");
        stores.install(checkpoint, stream);
    }

    void close() {
        try {
            stores.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void force() {
        try {
            cache().force();
            disk.forced();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Goes on at a seqno, with nothing. */
    void reset(long nextSeqno) {
        cache().reset(nextSeqno);
        force();
        // What is durable of it begins above the checkpoint: another crash finds that it doesn't reach back.
        boolean back = nextSeqno > 1 || durableSeqno() > 0;
        spoilt |= back;
        lost |= back;
    }

    /** With a checkpoint the cache counts as durable up to it. */
    private void requireForced(String when) {
        try {
            World.require(
                    disk.isForced(),
                    () -> when + " in " + directory.getFileName() + " when a crash may still take"
                            + " records before it");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** As far as the order may forget its log. */
    LogPosition save(LogPosition position, Certifier certifier) {
        requireForced("a checkpoint is saved");
        LogPosition forgettable = stores.save(position, certifier);
        // One that was lost and not received again doesn't reach the checkpoint.
        long seqno = certifier.lastSeqno();
        spoilt &= cache().first() > seqno + 1 || cache().last() < seqno;
        return forgettable;
    }

    /** The cache, as the stream has it: what is forced through it is what a crash leaves. */
    WriteSetLog log() {
        return new WriteSetLog() {
            @Override
            public long first() {
                return cache().first();
            }

            @Override
            public long last() {
                return cache().last();
            }

            @Override
            public void append(List<Certified> batch) throws IOException {
                cache().append(batch);
            }

            @Override
            public void force() {
                Storage.this.force();
            }

            @Override
            public Cursor read(long seqno) throws IOException {
                return cache().read(seqno);
            }

            @Override
            public void close() {
                Storage.this.close();
            }
        };
    }

    /** A crash of the closed files: what was not forced may be lost. */
    void tear() {
        try {
            disk.tear();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The cache is gone. */
    void loseCache() {
        spoilt = true;
        empty();
    }

    /** Nothing is left of the directory. */
    void lose() {
        empty(directory.resolve("checkpoints"));
        empty();
        spoilt = false;
    }

    private void empty() {
        empty(disk.directory());
    }

    private static void empty(Path directory) {
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.sorted().toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A bit of the newest checkpoint turns, if there is another one. */
    boolean damageCheckpoint() {
        try (Stream<Path> all = Files.list(directory.resolve("checkpoints"))) {
            List<Path> files = all.filter(f -> f.getFileName().toString().startsWith("checkpoint-"))
                    .sorted()
                    .toList();
            if (files.size() < 2) {
                return false;
            }
            try (RandomAccessFile raw =
                    new RandomAccessFile(files.get(files.size() - 1).toFile(), "rw")) {
                long at = random.nextInt((int) raw.length());
                raw.seek(at);
                int value = raw.read();
                raw.seek(at);
                raw.write(value ^ 1 << random.nextInt(8));
            }
            return true;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
