// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;
import io.quorate.core.Certified;
import io.quorate.core.LogPosition;
import io.quorate.core.QuorateException;
import io.quorate.fuzz.Fuzz;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a donor sends, and what a joiner asks for, is what it says or refused; no length in it is believed. */
class TransferFuzzTest {
    private static final int SAMPLES = 10;
    private static final int RECORDS = 4;

    @TempDir
    Path directory;

    private static byte[] records(long from) {
        ByteBuffer out = ByteBuffer.allocate(64 << 10).order(ByteOrder.LITTLE_ENDIAN);
        for (Certified record : new Records(5, 300).range(from, from + RECORDS - 1)) {
            RecordCodec.encode(record, out);
        }
        byte[] bytes = new byte[out.position()];
        out.flip().get(bytes);
        return bytes;
    }

    private static List<byte[]> streams() {
        List<byte[]> all = new ArrayList<>();
        for (int i = 0; i < SAMPLES; i++) {
            all.add(records(1));
        }
        return all;
    }

    /** As they come, where almost every change fails a checksum. */
    @Test
    void streamsOfRecords() {
        SpoolDirectory spool = new SpoolDirectory(directory);
        Fuzz.of(streams())
                .refusing(IOException.class)
                .refusing(QuorateException.class)
                .allocating(1000)
                .run(bytes -> new RecordReader(1, RECORDS, spool, batch -> {}).read(new ByteArrayInputStream(bytes)));
    }

    /** As a donor would send them that computes its checksums. */
    @Test
    void recordsWithRightChecksums() {
        SpoolDirectory spool = new SpoolDirectory(directory);
        List<byte[]> bodies = new ArrayList<>();
        for (long seqno = 1; seqno <= SAMPLES; seqno++) {
            ByteBuffer out = ByteBuffer.allocate(4096).order(ByteOrder.LITTLE_ENDIAN);
            RecordCodec.encode(new Records(5, 300).at(seqno), out);
            byte[] body = new byte[out.position() - RecordCodec.HEAD_BYTES];
            out.get(RecordCodec.HEAD_BYTES, body);
            bodies.add(body);
        }
        Fuzz.of(bodies)
                .refusing(IOException.class)
                .refusing(QuorateException.class)
                .allocating(1000)
                .run(body -> {
                    byte[] record = framed(body);
                    long seqno = body.length < 8
                            ? 1
                            : RecordCodec.seqno(ByteBuffer.wrap(body).order(ByteOrder.LITTLE_ENDIAN));
                    new RecordReader(seqno, seqno, spool, batch -> {}).read(new ByteArrayInputStream(record));
                });
    }

    private static byte[] framed(byte[] body) {
        ByteBuffer record =
                ByteBuffer.allocate(RecordCodec.HEAD_BYTES + body.length).order(ByteOrder.LITTLE_ENDIAN);
        record.putInt(0, body.length).put(RecordCodec.HEAD_BYTES, body);
        return record.putInt(4, RecordCodec.crc(record, 0, body.length)).array();
    }

    @Test
    void aRecordThatIsLongerThanWhatItHoldsIsRefused() {
        ByteBuffer out = ByteBuffer.allocate(4096).order(ByteOrder.LITTLE_ENDIAN);
        RecordCodec.encode(new Records(5, 300).at(1), out);
        byte[] longer = new byte[out.position() - RecordCodec.HEAD_BYTES + 5];
        out.get(RecordCodec.HEAD_BYTES, longer, 0, longer.length - 5);
        RecordReader reader = new RecordReader(1, 1, new SpoolDirectory(directory), batch -> {});
        assertThatThrownBy(() -> reader.read(new ByteArrayInputStream(framed(longer))))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("5 bytes follow");
    }

    /** It goes to a file as it comes, and ends where the donor's bytes do. */
    @Test
    void aLengthOfTwoGigabytesTakesNoMemory() {
        ByteBuffer huge =
                ByteBuffer.allocate(100).order(ByteOrder.LITTLE_ENDIAN).putInt(0, Integer.MAX_VALUE - 100);
        RecordReader reader = new RecordReader(1, 1, new SpoolDirectory(directory), batch -> {});
        assertThatThrownBy(() -> reader.read(new ByteArrayInputStream(huge.array())))
                .isInstanceOf(IOException.class);
    }

    /** It would ask for memory outside the heap, in which a decoder keeps what it has read. */
    @Test
    void aDonorMayNotAskForALargeWindow() throws Exception {
        for (int window : new int[] {23, 27}) {
            ByteArrayOutputStream stream = new ByteArrayOutputStream();
            try (OutputStream compressed = new ZstdOutputStreamNoFinalizer(stream, 1).setLong(window)) {
                compressed.write(records(1));
                compressed.flush();
            }
            DonorClient client = new DonorClient(
                    (peer, request) -> new ByteArrayInputStream(stream.toByteArray()), new UUID(1, 2), bytes -> {});
            RecordReader reader = new RecordReader(1, RECORDS, new SpoolDirectory(directory), batch -> {});
            if (window == 23) {
                client.records("n1", reader);
                assertThat(reader.next()).isEqualTo(RECORDS + 1);
            } else {
                assertThatThrownBy(() -> client.records("n1", reader)).isInstanceOf(IOException.class);
            }
        }
    }

    @Test
    void requests() {
        List<byte[]> valid = List.of(
                new TransferRequest(TransferRequest.Kind.RECORDS, new UUID(1, 2), 3, 4).encode(),
                new TransferRequest(TransferRequest.Kind.CHECKPOINT, new UUID(1, 2), 0, 0).encode());
        Fuzz.of(valid).refusing(QuorateException.class).run(TransferRequest::decode);
    }

    @Test
    void aStateWithoutAnEndDoesNotFillTheDisk() throws Exception {
        CheckpointStore store = CheckpointStore.open(directory);
        InputStream endless = new InputStream() {
            @Override
            public int read() {
                return 0;
            }
        };
        assertThatThrownBy(() -> store.receive(new LogPosition(1, 2), 3, endless, 200_000))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("more than 200000 bytes");
        assertThat(Files.size(directory.resolve("received-checkpoint"))).isLessThan(300_000);
        assertThatThrownBy(() -> store.receive(new LogPosition(1, -7), 3, endless))
                .isInstanceOf(IOException.class);
        assertThatThrownBy(() -> store.receive(new LogPosition(1, 2), -1, endless))
                .isInstanceOf(IOException.class);
    }
}
