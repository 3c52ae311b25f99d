// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import com.github.luben.zstd.ZstdInputStreamNoFinalizer;
import io.quorate.core.LogPosition;
import io.quorate.core.PeerStreams;
import java.io.DataInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.UUID;
import java.util.function.IntConsumer;

/** Asks one donor for one thing, and reads the answer; the other end is {@link Donor}. Any thread. */
public final class DonorClient {
    /** The memory outside the heap that a stream may ask for, as a power of two: 8 MiB. What donors send needs less. */
    private static final int WINDOW_LOG_MAX = 23;

    private final PeerStreams peers;
    private final UUID incarnation;
    private final IntConsumer receivedBytes;

    /** @param receivedBytes is told how much has arrived, compressed */
    public DonorClient(PeerStreams peers, UUID incarnation, IntConsumer receivedBytes) {
        this.peers = peers;
        this.incarnation = incarnation;
        this.receivedBytes = receivedBytes;
    }

    /**
     * Has {@code reader} read what it lacks. What it handed on before a failure stays handed on.
     *
     * @throws IOException when the donor is gone, or sent something incomplete
     * @throws io.quorate.core.QuorateException the donor's refusal
     */
    public void records(String donor, RecordReader reader) throws IOException, InterruptedException {
        try (InputStream in = open(
                donor, new TransferRequest(TransferRequest.Kind.RECORDS, incarnation, reader.next(), reader.to()))) {
            reader.read(in);
        }
    }

    /** The donor's newest checkpoint, written to a file of {@code checkpoints} and not adopted. */
    public CheckpointStore.Checkpoint state(String donor, CheckpointStore checkpoints) throws IOException {
        try (DataInputStream in = new DataInputStream(
                open(donor, new TransferRequest(TransferRequest.Kind.CHECKPOINT, incarnation, 0, 0)))) {
            LogPosition position = new LogPosition(in.readLong(), in.readLong());
            return checkpoints.receive(position, in.readLong(), in);
        }
    }

    private InputStream open(String donor, TransferRequest request) throws IOException {
        InputStream compressed = new FilterInputStream(peers.open(donor, request.encode())) {
            @Override
            public int read(byte[] into, int from, int length) throws IOException {
                int count = in.read(into, from, length);
                if (count > 0) {
                    receivedBytes.accept(count);
                }
                return count;
            }
        };
        return new ZstdInputStreamNoFinalizer(compressed).setLongMax(WINDOW_LOG_MAX);
    }
}
