// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.ErrorCode;
import io.quorate.core.LogPosition;
import io.quorate.core.QuorateException;
import io.quorate.ist.IncrementalTransfer.Offer;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class HistoryCheckTest {
    private static final UUID LIFE = new UUID(1, 2);
    private static final LogPosition NOTHING = LogPosition.START;

    @TempDir
    Path directory;

    private final Records history = new Records(11, 100);
    private final Records another = new Records(12, 100);
    private final Map<String, WriteSetCache> donors = new TreeMap<>();
    private WriteSetCache own;
    private String away = "";

    private WriteSetCache cache(String name, Records records, long from, long to) throws IOException {
        WriteSetCache cache = WriteSetCache.open(new CacheSettings(directory.resolve(name), LIFE, 1 << 20, 1 << 30), 0);
        if (from > 1) {
            cache.reset(from);
        }
        if (to >= from) {
            cache.append(records.range(from, to));
        }
        return cache;
    }

    private HistoryCheck of(Records records, long from, long to) throws IOException {
        own = cache("own", records, from, to);
        return new HistoryCheck(own, this::open, LIFE);
    }

    private void donor(String name, Records records, long from, long to) throws IOException {
        donors.put(name, cache(name, records, from, to));
    }

    private InputStream open(String peer, byte[] request) throws IOException {
        if (peer.equals(away)) {
            throw new IOException("away");
        }
        ByteArrayOutputStream answer = new ByteArrayOutputStream();
        new Donor(donors.get(peer), CheckpointStore.open(directory.resolve(peer + ".checkpoints")), LIFE)
                .serve("own", request, answer);
        return new ByteArrayInputStream(answer.toByteArray());
    }

    private List<Offer> offers() {
        return donors.entrySet().stream()
                .map(d -> new Offer(
                        d.getKey(), 0, d.getValue().first(), d.getValue().last(), 0, -1))
                .toList();
    }

    private static void requireRefused(ErrorCode code, String why, ThrowingCall call) {
        assertThatThrownBy(call::run)
                .isInstanceOfSatisfying(
                        QuorateException.class, e -> assertThat(e.code()).isEqualTo(code))
                .hasMessageContaining(why);
    }

    private interface ThrowingCall {
        void run() throws IOException;
    }

    @AfterEach
    void close() throws IOException {
        for (WriteSetCache each : donors.values()) {
            each.close();
        }
        own.close();
    }

    @Test
    void aBeginningOfTheOthersHistoryIsTheirs() throws IOException {
        donor("n1", history, 1, 30);
        HistoryCheck check = of(history, 1, 20);
        assertThatCode(() -> check.require(offers(), 15, history.at(15).position(), 0))
                .doesNotThrowAnyException();
        assertThatCode(() -> check.require(offers(), 20, NOTHING, 0))
                .as("what the cache has tells")
                .doesNotThrowAnyException();
    }

    @Test
    void theLastRecordDecides() throws IOException {
        donor("n1", history, 1, 30);
        HistoryCheck check = of(another, 1, 20);
        requireRefused(ErrorCode.COPY_NEEDED, "this node holds seqno 20", () -> check.require(offers(), 0, NOTHING, 0));
    }

    @Test
    void whereTheServerIsFurtherThanTheCacheItsPositionDecidesToo() throws IOException {
        donor("n1", history, 1, 30);
        HistoryCheck check = of(history, 1, 20);
        check.require(offers(), 25, history.at(25).position(), 0);
        requireRefused(
                ErrorCode.COPY_NEEDED,
                "the server's seqno 25 was ordered at",
                () -> check.require(offers(), 25, new LogPosition(1, 30), 0));
    }

    @Test
    void withoutARecordThePositionDecidesAlone() throws IOException {
        donor("n1", history, 1, 30);
        HistoryCheck check = of(history, 21, 20);
        check.require(offers(), 0, NOTHING, 0);
        check.require(offers(), 20, history.at(20).position(), 0);
        requireRefused(ErrorCode.COPY_NEEDED, "seqno 20", () -> check.require(offers(), 20, new LogPosition(1, 25), 0));
    }

    @Test
    void anAnswerThatEndsEarlySaysWho() throws IOException {
        donor("n1", history, 1, 30);
        own = cache("own", another, 1, 20);
        HistoryCheck check = new HistoryCheck(
                own,
                (peer, request) -> {
                    byte[] answer = open(peer, request).readAllBytes();
                    return new ByteArrayInputStream(answer, 0, answer.length - 1);
                },
                LIFE);
        assertThatThrownBy(() -> check.require(offers(), 0, NOTHING, 0))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("n1 broke off");
    }

    @Test
    void whoHoldsNothingHasNothingToShow() throws IOException {
        HistoryCheck check = of(history, 1, 0);
        assertThatCode(() -> check.require(List.of(), 0, NOTHING, 0)).doesNotThrowAnyException();
    }

    @Test
    void whatNobodyThereHoldsCannotBeCompared() throws IOException {
        donor("n1", history, 25, 30);
        HistoryCheck check = of(history, 1, 20);
        requireRefused(ErrorCode.CACHE_PASSED, "seqno 20", () -> check.require(offers(), 0, NOTHING, 0));
        requireRefused(ErrorCode.CACHE_PASSED, "seqno 20", () -> check.require(List.of(), 0, NOTHING, 0));
    }

    @Test
    void aLongerHistoryIsAnotherOneOnlyWhenTheOthersHasNotMovedForAWhile() throws IOException {
        donor("n1", history, 1, 18);
        HistoryCheck check = of(history, 1, 20);
        requireRefused(
                ErrorCode.ORDER_INTERRUPTED,
                "is that of the others: it goes to seqno 20, that of the others to 18",
                () -> check.require(offers(), 0, NOTHING, 100));
        requireRefused(ErrorCode.ORDER_INTERRUPTED, "to 18", () -> check.require(offers(), 0, NOTHING, 5_000));
        donors.get("n1").append(List.of(history.at(19)));
        requireRefused(ErrorCode.ORDER_INTERRUPTED, "to 19", () -> check.require(offers(), 0, NOTHING, 6_000));
        requireRefused(ErrorCode.COPY_NEEDED, "to 19", () -> check.require(offers(), 0, NOTHING, 11_000));
        donors.get("n1").append(List.of(history.at(20)));
        check.require(offers(), 0, NOTHING, 12_000);
    }

    @Test
    void theSameGoesForAServerThatIsFurtherThanTheCache() throws IOException {
        donor("n1", history, 1, 22);
        HistoryCheck check = of(history, 1, 20);
        LogPosition at = history.at(25).position();
        requireRefused(ErrorCode.ORDER_INTERRUPTED, "seqno 25", () -> check.require(offers(), 25, at, 0));
        requireRefused(ErrorCode.ORDER_INTERRUPTED, "seqno 25", () -> check.require(offers(), 25, at, 4_000));
        requireRefused(ErrorCode.COPY_NEEDED, "seqno 25", () -> check.require(offers(), 25, at, 5_000));
    }

    @Test
    void whereOneBreaksOffAnotherIsAsked() throws IOException {
        donor("n1", history, 1, 30);
        donor("n2", history, 1, 30);
        HistoryCheck check = of(history, 1, 20);
        away = "n1";
        assertThatThrownBy(() -> check.require(offers(), 0, NOTHING, 0)).isInstanceOf(IOException.class);
        assertThatCode(() -> check.require(offers(), 0, NOTHING, 1)).doesNotThrowAnyException();
    }
}
