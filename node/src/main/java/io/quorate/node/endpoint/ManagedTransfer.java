// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.endpoint;

import io.quorate.core.answer.TransferAnswer;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.springframework.jmx.export.annotation.ManagedAttribute;
import org.springframework.jmx.export.annotation.ManagedMetric;
import org.springframework.jmx.export.annotation.ManagedOperation;
import org.springframework.jmx.export.annotation.ManagedOperationParameter;
import org.springframework.jmx.export.annotation.ManagedResource;
import org.springframework.jmx.support.MetricType;
import org.springframework.stereotype.Component;

/** {@code io.quorate:type=Transfer}: what this node receives to come back, and what it gives to others. */
@Component
@ManagedResource(
        objectName = "io.quorate:type=Transfer",
        description = "what this node receives to come back, and what it gives to others")
public class ManagedTransfer {
    private final TransferEndpoint transfer;

    ManagedTransfer(TransferEndpoint transfer) {
        this.transfer = transfer;
    }

    private TransferAnswer look() {
        return transfer.transfer();
    }

    private long received(ToLongFunction<TransferAnswer.Receiving> which) {
        TransferAnswer.Receiving now = look().receiving();
        return now == null ? 0 : which.applyAsLong(now);
    }

    private long copied(ToLongFunction<TransferAnswer.Copying> which) {
        TransferAnswer.Copying now = look().copying();
        return now == null ? 0 : which.applyAsLong(now);
    }

    @ManagedAttribute(description = "INCREMENTAL, STREAM or CLONE while something is received; null otherwise")
    public @Nullable String getReceiving() {
        TransferAnswer look = look();
        return look.receiving() != null ? "INCREMENTAL" : look.method();
    }

    @ManagedAttribute(description = "what a transfer or a copy waits for; null when neither does")
    public @Nullable String getWaitsFor() {
        return look().waitsFor();
    }

    @ManagedMetric(description = "writesets that an incremental transfer has received", unit = "writesets")
    public long getWriteSets() {
        return received(TransferAnswer.Receiving::done);
    }

    @ManagedMetric(description = "writesets that it has still to receive", unit = "writesets")
    public long getWriteSetsToDo() {
        return received(TransferAnswer.Receiving::toDo);
    }

    @ManagedMetric(description = "bytes that a copy has received", unit = "bytes")
    public long getCopied() {
        return copied(TransferAnswer.Copying::bytes);
    }

    @ManagedMetric(description = "bytes that it has still to receive, as estimated now", unit = "bytes")
    public long getCopyToDo() {
        return copied(TransferAnswer.Copying::toDo);
    }

    @ManagedMetric(description = "until what is received is here; -1 while nobody can tell", unit = "ms")
    public long getEtaMillis() {
        TransferAnswer look = look();
        if (look.receiving() != null) {
            return look.receiving().etaMillis();
        }
        return look.copying() == null ? -1 : look.copying().etaMillis();
    }

    @ManagedMetric(description = "transfers that this node gives now", unit = "transfers")
    public long getGiving() {
        return look().giving().size();
    }

    @ManagedMetric(
            description = "given to others since its service began, compressed",
            unit = "bytes",
            metricType = MetricType.COUNTER)
    public long getBytesGiven() {
        return look().bytesGiven();
    }

    @ManagedOperation(description = "pauses the full copy")
    public void pause() throws InterruptedException {
        Operations.require(transfer.change("pause", null));
    }

    @ManagedOperation(description = "goes on with it")
    public void resume() throws InterruptedException {
        Operations.require(transfer.change("resume", null));
    }

    @ManagedOperation(description = "limits what it may take, until the service ends")
    @ManagedOperationParameter(name = "bytesPerSecond", description = "bytes a second; 0 for no limit")
    public void throttle(long bytesPerSecond) throws InterruptedException {
        Operations.require(transfer.change("throttle", bytesPerSecond));
    }

    @ManagedOperation(description = "gives up a copy that the node changed over to, and goes on catching up")
    public void cancel() throws InterruptedException {
        Operations.require(transfer.change("cancel", null));
    }
}
