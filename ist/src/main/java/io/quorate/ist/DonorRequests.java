// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import io.quorate.core.ErrorCode;
import io.quorate.core.PeerStreams;
import io.quorate.core.QuorateException;
import io.quorate.core.Spool;
import io.quorate.ist.IncrementalTransfer.Offer;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is asked of donors, one request at a time: each goes to the donor that {@link DonorChoice} chooses then. A donor
 * that breaks off is left alone for a while; so whoever asks again goes on from another one, if there is one. Any
 * thread.
 */
public final class DonorRequests {
    private static final Logger log = LoggerFactory.getLogger(DonorRequests.class);

    private final DonorClient client;
    private final DonorChoice choice;
    private final TransferProgress progress;
    private final LongSupplier clockMillis;

    /** @param clockMillis any clock that does not go back */
    public DonorRequests(
            PeerStreams peers,
            UUID incarnation,
            DonorChoice choice,
            TransferProgress progress,
            LongSupplier clockMillis) {
        this.client = new DonorClient(peers, incarnation, progress::receivedBytes);
        this.choice = choice;
        this.progress = progress;
        this.clockMillis = clockMillis;
    }

    /**
     * Has a donor give what {@code reader} lacks. It may break off; what the reader has by then stays handed on.
     *
     * @return false while all donors that have it rest
     * @throws QuorateException as {@link DonorChoice#donorOf}; FOREIGN_CLUSTER when a donor is none of this cluster
     */
    public boolean records(RecordReader reader, List<Offer> offers) throws InterruptedException {
        Optional<Offer> chosen = choice.donorOf(offers, reader.next(), reader.to(), clockMillis.getAsLong());
        if (chosen.isEmpty()) {
            return false;
        }
        String donor = chosen.get().donor();
        choice.begins(donor);
        progress.gives(donor);
        try {
            client.records(donor, reader);
        } catch (IOException | QuorateException e) {
            failed(donor, e);
        } finally {
            choice.ends(donor);
            progress.givesNoMore(donor);
        }
        return true;
    }

    /**
     * A donor's newest checkpoint, written to a file of {@code checkpoints} and not adopted.
     *
     * @throws QuorateException ORDER_INTERRUPTED when it breaks off, or refuses for good
     */
    public CheckpointStore.Checkpoint state(String donor, CheckpointStore checkpoints) {
        progress.gives(donor);
        try {
            return client.state(donor, checkpoints);
        } catch (IOException e) {
            throw brokeOff(donor, e);
        } catch (QuorateException e) {
            // An error that ends the donor's part in the cluster doesn't end this node's.
            throw e.code().isRetryable() ? e : brokeOff(donor, e);
        } finally {
            progress.givesNoMore(donor);
        }
    }

    /** What the nodes that hold later seqnos say about this one: they may know until when they had it. */
    String untilWhen(long seqno, List<Offer> all, Spool spool) throws InterruptedException {
        StringBuilder text = new StringBuilder();
        for (Offer offer : all) {
            try {
                client.records(offer.donor(), new RecordReader(seqno, seqno, spool, records -> {}));
            } catch (QuorateException e) {
                text.append("; ").append(offer.donor()).append(": ").append(e.detail());
            } catch (IOException e) {
                log.debug("{} doesn't say: {}", offer.donor(), e.toString());
            }
        }
        return text.toString();
    }

    private void failed(String donor, Exception e) {
        if (e instanceof QuorateException known && known.code() == ErrorCode.FOREIGN_CLUSTER) {
            throw known;
        }
        log.info("{} broke off: {}; going on from another node, or from it again", donor, e.getMessage());
        choice.failed(donor, clockMillis.getAsLong());
    }

    private QuorateException brokeOff(String donor, Exception e) {
        failed(donor, e);
        return new QuorateException(ErrorCode.ORDER_INTERRUPTED, donor + " broke off: " + e, e);
    }
}
