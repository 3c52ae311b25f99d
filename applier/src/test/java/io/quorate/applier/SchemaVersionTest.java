// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.TableName;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SchemaVersionTest {
    private final SchemaVersion schema = new SchemaVersion();

    @Test
    void saysWhichTablesHaveChangedSince() {
        assertThat(schema.since(0)).isNull();
        schema.changed(Set.of(new TableName("d", "A")));
        schema.changed(Set.of(new TableName("d", "b")));
        schema.changed(Set.of());
        assertThat(schema.since(0).tables())
                .containsExactlyInAnyOrder(new TableName("d", "a"), new TableName("d", "b"));
        assertThat(schema.since(1).tables()).containsExactly(new TableName("d", "b"));
        assertThat(schema.since(2)).isEqualTo(new SchemaVersion.Changes(3, Set.of()));
        assertThat(schema.since(3)).isNull();
    }

    @Test
    void anyMayHaveIfOneStatementIsNotKnown() {
        schema.changed(null);
        schema.changed(Set.of(new TableName("d", "b")));
        assertThat(schema.since(0).tables()).isNull();
        assertThat(schema.since(1).tables()).hasSize(1);
    }

    @Test
    void orIfTheyAreTooMany() {
        for (int i = 0; i < 300; i++) {
            schema.changed(Set.of(new TableName("d", "t" + i)));
        }
        assertThat(schema.since(0).tables()).isNull();
        assertThat(schema.since(44).tables()).hasSize(256);
        assertThat(schema.since(43).tables()).isNull();
    }
}
