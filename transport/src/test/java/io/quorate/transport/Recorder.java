// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import io.quorate.core.LogPosition;
import io.quorate.core.OrderListener;
import io.quorate.core.QuorateException;
import io.quorate.core.TotalOrder.Quorum;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.zip.CRC32;

/** A listener that remembers all it is told; it outlives the node, as a node's own stores do. */
final class Recorder implements OrderListener {
    private final List<String> entries = new ArrayList<>();
    private final List<LogPosition> resumes = new ArrayList<>();
    final List<Quorum> quorums = new CopyOnWriteArrayList<>();
    final List<QuorateException> failures = new CopyOnWriteArrayList<>();
    volatile LogPosition resumeAfter = LogPosition.START;
    volatile LogPosition checkpoint = LogPosition.START;
    volatile boolean durable = true;
    volatile Consumer<String> onDeliver = entry -> {};
    volatile Consumer<ByteBuffer> onCheck = entry -> {};
    volatile Consumer<Quorum> onQuorum = quorum -> {};
    volatile Runnable onCheckpoint = () -> {};
    volatile Runnable onResume = () -> {};

    /** How a large entry is remembered. */
    static String digest(byte[] bytes) {
        return digest(ByteBuffer.wrap(bytes));
    }

    private static String digest(ByteBuffer bytes) {
        CRC32 crc = new CRC32();
        crc.update(bytes.duplicate());
        return bytes.remaining() + " bytes, " + Long.toHexString(crc.getValue());
    }

    @Override
    public LogPosition resumeAfter() {
        onResume.run();
        return resumeAfter;
    }

    @Override
    public void check(String submitter, ByteBuffer entry) {
        onCheck.accept(entry);
    }

    @Override
    public void checkBeginning(String submitter, ByteBuffer piece) {
        onCheck.accept(piece);
    }

    @Override
    public void deliver(LogPosition after, ByteBuffer entry) {
        String text = entry.remaining() > 200
                ? digest(entry)
                : StandardCharsets.UTF_8.decode(entry.duplicate()).toString();
        onDeliver.accept(text);
        synchronized (this) {
            entries.add(text);
            resumes.add(after);
            if (durable) {
                resumeAfter = after;
            }
        }
    }

    @Override
    public LogPosition checkpoint() {
        onCheckpoint.run();
        checkpoint = resumeAfter;
        return checkpoint;
    }

    @Override
    public void quorumChanged(Quorum quorum) {
        quorums.add(quorum);
        onQuorum.accept(quorum);
    }

    @Override
    public void orderFailed(QuorateException cause) {
        failures.add(cause);
    }

    /** Has from now on what {@code other} had at its last checkpoint, as after a transfer outside the order. */
    synchronized void takeOver(Recorder other) {
        synchronized (other) {
            entries.clear();
            resumes.clear();
            LogPosition at = other.checkpoint;
            for (int i = 0; i < other.entries.size() && other.resumes.get(i).compareTo(at) <= 0; i++) {
                entries.add(other.entries.get(i));
                resumes.add(other.resumes.get(i));
            }
            resumeAfter = at;
        }
    }

    synchronized List<String> entries() {
        return List.copyOf(entries);
    }

    synchronized List<LogPosition> resumes() {
        return List.copyOf(resumes);
    }

    synchronized int count() {
        return entries.size();
    }

    synchronized boolean has(String entry) {
        return entries.contains(entry);
    }
}
