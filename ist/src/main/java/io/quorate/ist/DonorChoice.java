// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.ist.IncrementalTransfer.Offer;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Chooses the donor for each request, by the offers and by how the donors did lately. Time comes in as an argument.
 * Thread-safe.
 */
public final class DonorChoice {
    /** A donor that has failed isn't asked again before this time has passed. */
    static final long REST_MILLIS = 500;
    /**
     * And for this time others are asked first. It is longer than whoever asks waits before trying again; otherwise one
     * that always fails would always be asked first.
     */
    static final long LATELY_MILLIS = 30_000;

    private final Map<String, Long> failedAt = new ConcurrentHashMap<>();
    private final Map<String, Integer> busy = new ConcurrentHashMap<>();

    /**
     * The donor for a range of writesets: one that hasn't failed lately; among those the nearest; among those the one
     * that gives least now; among those the one that will keep what is needed longest.
     *
     * @return empty while all donors that have them rest
     * @throws QuorateException CACHE_PASSED when nobody has them: it says what is missing, and who holds what;
     *     ORDER_INTERRUPTED when nobody is there, for then nobody knows that
     */
    public Optional<Offer> donorOf(List<Offer> offers, long from, long to, long nowMillis) {
        if (offers.isEmpty()) {
            throw new QuorateException(
                    ErrorCode.ORDER_INTERRUPTED,
                    "this node needs writesets from seqno " + from + " on; no other node is reachable");
        }
        List<Offer> having =
                offers.stream().filter(offer -> offer.holds(from, to)).toList();
        if (having.isEmpty()) {
            throw new QuorateException(
                    ErrorCode.CACHE_PASSED, "this node needs writesets from seqno " + from + " on; " + held(offers));
        }
        return having.stream()
                .filter(offer -> isRested(offer.donor(), nowMillis))
                .min(failedLatelyLast(nowMillis)
                        .thenComparingInt(Offer::distance)
                        .thenComparingInt(offer -> busy.getOrDefault(offer.donor(), 0))
                        .thenComparingLong(Offer::first));
    }

    /**
     * The donor with the newest checkpoint of those that haven't failed lately, or else of those that have;
     * ORDER_INTERRUPTED when no donor has one at or after {@code indexMin} now.
     */
    Offer checkpointFrom(List<Offer> offers, long indexMin, long nowMillis) {
        return offers.stream()
                .filter(offer -> offer.checkpointIndex() >= Math.max(0, indexMin) && isRested(offer.donor(), nowMillis))
                .min(failedLatelyLast(nowMillis)
                        .thenComparing(
                                Comparator.comparingLong(Offer::checkpointIndex).reversed()))
                .orElseThrow(() -> new QuorateException(
                        ErrorCode.ORDER_INTERRUPTED,
                        "no other node offers a checkpoint at or after log index " + indexMin + " now: " + offers));
    }

    void begins(String donor) {
        busy.merge(donor, 1, Integer::sum);
    }

    void ends(String donor) {
        busy.merge(donor, -1, Integer::sum);
    }

    /** The donor broke off, or refused. */
    public void failed(String donor, long nowMillis) {
        failedAt.put(donor, nowMillis);
    }

    private boolean isRested(String donor, long nowMillis) {
        return !hasFailed(donor, nowMillis, REST_MILLIS);
    }

    private Comparator<Offer> failedLatelyLast(long nowMillis) {
        return Comparator.comparing(offer -> hasFailed(offer.donor(), nowMillis, LATELY_MILLIS));
    }

    private boolean hasFailed(String donor, long nowMillis, long withinMillis) {
        Long at = failedAt.get(donor);
        return at != null && nowMillis - at < withinMillis;
    }

    private static String held(List<Offer> all) {
        StringBuilder text = new StringBuilder();
        for (Offer offer : all) {
            text.append(text.length() == 0 ? "" : ", ")
                    .append(offer.donor())
                    .append(" holds ")
                    .append(offer.first())
                    .append(" to ")
                    .append(offer.last());
        }
        return text.toString();
    }
}
