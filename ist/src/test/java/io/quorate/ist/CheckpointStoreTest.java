// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.ErrorCode;
import io.quorate.core.LogPosition;
import io.quorate.core.QuorateException;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CheckpointStoreTest {
    @TempDir
    Path directory;

    private static void save(CheckpointStore store, int n) {
        store.save(new LogPosition(1, n), 10L * n, out -> out.writeUTF("state " + n));
    }

    private static String content(CheckpointStore.Checkpoint checkpoint) throws IOException {
        try (DataInputStream in = checkpoint.open()) {
            return in.readUTF();
        }
    }

    private void assertNewest(int n) throws IOException {
        CheckpointStore.Checkpoint newest =
                CheckpointStore.open(directory).newest().orElseThrow();
        assertThat(newest.position()).isEqualTo(new LogPosition(1, n));
        assertThat(newest.seqno()).isEqualTo(10L * n);
        assertThat(content(newest)).isEqualTo("state " + n);
    }

    @Test
    void keepsTheTwoNewest() throws IOException {
        CheckpointStore store = CheckpointStore.open(directory);
        assertThat(store.newest()).isEmpty();
        assertThat(store.forgettable()).isEqualTo(LogPosition.START);
        for (int n = 1; n <= 5; n++) {
            save(store, n);
            assertNewest(n);
            assertThat(store.forgettable()).isEqualTo(n == 1 ? LogPosition.START : new LogPosition(1, n - 1));
        }
        try (Stream<Path> files = Files.list(directory)) {
            assertThat(files).hasSize(2);
        }
    }

    @Test
    void fallsBackToTheOlderWhateverBitOrLengthOfTheNewestIsWrong() throws IOException {
        CheckpointStore store = CheckpointStore.open(directory);
        save(store, 1);
        save(store, 2);
        Path newest = store.newest().orElseThrow().file();
        byte[] good = Files.readAllBytes(newest);
        for (int bit = 0; bit < good.length * 8; bit++) {
            byte[] bad = good.clone();
            bad[bit / 8] ^= (byte) (1 << bit % 8);
            Files.write(newest, bad);
            assertNewest(1);
        }
        for (int length = 0; length < good.length; length++) {
            Files.write(newest, Arrays.copyOf(good, length));
            assertNewest(1);
        }
        CheckpointStore again = CheckpointStore.open(directory);
        assertThat(again.forgettable()).isEqualTo(LogPosition.START);
        save(again, 3);
        assertNewest(3);
        assertThat(again.forgettable()).isEqualTo(new LogPosition(1, 1));
    }

    @Test
    void theCacheKeepsWhatTheOlderOneGoesOnFrom() throws IOException {
        Records records = new Records(3, 300);
        CheckpointStore store = CheckpointStore.open(directory.resolve("checkpoints"));
        CacheSettings settings = new CacheSettings(directory.resolve("cache"), new UUID(1, 2), 4 << 10, 8 << 10);
        try (WriteSetCache cache = WriteSetCache.open(settings, 0)) {
            for (long seqno = 1; seqno <= 400; seqno += 100) {
                cache.append(records.range(seqno, seqno + 99));
                store.save(new LogPosition(1, seqno + 99), seqno + 99, out -> out.writeLong(7));
                cache.retain(store.forgettableSeqno() + 1);
            }
            assertThat(cache.first()).isGreaterThan(1);
        }
        Files.write(store.newest().orElseThrow().file(), new byte[3]);
        CheckpointStore again = CheckpointStore.open(directory.resolve("checkpoints"));
        long durable = again.newest().orElseThrow().seqno();
        assertThat(durable).isEqualTo(300);
        try (WriteSetCache cache = WriteSetCache.open(settings, durable)) {
            assertThat(cache.first()).isLessThanOrEqualTo(durable + 1);
            assertThat(cache.last()).isGreaterThan(durable);
        }
    }

    @Test
    void leavesTheOldOnesWhenTheNewCantBeWritten() throws IOException {
        CheckpointStore store = CheckpointStore.open(directory);
        save(store, 1);
        assertThatThrownBy(() -> store.save(new LogPosition(1, 2), 20, out -> {
                    out.writeInt(1);
                    throw new IOException("No space left on device");
                }))
                .isInstanceOfSatisfying(
                        QuorateException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.DISK));
        assertNewest(1);
    }

    @Test
    void refusesToStartFromNothingWhenAllAreDamaged() throws IOException {
        CheckpointStore store = CheckpointStore.open(directory);
        save(store, 1);
        Files.write(store.newest().orElseThrow().file(), new byte[3]);
        assertThatThrownBy(() -> CheckpointStore.open(directory))
                .isInstanceOfSatisfying(
                        QuorateException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CACHE_CORRUPT));
    }
}
