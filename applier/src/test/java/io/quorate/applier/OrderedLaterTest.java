// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.applier.DefinitionTexts.Likeness;
import io.quorate.core.Certified;
import io.quorate.core.Gtid;
import io.quorate.core.KeyType;
import io.quorate.core.Keys;
import io.quorate.core.KeysBuilder;
import io.quorate.core.LogPosition;
import io.quorate.core.OwnWrites.Doomed;
import io.quorate.core.OwnWrites.Losers;
import io.quorate.core.TableName;
import io.quorate.core.Verdict;
import io.quorate.core.WriteSet;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class OrderedLaterTest {
    private static final UUID HERE = new UUID(0, 1);
    private static final UUID OTHER = new UUID(0, 2);
    private static final long T = 1000;
    private static final long U = 2000;
    private static final long DATABASE = 3000;

    /** A definition's payload is its name here. */
    private final OrderedLater later = new OrderedLater(HERE, new DefinitionTexts() {
        @Override
        public Set<TableName> tables(WriteSet definition) {
            return Set.of();
        }

        @Override
        public Likeness likeness(WriteSet loser, WriteSet definition) {
            return Arrays.equals(loser.payload().toArray(), definition.payload().toArray())
                    ? Likeness.SAME
                    : Likeness.NONE;
        }
    });

    private final List<WriteSet> own = new ArrayList<>();
    private final Deque<Certified> order = new ArrayDeque<>();
    private long seqno = 10;

    @Test
    void whatComesAgainStaysUntilThen() throws Exception {
        ran(1, "create t", keys(T, KeyType.EXCLUSIVE));
        ran(2, "alter t", keys(T, KeyType.EXCLUSIVE));
        ran(3, "index t", keys(T, KeyType.UPDATE));
        passed("create u", keys(U, KeyType.EXCLUSIVE));
        passed("alter t", keys(T, KeyType.EXCLUSIVE));
        rows(T);
        passed("index t", keys(T, KeyType.UPDATE));
        assertThat(among()).containsExactly(2L, 3L);
        assertThat(order).isEmpty();
    }

    @Test
    void theyAreHiddenFromGroupsBeforeTheirPlaces() throws Exception {
        ran(1, "create t", keys(T, KeyType.EXCLUSIVE));
        ran(2, "alter t", keys(T, KeyType.EXCLUSIVE));
        ran(3, "index t", keys(T, KeyType.UPDATE));
        passed("alter t", keys(T, KeyType.EXCLUSIVE));
        passed("index t", keys(T, KeyType.UPDATE));
        among();
        assertThat(without(9)).containsExactly(1L);
        assertThat(without(10)).containsExactly(2L, 1L);
        assertThat(without(11)).containsExactly(3L, 2L, 1L);
    }

    @Test
    void allOrNone() throws Exception {
        ran(1, "create t", keys(T, KeyType.EXCLUSIVE));
        ran(2, "alter t", keys(T, KeyType.EXCLUSIVE));
        ran(3, "index t", keys(T, KeyType.UPDATE));
        passed("alter t", keys(T, KeyType.EXCLUSIVE));
        assertThat(among()).isEmpty();
        assertThat(without(10)).containsExactly(3L, 2L, 1L);
    }

    /** Columns would have another sequence than everywhere else. */
    @Test
    void notInAnotherSequence() throws Exception {
        ran(1, "create t", keys(T, KeyType.EXCLUSIVE));
        ran(2, "add a", keys(T, KeyType.UPDATE));
        ran(3, "add b", keys(T, KeyType.UPDATE));
        passed("add b", keys(T, KeyType.UPDATE));
        passed("add a", keys(T, KeyType.UPDATE));
        assertThat(among()).isEmpty();
    }

    @Test
    void norIfTheyWereRunBeforeWhatIsTheSameNow() throws Exception {
        ran(1, "add a", keys(T, KeyType.UPDATE));
        ran(2, "add b", keys(T, KeyType.UPDATE));
        passed("add a", keys(T, KeyType.UPDATE));
        assertThat(among(2)).isEmpty();
    }

    @Test
    void anythingElseOfTheTableIsInTheWay() throws Exception {
        ran(1, "create t", keys(T, KeyType.EXCLUSIVE));
        ran(2, "alter t", keys(T, KeyType.EXCLUSIVE));
        passed("something", keys(T, KeyType.UPDATE));
        passed("alter t", keys(T, KeyType.EXCLUSIVE));
        assertThat(among()).isEmpty();
    }

    /** A row's NULL is stored as something else in a column that is NOT NULL by then. */
    @Test
    void rowsAreInTheWayOfWhatTheyMayNotFit() throws Exception {
        ran(1, "create t", keys(T, KeyType.EXCLUSIVE));
        ran(2, "alter t", keys(T, KeyType.EXCLUSIVE));
        rows(T);
        passed("alter t", keys(T, KeyType.EXCLUSIVE));
        assertThat(among()).isEmpty();
    }

    @Test
    void whatIsMadeInOneDatabaseIsNotInTheWayButItsEndIs() throws Exception {
        Keys inDatabase = inDatabase(T);
        Keys beside = inDatabase(U);
        ran(1, "create t", keys(T, KeyType.EXCLUSIVE));
        ran(2, "alter t", inDatabase);
        passed("create u", beside);
        passed("alter t", inDatabase);
        assertThat(among()).containsExactly(2L);
        seqno = 20;
        ran(3, "index t", inDatabase);
        passed("drop database", keys(DATABASE, KeyType.EXCLUSIVE));
        passed("index t", inDatabase);
        assertThat(among()).isEmpty();
    }

    @Test
    void itsOwnPlaceIsTooLate() throws Exception {
        ran(1, "create t", keys(T, KeyType.EXCLUSIVE));
        ran(2, "alter t", keys(T, KeyType.EXCLUSIVE));
        order.add(new Certified(seqno, Verdict.CONFLICT, 9, 9, new LogPosition(1, seqno), true, own.get(1)));
        seqno++;
        passed("alter t", keys(T, KeyType.EXCLUSIVE));
        assertThat(among()).isEmpty();
    }

    private void ran(long number, String name, Keys keys) {
        own.add(new WriteSet(new Gtid(HERE, number), 1, 1, WriteSet.Kind.DDL, keys, name.getBytes()));
    }

    private void passed(String name, Keys keys) {
        order.add(Records.certified(
                seqno,
                seqno - 1,
                new WriteSet(new Gtid(OTHER, seqno), 1, 1, WriteSet.Kind.DDL, keys, name.getBytes())));
        seqno++;
    }

    private void rows(long table) {
        Keys keys = keys(table, KeyType.SHARED);
        WriteSet rows = new WriteSet(new Gtid(OTHER, seqno), 1, 1, WriteSet.Kind.ROWS, keys, new byte[10]);
        order.add(Records.certified(seqno, seqno - 1, rows));
        seqno++;
    }

    private static Keys keys(long hash, KeyType type) {
        KeysBuilder keys = new KeysBuilder();
        keys.add(hash, type);
        return keys.build();
    }

    private static Keys inDatabase(long table) {
        KeysBuilder keys = new KeysBuilder();
        keys.add(table, KeyType.EXCLUSIVE);
        keys.add(DATABASE, KeyType.REFERENCE);
        return keys.build();
    }

    private List<Doomed> losers() {
        List<Doomed> losers = new ArrayList<>();
        own.forEach(w -> losers.add(0, new Doomed(w.gtid().number(), 0, w)));
        return losers;
    }

    private List<Long> among() throws Exception {
        return among(1);
    }

    /** @param alike the number of the one that is the same as what is to be run */
    private List<Long> among(long alike) throws Exception {
        List<Doomed> losers = losers();
        List<Doomed> same = losers.stream().filter(l -> l.number() == alike).toList();
        return later
                .among(
                        losers,
                        losers.stream().map(Doomed::writeSet).toList(),
                        same,
                        seqno - order.size() - 1,
                        order::poll)
                .stream()
                .map(Doomed::number)
                .toList();
    }

    /** The losers of a group that ends there. */
    private List<Long> without(long last) {
        return later.without(new Losers(losers(), true), List.of(Records.ddl(last))).doomed().stream()
                .map(Doomed::number)
                .toList();
    }
}
