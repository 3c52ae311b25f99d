// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.sst.stream.Catalog.Clause;
import io.quorate.sst.stream.Catalog.Table;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which tables are read in pieces, which as a whole, and which of these at one moment. */
class UnitTest {
    private static Table table(String schema, String name, boolean keyed, String... foreignKeys) {
        List<Clause> clauses = java.util.stream.Stream.of(foreignKeys)
                .map(definition -> new Clause("c", definition))
                .toList();
        return new Table(schema, name, "", List.of(), clauses, "InnoDB", keyed);
    }

    private static List<String> units(Table... tables) {
        Catalog catalog = new Catalog(
                Omitted.NOTHING,
                List.of(),
                List.of(),
                List.of(tables),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of());
        return Unit.of(catalog).stream()
                .map(unit -> (unit.whole() ? "whole " : "pieces ") + unit.tables())
                .toList();
    }

    @Test
    void aTableWithAKeyComesInPiecesAndOneWithoutAsAWhole() {
        assertThat(units(table("a", "keyed", true), table("a", "bag", false)))
                .containsExactly("whole [a.bag]", "pieces [a.keyed]");
    }

    @Test
    void whatCascadesIsReadAtOneMomentAcrossSchemasAndChains() {
        assertThat(units(
                        table("a", "parent", true),
                        table(
                                "b",
                                "child",
                                true,
                                "CONSTRAINT `c` FOREIGN KEY (`p`) REFERENCES `a`.`parent` (`id`) ON DELETE CASCADE"),
                        table(
                                "b",
                                "grand``child",
                                true,
                                "CONSTRAINT `c` FOREIGN KEY (`p`) REFERENCES `child` (`id`) ON UPDATE SET NULL"),
                        table(
                                "b",
                                "other",
                                true,
                                "CONSTRAINT `c` FOREIGN KEY (`p`) REFERENCES `child` (`id`) ON DELETE RESTRICT")))
                .containsExactly("whole [a.parent, b.child, b.grand``child]", "pieces [b.other]");
    }

    @Test
    void aTableThatCascadesIntoItselfIsReadAsAWhole() {
        assertThat(units(table(
                        "a",
                        "tree",
                        true,
                        "CONSTRAINT `c` FOREIGN KEY (`up`) REFERENCES `tree` (`id`) ON DELETE CASCADE")))
                .containsExactly("whole [a.tree]");
    }

    @Test
    void namesAreTakenApartAsTheServerQuotesThem() {
        assertThat(units(
                        table("a", "odd ``name`", true),
                        table(
                                "a",
                                "child",
                                true,
                                "CONSTRAINT `c` FOREIGN KEY (`p`) REFERENCES `odd ````name``` (`id`) ON"
                                        + " DELETE CASCADE")))
                .containsExactly("whole [a.child, a.odd ``name`]");
    }
}
