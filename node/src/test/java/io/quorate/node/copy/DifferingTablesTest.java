// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.capture.DefinedTables;
import io.quorate.capture.DefinedTables.Schema;
import io.quorate.core.BinlogEvents;
import io.quorate.core.Certified;
import io.quorate.core.Difference;
import io.quorate.core.Gtid;
import io.quorate.core.KeyType;
import io.quorate.core.Keys;
import io.quorate.core.KeysBuilder;
import io.quorate.core.LogPosition;
import io.quorate.core.OrderedFirst;
import io.quorate.core.Payload;
import io.quorate.core.TableName;
import io.quorate.core.Verdict;
import io.quorate.core.WriteSet;
import io.quorate.core.WriteSet.Kind;
import io.quorate.core.WriteSetLog;
import io.quorate.core.binlog.TableMap;
import io.quorate.ist.CacheSettings;
import io.quorate.ist.WriteSetCache;
import io.quorate.node.copy.DifferingTables.NotByTables;
import io.quorate.sst.stream.Catalog;
import io.quorate.sst.stream.Omitted;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Which tables are copied or kept, and what of the order concerns the others. */
@Timeout(60)
class DifferingTablesTest {
    private static final UUID HERE = new UUID(0, 1);
    private static final UUID THERE = new UUID(0, 2);
    private static final TableName A = new TableName("s", "a");
    private static final TableName B = new TableName("s", "b");
    private static final TableName C = new TableName("s", "c");

    private final Map<Gtid, Set<TableName>> definitions = new HashMap<>();
    private final Set<Gtid> objects = new HashSet<>();
    private final Map<Gtid, Schema> schemas = new HashMap<>();

    /** Definitions under which they don't stay. */
    private final Set<Gtid> rowsGo = new HashSet<>();

    @TempDir
    private Path directory;

    private WriteSetCache log;

    @BeforeEach
    void open() {
        log = WriteSetCache.open(new CacheSettings(directory, new UUID(0, 9), 1 << 20, 1 << 20), 0);
    }

    @AfterEach
    void close() throws Exception {
        log.close();
    }

    private long rows(UUID source, long number, boolean passed, TableName... tables) throws Exception {
        ByteArrayOutputStream payload = new ByteArrayOutputStream();
        for (int i = 0; i < tables.length; i++) {
            payload.writeBytes(map(i + 1, tables[i]));
        }
        for (int i = 0; i < tables.length; i++) {
            payload.writeBytes(row(i + 1));
        }
        return add(new Gtid(source, number), Kind.ROWS, passed, payload.toByteArray());
    }

    /** @param named null when it may concern any table */
    private long definition(UUID source, long number, boolean passed, Set<TableName> named) throws Exception {
        definitions.put(new Gtid(source, number), named);
        return add(new Gtid(source, number), Kind.DDL, passed, new byte[] {1});
    }

    /** Of an account, a view or a stored program. */
    private long ofObject(UUID source, long number, boolean passed) throws Exception {
        objects.add(new Gtid(source, number));
        return definition(source, number, passed, Set.of());
    }

    private long ofDatabase(UUID source, long number, boolean passed, Schema schema) throws Exception {
        schemas.put(new Gtid(source, number), schema);
        return definition(source, number, passed, schema.dropped() ? null : Set.of());
    }

    private long ofTrigger(UUID source, long number) throws Exception {
        objects.add(new Gtid(source, number));
        return definition(source, number, true, null);
    }

    private long add(Gtid gtid, Kind kind, boolean passed, byte[] payload) throws Exception {
        KeysBuilder keys = new KeysBuilder();
        if (kind == Kind.DDL) {
            keys.add(100, KeyType.EXCLUSIVE);
        }
        return add(passed, new WriteSet(gtid, 0, 0, kind, keys.build(), payload));
    }

    private long add(boolean passed, WriteSet w) throws Exception {
        long seqno = log.last() + 1;
        Verdict verdict = passed ? Verdict.PASSED : Verdict.CONFLICT;
        log.append(List.of(new Certified(seqno, verdict, 0, 0, new LogPosition(1, seqno), true, w)));
        return seqno;
    }

