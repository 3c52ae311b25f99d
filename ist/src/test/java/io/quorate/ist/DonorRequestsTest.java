// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.Certified;
import io.quorate.core.ErrorCode;
import io.quorate.core.LogPosition;
import io.quorate.core.QuorateException;
import io.quorate.core.Spool;
import io.quorate.ist.IncrementalTransfer.Offer;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DonorRequestsTest {
    private static final UUID LIFE = new UUID(1, 2);
    private static final long LAST = 20;
    private static final List<Offer> BOTH = List.of(offer("n1", 0), offer("n2", 1));

    @TempDir
    Path directory;

    private final List<String> asked = new ArrayList<>();
    private final List<Certified> received = new ArrayList<>();
    private final TransferProgress progress = new TransferProgress(() -> 0);
    private WriteSetCache cache;
    private CheckpointStore checkpoints;
    private DonorRequests requests;
    private long now;
    /** How much n1 gives of an answer. */
    private int bytes = Integer.MAX_VALUE;
    /** What n1 refuses it with; null when it doesn't. */
    private QuorateException refusal;

    @BeforeEach
    void open() throws IOException {
        cache = WriteSetCache.open(new CacheSettings(directory.resolve("cache"), LIFE, 1 << 20, 1 << 30), 0);
        cache.append(new Records(11, 300).range(1, LAST));
        checkpoints = CheckpointStore.open(directory.resolve("checkpoints"));
        requests = new DonorRequests(this::answer, LIFE, new DonorChoice(), progress, () -> now);
    }

    @AfterEach
    void close() throws IOException {
        cache.close();
    }

    private InputStream answer(String peer, byte[] request) throws IOException {
        asked.add(peer);
        boolean first = peer.equals("n1");
        if (first && refusal != null) {
            throw refusal;
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        new Donor(cache, checkpoints, LIFE).serve("joiner", request, out);
        return new ByteArrayInputStream(out.toByteArray(), 0, first ? Math.min(bytes, out.size()) : out.size());
    }

    private static Offer offer(String donor, int distance) {
        return new Offer(donor, distance, 1, LAST, LAST, 7);
    }

    private RecordReader all() {
        return new RecordReader(1, LAST, Spool.HEAP, received::addAll);
    }

    @Test
    void theNearestDonorGivesEverything() throws Exception {
        assertThat(requests.records(all(), BOTH)).isTrue();
        assertThat(received).hasSize((int) LAST);
        assertThat(asked).containsExactly("n1");
        assertThat(progress.look().donors()).isEmpty();
    }

    @Test
    void whenADonorBreaksOffTheNextRequestGoesToAnotherOne() throws Exception {
        bytes = 10;
        RecordReader reader = all();
        assertThat(requests.records(reader, BOTH)).isTrue();
        assertThat(reader.next()).isEqualTo(1);
        assertThat(requests.records(all(), BOTH)).isTrue();
        assertThat(received).hasSize((int) LAST);
        assertThat(asked).containsExactly("n1", "n2");
        assertThat(progress.look().donors()).isEmpty();
    }

    @Test
    void aDonorThatHasBrokenOffRestsForAWhile() throws Exception {
        bytes = 10;
        List<Offer> one = List.of(offer("n1", 0));
        assertThat(requests.records(all(), one)).isTrue();
        assertThat(requests.records(all(), one)).isFalse();
        now += DonorChoice.REST_MILLIS;
        assertThat(requests.records(all(), one)).isTrue();
        assertThat(asked).containsExactly("n1", "n1");
    }

    @Test
    void whatNobodyHasIsSaid() {
        assertThatThrownBy(() -> requests.records(new RecordReader(1, LAST + 1, Spool.HEAP, received::addAll), BOTH))
                .isInstanceOfSatisfying(
                        QuorateException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CACHE_PASSED));
        assertThat(asked).isEmpty();
    }

    @Test
    void aDonorOfAnotherClusterEndsIt() {
        refusal = new QuorateException(ErrorCode.FOREIGN_CLUSTER, "another one");
        assertThatThrownBy(() -> requests.records(all(), BOTH)).isSameAs(refusal);
        assertThatThrownBy(() -> requests.state("n1", checkpoints)).isSameAs(refusal);
    }

    @Test
    void aCheckpointIsReceived() {
        checkpoints.save(new LogPosition(2, 7), LAST, out -> out.writeUTF("state"));
        assertThat(requests.state("n1", checkpoints).seqno()).isEqualTo(LAST);
    }

    @Test
    void aDonorThatBreaksOffWithItsCheckpointRests() throws Exception {
        checkpoints.save(new LogPosition(2, 7), LAST, out -> out.writeUTF("state"));
        bytes = 10;
        assertThatThrownBy(() -> requests.state("n1", checkpoints))
                .isInstanceOfSatisfying(
                        QuorateException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.ORDER_INTERRUPTED));
        assertThat(requests.records(all(), BOTH)).isTrue();
        assertThat(asked).containsExactly("n1", "n2");
        assertThat(progress.look().donors()).isEmpty();
    }
}
