// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.join;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.Certified;
import io.quorate.core.Difference;
import io.quorate.core.ErrorCode;
import io.quorate.core.Gtid;
import io.quorate.core.KeyType;
import io.quorate.core.Keys;
import io.quorate.core.LogPosition;
import io.quorate.core.OrderedFirst;
import io.quorate.core.Verdict;
import io.quorate.core.WriteSet;
import io.quorate.core.WriteSet.Kind;
import io.quorate.ist.CacheSettings;
import io.quorate.ist.WriteSetCache;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Which server is known to be the odd one, because its clients have defined a table anew before rows came late. */
@Timeout(60)
class RanAheadTest {
    private static final UUID HERE = new UUID(0, 1);
    private static final UUID THERE = new UUID(0, 2);
    private static final long TABLE = 100;
    private static final long OTHER_TABLE = 200;

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

    private long add(UUID source, Kind kind, long... keys) throws Exception {
        byte[] types = new byte[keys.length];
        Arrays.fill(types, (byte) (kind == Kind.DDL ? KeyType.EXCLUSIVE.ordinal() : KeyType.SHARED.ordinal()));
        long seqno = log.last() + 1;
        WriteSet w = new WriteSet(new Gtid(source, seqno), seqno - 1, 0, kind, new Keys(keys, types), new byte[0]);
        log.append(List.of(new Certified(seqno, Verdict.PASSED, 0, seqno - 1, new LogPosition(1, seqno), true, w)));
        return seqno;
    }

    private boolean ranAhead(long position, long late) throws Exception {
        return RanAhead.of(Difference.at(late), HERE, log, position, log.last());
    }

    @Test
    void aTableThatItsClientsDefinedAnewBeforeARowCameIsItsOwnDoing() throws Exception {
        long late = add(THERE, Kind.ROWS, TABLE, 7);
        add(THERE, Kind.ROWS, OTHER_TABLE);
        add(HERE, Kind.DDL, Keys.KEEPS_COLUMNS, TABLE);
        assertThat(ranAhead(0, late)).isTrue();
    }

    @Test
    void neitherAnotherTableNorAnotherServerNorAnEarlierDefinitionExplainsIt() throws Exception {
        long before = add(HERE, Kind.DDL, TABLE);
        long late = add(THERE, Kind.ROWS, TABLE, 7);
        add(HERE, Kind.DDL, OTHER_TABLE);
        add(THERE, Kind.DDL, TABLE);
        assertThat(ranAhead(before, late)).isFalse();
        assertThat(ranAhead(0, late)).isFalse();
        assertThat(RanAhead.of(Difference.ANYWHERE, HERE, log, 0, log.last())).isFalse();
    }

    @Test
    void whoIsKnownToBeOddNeedsOneDonorAndAnybodyElseHalfOfTheServers() throws Exception {
        CopyRule rule = new CopyRule(ErrorCode.SCHEMA_MISMATCH, 5, List.of("n1"), 3);
        assertThat(rule.obstacle(server(false, false))).contains("only n1 of 3");
        assertThat(rule.obstacle(server(false, true))).isNull();
        assertThat(rule.obstacle(server(true, false))).isNull();
        assertThat(new CopyRule(ErrorCode.SCHEMA_MISMATCH, 5, List.of(), 3).obstacle(server(true, true)))
                .contains("waiting for a node");
    }

    private static CopyRule.Server server(boolean voidDefinition, boolean ranAhead) {
        return new CopyRule.Server() {
            @Override
            public boolean hasVoidDefinition() {
                return voidDefinition;
            }

            @Override
            public boolean hasRunAhead() {
                return ranAhead;
            }
        };
    }

    /** Whoever lacks rows needs no more holders of them than the one that was chosen. */
    @Test
    void whereAnotherServerWasChosenItIsTheOddOne() throws Exception {
        long late = add(THERE, Kind.ROWS, TABLE, 7);
        choose(HERE);
        assertThat(ranAhead(0, late)).isFalse();
        choose(THERE);
        assertThat(ranAhead(0, late)).isTrue();
    }

    private void choose(UUID server) throws Exception {
        long seqno = log.last() + 1;
        Keys tables = new Keys(new long[] {TABLE}, new byte[] {(byte) KeyType.EXCLUSIVE.ordinal()});
        WriteSet choice =
                OrderedFirst.definition(seqno, 1, seqno - 1, 0, OrderedFirst.trust(tables, server), new byte[0]);
        log.append(
                List.of(new Certified(seqno, Verdict.PASSED, 0, seqno - 1, new LogPosition(1, seqno), true, choice)));
    }
}
