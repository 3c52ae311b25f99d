// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class ProposalTest {
    private static final UUID A = new UUID(1, 1);

    private static WriteSet writeSet(UUID origin, long number) {
        return new WriteSet(new Gtid(origin, number), 0, 0, WriteSet.Kind.ROWS, Keys.NONE, new byte[0]);
    }

    private static Proposal of(long previous, long last, long... numbers) {
        List<WriteSet> writeSets =
                Arrays.stream(numbers).mapToObj(n -> writeSet(A, n)).toList();
        return new Proposal(A, previous, last, 0, new long[0], writeSets);
    }

    @Test
    void takesARisingStretchOfOneOrigin() {
        assertThat(of(3, 9, 4, 7, 9).writeSets()).hasSize(3);
        assertThat(of(3, 9).writeSets()).isEmpty();
        assertThat(of(3, 3).last()).isEqualTo(3);
    }

    @Test
    void refusesWhatDoesNotBelong() {
        for (long[] numbers : new long[][] {{3}, {10}, {5, 5}, {6, 5}}) {
            assertThatThrownBy(() -> of(3, 9, numbers))
                    .as(Arrays.toString(numbers))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> of(3, 2)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Proposal(A, 3, 9, 0, new long[0], List.of(writeSet(new UUID(2, 2), 5))))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Gtid(A, 0)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void keepsItsOwnListOfWriteSets() {
        List<WriteSet> given = new ArrayList<>(List.of(writeSet(A, 4)));
        Proposal p = new Proposal(A, 3, 9, 0, new long[0], given);
        given.clear();
        assertThat(p.writeSets()).hasSize(1);
    }
}
