// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.capture.KnownTables.Present;
import io.quorate.core.TableName;
import java.util.Set;
import org.junit.jupiter.api.Test;

class KnownTablesTest {
    private static final TableName T = new TableName("d", "t");
    private static final TableName U = new TableName("d", "u");

    private Present present = new Present(Set.of(T), 10);
    private final KnownTables known = new KnownTables(() -> present);

    @Test
    void nothingIsSaidOfWhatWasDroppedBeforeItWasAsked() {
        assertThat(known.of("d", 10)).isNull();
        assertThat(known.of("d", 11)).containsExactly(T);
    }

    @Test
    void whatIsMadeIsAmongThem() {
        defined("CREATE TABLE d.u (a INT)");
        assertThat(known.of("d", 11)).containsExactlyInAnyOrder(T, U);
        defined("RENAME TABLE e.v TO d.v");
        assertThat(known.of("d", 12)).contains(new TableName("d", "v"));
        assertThat(known.of("D", 12)).contains(T);
    }

    @Test
    void aDatabaseThatIsMadeAnewHasNone() {
        defined("CREATE TABLE d.u (a INT)");
        known.defined(Statement.parse("DROP DATABASE IF EXISTS d", "", 0), 12);
        assertThat(known.of("d", 13)).isEmpty();
    }

    /** Another server's statements that made them again before it was asked may not be in this server's binlog. */
    @Test
    void oneThatWasDroppedBeforeItWasAskedHasWhatTheServerSays() {
        for (long number : new long[] {0, 9, 10}) {
            known.defined(Statement.parse("DROP DATABASE d", "", 0), number);
            assertThat(known.of("d", 13)).containsExactly(T);
        }
    }

    @Test
    void theServerIsAskedAgainAfterWhatMayHaveMadeAny() {
        defined("CREATE TABLE d.u (a INT)");
        present = null;
        defined("IMPORT TABLE FROM 'x'");
        assertThat(known.of("d", 12)).isNull();
        present = new Present(Set.of(T, new TableName("d", "x")), 14);
        defined("CREATE TABLE e.y (a INT)");
        assertThat(known.of("d", 14)).isNull();
        assertThat(known.of("d", 15)).containsExactlyInAnyOrder(T, U, new TableName("d", "x"));
    }

    private void defined(String sql) {
        known.defined(Statement.parse(sql, "", 0), 11);
    }
}
