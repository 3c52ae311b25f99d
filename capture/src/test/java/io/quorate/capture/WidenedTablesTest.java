// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.capture.Statement.Scope;
import io.quorate.core.TableName;
import java.util.List;
import org.junit.jupiter.api.Test;

class WidenedTablesTest {
    private static final List<TableName> T = List.of(new TableName("s", "t"));
    private static final List<TableName> U = List.of(new TableName("s", "u"));

    private final WidenedTables widened = new WidenedTables();

    @Test
    void afterAnAddedColumnAnotherDefinitionCantChangePlacesWithRows() {
        assertThat(widened.scope(Scope.TABLES, T)).isEqualTo(Scope.TABLES);
        assertThat(widened.scope(Scope.ADDED_COLUMNS, T)).isEqualTo(Scope.ADDED_COLUMNS);
        assertThat(widened.scope(Scope.TABLES, T)).isEqualTo(Scope.ROWS);
        assertThat(widened.scope(Scope.TABLES, U)).isEqualTo(Scope.TABLES);
    }

    @Test
    void moreColumnsAndIndexesGoOn() {
        assertThat(widened.scope(Scope.ADDED_COLUMNS, T)).isEqualTo(Scope.ADDED_COLUMNS);
        assertThat(widened.scope(Scope.ADDED_COLUMNS, T)).isEqualTo(Scope.ADDED_COLUMNS);
        assertThat(widened.scope(Scope.ADDED_INDEXES, T)).isEqualTo(Scope.ADDED_INDEXES);
        assertThat(widened.scope(Scope.ROWS, T)).isEqualTo(Scope.ROWS);
    }

    @Test
    void aTableThatIsMadeAnewHasNotGotThem() {
        assertThat(widened.scope(Scope.ADDED_COLUMNS, T)).isEqualTo(Scope.ADDED_COLUMNS);
        widened.made(T.get(0));
        assertThat(widened.scope(Scope.TABLES, T)).isEqualTo(Scope.TABLES);
    }
}
