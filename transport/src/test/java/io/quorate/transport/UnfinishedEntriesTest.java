// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.transport.UnfinishedEntries.Unfinished;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class UnfinishedEntriesTest {
    private static final long PATIENCE = 100;

    private final List<String> givenUp = new ArrayList<>();
    private long applied = 50;
    private long committed = 50;
    private final UnfinishedEntries entries = new UnfinishedEntries(
            PATIENCE,
            () -> applied,
            () -> committed,
            frame -> givenUp.add(EntryFrame.decode(ByteBuffer.wrap(frame)).submitter()));

    private static Unfinished entry(String submitter, int next) {
        return new Unfinished(submitter, 7, 3, next);
    }

    private void look(long now, Unfinished... unfinished) {
        entries.look(true, List.of(unfinished), now);
    }

    @Test
    void givesUpWhatNothingMoreComesOf() {
        look(0, entry("a", 2), entry("b", 1));
        look(60, entry("a", 2), entry("b", 2));
        look(100, entry("a", 2), entry("b", 2));
        assertThat(givenUp).isEmpty();
        look(101, entry("a", 2), entry("b", 2));
        assertThat(givenUp).containsExactly("a");
        look(102, entry("b", 2));
        look(160, entry("b", 3));
        look(260, entry("b", 3));
        look(261, entry("b", 3));
        assertThat(givenUp).containsExactly("a", "b");
    }

    @Test
    void doesSoAgainWhenItWasInVain() {
        look(0, entry("a", 2));
        look(100, entry("a", 2));
        look(101, entry("a", 2));
        look(150, entry("a", 2));
        assertThat(givenUp).hasSize(1);
        look(201, entry("a", 2));
        look(202, entry("a", 2));
        assertThat(givenUp).hasSize(2);
    }

    @Test
    void appliesFirstWhatIsCommitted() {
        committed = 60;
        look(0, entry("a", 2));
        look(100, entry("a", 2));
        look(101, entry("a", 2));
        committed = 99;
        look(150, entry("a", 2));
        assertThat(givenUp).isEmpty();
        applied = 60;
        look(151, entry("a", 2));
        assertThat(givenUp).containsExactly("a");
    }

    @Test
    void isPatientAnewAsALeader() {
        look(0, entry("a", 2));
        entries.look(false, List.of(entry("a", 2)), 100);
        look(101, entry("a", 2));
        look(200, entry("a", 2));
        assertThat(givenUp).isEmpty();
    }
}
