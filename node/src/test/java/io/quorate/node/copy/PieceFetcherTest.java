// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.core.TableName;
import io.quorate.node.copy.PieceFetcher.DonorsBehind;
import io.quorate.node.member.MemberReport;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PieceFetcherTest {
    private static final List<TableName> A = List.of(new TableName("s", "a"));
    private static final List<TableName> B = List.of(new TableName("s", "b"));

    private static MemberReport report(String node, String state, long applied, List<TableName> notGiven) {
        return new MemberReport(
                node, "d", 1, "", null, "h:1", state, 99, applied, 0, 0, 1, 99, 0, -1, 3, 99, 0, null, false, 0L, 0L,
                notGiven, null, null, false, null, null, null, null, null);
    }

    private static MemberReport synced(String node) {
        return report(node, "SYNCED", 50, null);
    }

    private static MemberReport waiting(String node, List<TableName> notGiven) {
        return report(node, "JOINER", 0, notGiven);
    }

    /** For a copy of A that begins at seqno 40. */
    private static String chosen(Set<String> behind, String before, MemberReport... present) {
        return PieceFetcher.choose(List.of(present), "", 40, A, before, behind);
    }

    @Test
    void aSyncedServerComesFirst() {
        assertThat(chosen(Set.of(), "n2", waiting("n2", B), synced("n3"))).isEqualTo("n3");
    }

    @Test
    void amongThoseThatWaitTheSameOneIsAskedUntilItIsFoundBehind() {
        MemberReport[] both = {waiting("n2", B), waiting("n3", B)};
        assertThat(chosen(Set.of(), "", both)).isEqualTo("n2");
        assertThat(chosen(Set.of(), "n3", both)).isEqualTo("n3");
        assertThat(chosen(Set.of("n2"), "n2", both)).isEqualTo("n3");
    }

    @Test
    void theCopyBeginsAnewOnceAllThatWaitAreBehind() {
        assertThatThrownBy(() -> chosen(Set.of("n2", "n3"), "n2", waiting("n2", B), waiting("n3", B)))
                .isInstanceOf(DonorsBehind.class);
        assertThatThrownBy(() -> chosen(Set.of("n2"), "n2", waiting("n2", B), waiting("n3", A)))
                .as("n3 lacks it itself")
                .isInstanceOf(DonorsBehind.class);
        assertThat(chosen(Set.of("n2"), "n2", synced("n2")))
                .as("it has its own copy by now")
                .isEqualTo("n2");
    }

    @Test
    void whereNobodyIsThereItWaits() {
        assertThatThrownBy(() -> chosen(Set.of("n2"), "n2"))
                .isInstanceOfSatisfying(
                        QuorateException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.COPY_NO_DONOR));
    }
}
