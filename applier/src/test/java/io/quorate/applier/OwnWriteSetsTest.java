// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.Certified;
import io.quorate.core.Gtid;
import io.quorate.core.KeyType;
import io.quorate.core.KeysBuilder;
import io.quorate.core.LogPosition;
import io.quorate.core.OwnWrites;
import io.quorate.core.Verdict;
import io.quorate.core.WriteSet;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class OwnWriteSetsTest {
    private static final UUID SERVER = new UUID(0, 3);

    private static WriteSet writeSet(long number, long lastSeen) {
        KeysBuilder keys = new KeysBuilder();
        keys.add(77, KeyType.UPDATE);
        return new WriteSet(new Gtid(SERVER, number), lastSeen, 0, WriteSet.Kind.ROWS, keys.build(), new byte[] {1});
    }

    private static OwnWrites afterFailure(TakenBack before) {
        OwnWrites register = OwnWriteSets.beforeRepair(SERVER, before, 40);
        Certified failed = new Certified(30, Verdict.CONFLICT, 25, 0, new LogPosition(1, 9), true, writeSet(45, 20));
        register.ordered(List.of(failed), 45, 20);
        return register;
    }

    @Test
    void whatWasCommittedBeforeACrashOnTopOfAFailureSaysSo() {
        assertThat(afterFailure(TakenBack.NONE).captured(writeSet(47, 20)).builtOn())
                .containsExactly(45);
    }

    @Test
    void whatHadSeenTheFailureUndoneDoesNot() {
        assertThat(afterFailure(TakenBack.NONE).captured(writeSet(47, 30)).builtOn())
                .isEmpty();
    }

    @Test
    void nothingIsBuiltOnWhatWasTakenBackBefore() {
        assertThat(afterFailure(new TakenBack(40, 46))
                        .captured(writeSet(47, 20))
                        .builtOn())
                .isEmpty();
    }
}