    private static byte[] map(int id, TableName table) {
        ByteBuffer body = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);
        body.putInt(id).putShort((short) 0).putShort((short) 1);
        for (String name : List.of(table.schema(), table.table())) {
            body.put((byte) name.length())
                    .put(name.getBytes(StandardCharsets.US_ASCII))
                    .put((byte) 0);
        }
        body.put((byte) 1).put((byte) 3).put((byte) 0).put((byte) 0);
        return event(BinlogEvents.TABLE_MAP, body);
    }

    private static byte[] row(int id) {
        ByteBuffer body = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);
        body.putInt(id).putShort((short) 0).putShort((short) 1).putShort((short) 2);
        body.put((byte) 1).put((byte) 1).put((byte) 0).putInt(7);
        return event(BinlogEvents.WRITE_ROWS, body);
    }

    private static byte[] event(int type, ByteBuffer body) {
        int length = BinlogEvents.HEADER_BYTES + body.position();
        ByteBuffer event = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        event.putInt(0).put((byte) type).putInt(1).putInt(length).putInt(0).putShort((short) 0);
        return event.put(body.flip()).array();
    }

    private static Catalog.Table table(TableName name, String... references) {
        return new Catalog.Table(
                name.schema(),
                name.table(),
                "CREATE TABLE",
                List.of(),
                Stream.of(references)
                        .map(to ->
                                new Catalog.Clause("fk", "CONSTRAINT `fk` FOREIGN KEY (`x`) REFERENCES `" + to + "`"))
                        .toList(),
                "InnoDB",
                true);
    }

    private Set<TableName> find(Difference where, long position, Catalog.Table... donors) throws Exception {
        return both(where, position, donors).alone();
    }

    private DifferingTables.Found both(Difference where, long position, Catalog.Table... donors) throws Exception {
        Catalog catalog = new Catalog(
                new Omitted(List.of(), false, false, false, false, false),
                List.of(),
                List.of(),
                List.of(donors),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of());
        return new DifferingTables(
                        w -> definitions.get(w.gtid()),
                        w -> objects.contains(w.gtid()),
                        w -> schemas.get(w.gtid()),
                        log,
                        HERE)
                .find(where, position, log.last(), catalog);
    }

    @Test
    void theTablesOfWhatCouldNotBeAppliedAreCopied() throws Exception {
        rows(THERE, 1, true, C);
        long refused = rows(THERE, 2, true, A, B);
        rows(THERE, 3, true, C);
        assertThat(find(Difference.at(refused), 1)).containsExactlyInAnyOrder(A, B);
    }

    @Test
    void theTablesOfAnOwnLoserThatCouldNotBeUndoneAreCopied() throws Exception {
        rows(HERE, 5, false, A);
        assertThat(find(Difference.of(Set.of(new Gtid(HERE, 5))), 0)).containsExactly(A);
        assertThatThrownBy(() -> find(Difference.of(Set.of(new Gtid(HERE, 6))), 0))
                .isInstanceOf(NotByTables.class);
    }

    /** It was run, and found void only after the server had passed its place. */
    @Test
    void theTablesOfAVoidDefinitionAreCopiedThoughItIsBehindThePosition() throws Exception {
        long isVoid = definition(HERE, 1, true, Set.of(A));
        rows(THERE, 1, true, B);
        assertThat(find(Difference.at(isVoid), 2)).containsExactly(A);
    }

    @Test
    void tablesOfOwnDefinitionsThatFailedAreCopiedToo() throws Exception {
        long refused = rows(THERE, 1, true, A);
        definition(HERE, 1, false, Set.of(B));
        definition(THERE, 2, false, Set.of(C));
        assertThat(find(Difference.at(refused), 0)).containsExactlyInAnyOrder(A, B);
    }

    /** FLUSH PRIVILEGES, say. */
    @Test
    void whatDefinesNothingCostsNothing() throws Exception {
        long refused = rows(THERE, 1, true, A);
        add(false, new WriteSet(new Gtid(HERE, 1), 0, 0, Kind.DDL, Keys.NONE, new byte[] {1}));
        assertThat(find(Difference.at(refused), 0)).containsExactly(A);
    }

    @Test
    void whatDefinitionsToComeOrForeignKeysTieTogetherIsCopiedTogether() throws Exception {
        long refused = rows(THERE, 1, true, A);
        definition(THERE, 2, true, Set.of(A, B));
        TableName parent = new TableName("s", "parent");
        TableName loose = new TableName("s", "loose");
        assertThat(find(
                        Difference.at(refused),
                        0,
                        table(A),
                        table(B),
                        table(C, "b", "parent"),
                        table(parent),
                        table(loose)))
                .containsExactlyInAnyOrder(A, B, C, parent);
    }

    private long cascading(UUID source, long number, boolean passed, long lastSeen, TableName of, long... reached)
            throws Exception {
        KeysBuilder keys = new KeysBuilder();
        keys.add(Keys.CASCADES, KeyType.SHARED);
        for (long each : reached) {
            keys.add(each, KeyType.SHARED);
        }
        byte[] payload = ByteBuffer.allocate(map(1, of).length + row(1).length)
                .put(map(1, of))
                .put(row(1))
                .array();
        return add(passed, new WriteSet(new Gtid(source, number), lastSeen, 0, Kind.ROWS, keys.build(), payload));
    }

    /** The donor has no foreign key any more that would tie them together. */
    @Test
    void whatACascadeReachedIsCopiedThoughItsForeignKeyIsGone() throws Exception {
        Catalog.Table[] donors = {table(A), table(B), table(C)};
        definition(THERE, 1, true, Set.of(B));
        cascading(HERE, 5, false, 0, A, DefinedTables.key(B));
        Difference lost = Difference.of(Set.of(new Gtid(HERE, 5)));
        assertThat(find(lost, 0, donors)).containsExactlyInAnyOrder(A, B);
        assertThat(find(lost, 1, donors)).containsExactlyInAnyOrder(A, B);
        // Of another server, which would have cascaded here, too; and one that failed there, which never came here.
        cascading(THERE, 2, true, 2, A, DefinedTables.key(C));
        assertThat(find(lost, 1, donors)).containsExactlyInAnyOrder(A, B, C);
        assertThat(find(Difference.in(Set.of(B)), 1, donors)).containsExactly(B);
        cascading(THERE, 3, false, 2, B, DefinedTables.key(C));
        assertThat(find(Difference.in(Set.of(B)), 1, donors)).containsExactly(B);
    }

    @Test
    void whatACascadeReachedIsFoundByItsFormerName() throws Exception {
        definition(THERE, 1, true, Set.of(B, C));
        cascading(HERE, 5, false, 0, A, DefinedTables.key(B));
        Difference lost = Difference.of(Set.of(new Gtid(HERE, 5)));
        for (long position = 0; position <= 1; position++) {
            assertThat(find(lost, position, table(A), table(C)))
                    .as("after seqno %d", position)
                    .containsExactlyInAnyOrder(A, B, C);
        }
    }

    @Test
    void everythingIsCopiedWhereNothingTellsWhatACascadeReached() throws Exception {
        cascading(HERE, 5, false, 0, A, Keys.CASCADES_ANYWHERE);
        assertThatThrownBy(() -> find(Difference.of(Set.of(new Gtid(HERE, 5))), 0, table(A)))
                .isInstanceOf(NotByTables.class)
                .hasMessageContaining("may have cascaded");
        rows(THERE, 1, true, B);
        assertThat(find(Difference.in(Set.of(B)), 0, table(A), table(B))).containsExactly(B);
    }

    @Test
    void everythingIsCopiedWhereNobodyKnowsTheTables() throws Exception {
        long refused = rows(THERE, 1, true, A);
        assertThatThrownBy(() -> find(Difference.ANYWHERE, 0)).isInstanceOf(NotByTables.class);
        long account = definition(THERE, 2, true, Set.of());
        assertThatThrownBy(() -> find(Difference.at(account), 0)).isInstanceOf(NotByTables.class);
        definition(THERE, 3, true, null);
        assertThatThrownBy(() -> find(Difference.at(refused), 0)).isInstanceOf(NotByTables.class);
    }

    @Test
    void accountsViewsAndProgramsAreCopiedWithoutTables() throws Exception {
        long refused = ofObject(THERE, 1, true);
        rows(THERE, 2, true, A);
        assertThat(both(Difference.at(refused), 0)).isEqualTo(found(Set.of(), true));
        assertThatThrownBy(() -> find(Difference.at(refused), 0)).isInstanceOf(NotByTables.class);
        rows(THERE, 3, true, B);
        ofObject(HERE, 1, false);
        assertThat(both(Difference.at(3), 2))
                .as("one of this server's that has failed can't be taken back")
                .isEqualTo(found(Set.of(B), true));
    }

    @Test
    void aTriggerToComeIsCopiedAndAViewToComeIsMade() throws Exception {
        long refused = rows(THERE, 1, true, A);
        ofObject(THERE, 2, true);
        assertThat(both(Difference.at(refused), 0)).isEqualTo(found(Set.of(A), false));
        ofTrigger(THERE, 3);
        assertThat(both(Difference.at(refused), 0)).isEqualTo(found(Set.of(A), true));
    }

    private static DifferingTables.Found found(Set<TableName> tables, boolean objects) {
        return new DifferingTables.Found(tables, Set.of(), objects);
    }

    @Test
    void aDatabaseIsCopiedWithWhatHasItsCharacters() throws Exception {
        String name = A.schema();
        long refused = ofDatabase(THERE, 1, true, new Schema(name, false));
        definition(THERE, 2, true, Set.of(A));
        assertThat(both(Difference.at(refused), 0, table(A), table(B)))
                .isEqualTo(new DifferingTables.Found(Set.of(A), Set.of(name), true));
        assertThatThrownBy(() -> find(Difference.at(refused), 0)).isInstanceOf(NotByTables.class);
        ofDatabase(THERE, 3, true, new Schema("other", true));
        assertThat(both(Difference.at(refused), 0).schemas()).containsExactly(name);
        ofDatabase(THERE, 4, true, new Schema(name, true));
        assertThatThrownBy(() -> both(Difference.at(refused), 0))
                .as("its tables would be dropped after they were copied")
                .isInstanceOf(NotByTables.class);
        assertThatThrownBy(() -> both(Difference.in(Set.of(A)), 0)).isInstanceOf(NotByTables.class);
    }

    @Test
    void aDatabaseThatThisServerHasDroppedIsCopiedWithAllItsTables() throws Exception {
        rows(THERE, 1, true, C);
        ofDatabase(HERE, 1, false, new Schema(A.schema(), true));
        assertThat(both(Difference.at(1), 0, table(A), table(B), table(C)))
                .isEqualTo(new DifferingTables.Found(Set.of(A, B, C), Set.of(A.schema()), true));
    }

    /** As an online change of a schema makes and drops them; nobody could help a server beside it otherwise. */
    @Test
    void aTriggerIsCopiedWithItsTableWhereThatIsKnown() throws Exception {
        long refused = rows(THERE, 1, true, A);
        objects.add(new Gtid(THERE, 2));
        definition(THERE, 2, true, Set.of(B));
        assertThat(find(Difference.at(refused), 0)).containsExactly(A);
        objects.add(new Gtid(HERE, 1));
        definition(HERE, 1, false, Set.of(C));
        assertThat(find(Difference.at(refused), 0)).containsExactlyInAnyOrder(A, C);
    }

    // The record without these tables

    private List<WriteSet> without(long upTo) throws Exception {
        return read(LogWithoutTables.ofTables(
                log, Set.of(A), w -> definitions.get(w.gtid()), w -> objects.contains(w.gtid()), upTo));
    }

    private static List<WriteSet> read(WriteSetLog left) throws Exception {
        List<WriteSet> read = new ArrayList<>();
        try (WriteSetLog.Cursor cursor = left.read(1)) {
            for (Certified c; (c = cursor.next(Duration.ZERO)) != null; ) {
                assertThat(c.seqno()).isEqualTo(read.size() + 1);
                read.add(c.writeSet());
            }
        }
        return read;
    }

    @Test
    void rowsOfTheCopiedTablesAreCutOutUpToWhereTheyAreAndNotAfter() throws Exception {
        rows(THERE, 1, true, A, B, A);
        rows(THERE, 2, true, B);
        rows(THERE, 3, true, A);
        rows(THERE, 4, true, A);
        List<WriteSet> left = without(3);
        Payload ofB = left.get(0).payload();
        assertThat(TableMap.tables(ofB)).containsExactly(B);
        assertThat(ofB.size()).isEqualTo(map(2, B).length + row(2).length);
        assertThat(TableMap.tables(left.get(1).payload())).containsExactly(B);
        assertThat(left.get(2).payload().isEmpty()).isTrue();
        assertThat(TableMap.tables(left.get(3).payload())).containsExactly(A);
    }

    /** What it reached was copied, too, so whoever takes it back has nothing to fear. */
    @Test
    void whatIsCutOutDoesntCascadeAnyMore() throws Exception {
        cascading(HERE, 5, false, 0, A, DefinedTables.key(B));
        cascading(HERE, 6, false, 0, B, DefinedTables.key(C));
        List<WriteSet> left = without(2);
        assertThat(left).extracting(w -> w.keys().contains(Keys.CASCADES)).containsExactly(false, true);
        assertThat(left.get(0).keys().contains(DefinedTables.key(B))).isTrue();
    }

    @Test
    void theirDefinitionsAndTheVerdictsOnTheseAreNothing() throws Exception {
        long isVoid = definition(HERE, 1, true, Set.of(A));
        long other = definition(THERE, 1, true, Set.of(B));
        add(true, WriteSet.voids(isVoid, new long[0], 0));
        add(true, WriteSet.voids(other, new long[0], 0));
        definition(HERE, 2, false, Set.of(A));
        List<WriteSet> left = without(5);
        assertThat(left)
                .extracting(WriteSet::kind)
                .containsExactly(Kind.ROWS, Kind.DDL, Kind.ROWS, Kind.VOID, Kind.ROWS);
        assertThat(left.get(0).gtid()).isEqualTo(new Gtid(HERE, 1));
        assertThat(left.get(2).payload().isEmpty()).isTrue();
    }

    @Test
    void whereOnlyTheirDefinitionsAreKeptTheirRowsAreLeft() throws Exception {
        definition(HERE, 1, false, Set.of(A));
        rows(THERE, 1, true, A, B);
        List<WriteSet> left =
                read(LogWithoutTables.ofDefinitions(log, Map.of(A, Set.of("a")), w -> definitions.get(w.gtid()), 2));
        assertThat(left.get(0).kind()).isEqualTo(Kind.ROWS);
        assertThat(left.get(0).payload().isEmpty()).isTrue();
        assertThat(TableMap.tables(left.get(1).payload())).containsExactlyInAnyOrder(A, B);
    }

    // Whether its own definitions may stand

    private boolean mayStand(Difference where, long position) throws Exception {
        return new KeptDefinitions.Question(
                        Set.of(A, B),
                        HERE,
                        w -> definitions.get(w.gtid()),
                        w -> objects.contains(w.gtid()),
                        w -> !rowsGo.contains(w.gtid()))
                .answer(where, log, position, log.last());
    }

    @Test
    void ownDefinitionsThatKeepTheRowsMayStandBesideOthersThatFailed() throws Exception {
        long met = rows(THERE, 1, true, A);
        definition(THERE, 2, false, Set.of(A));
        definition(HERE, 1, false, Set.of(A));
        definition(THERE, 3, true, Set.of(C));
        ofTrigger(THERE, 4);
        assertThat(mayStand(Difference.at(met), 0)).isTrue();
        rowsGo.add(new Gtid(THERE, 2));
        assertThat(mayStand(Difference.at(met), 0)).isTrue();
        rowsGo.add(new Gtid(HERE, 1));
        assertThat(mayStand(Difference.at(met), 0)).isFalse();
    }

    @Test
    void ownDefinitionsMayNotStandWhereAnotherOneHasPassedThatIsNotHere() throws Exception {
        definition(THERE, 1, true, Set.of(A));
        long own = definition(HERE, 1, false, Set.of(A, B));
        assertThat(mayStand(Difference.at(own), 1)).as("it is here").isTrue();
        assertThat(mayStand(Difference.at(own), 0)).isFalse();
        definition(THERE, 2, true, null);
        assertThat(mayStand(Difference.at(own), 1)).as("it may be any").isFalse();
    }

    @Test
    void withoutOwnDefinitionsNothingIsKnownToBeRight() throws Exception {
        long met = rows(THERE, 1, true, A);
        definition(HERE, 1, false, Set.of(C));
        assertThat(mayStand(Difference.at(met), 0)).isFalse();
    }

    /** Its position may be beyond it, because it passed and turned out void. */
    @Test
    void aDefinitionThatIsVoidIsLookedForBeforeThePosition() throws Exception {
        long isVoid = definition(HERE, 1, true, Set.of(A));
        add(true, WriteSet.voids(isVoid, new long[0], 0));
        assertThat(mayStand(Difference.at(isVoid), 1)).isTrue();
        assertThat(mayStand(Difference.in(A), 1))
                .as("nothing says that there is one")
                .isFalse();
    }

    @Test
    void copiedObjectsAreNothingUpToWhereTheyAre() throws Exception {
        ofObject(THERE, 1, true);
        ofTrigger(THERE, 2);
        definition(THERE, 3, true, Set.of(B));
        ofObject(THERE, 4, true);
        assertThat(without(3)).extracting(WriteSet::kind).containsExactly(Kind.ROWS, Kind.ROWS, Kind.DDL, Kind.DDL);
    }

    /** A server that was away when somebody chose another one's tables. */
    @Test
    void tablesOfWhichAnotherServersWereChosenAreCopiedToo() throws Exception {
        long late = rows(THERE, 1, true, A);
        WriteSet choice = OrderedFirst.definition(0, 1, 0, 0, OrderedFirst.trust(Keys.NONE, THERE), new byte[] {1});
        definitions.put(choice.gtid(), Set.of(B));
        add(true, choice);
        assertThat(find(Difference.at(late), 0)).containsExactlyInAnyOrder(A, B);
    }
}
