// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.audit;

import io.quorate.node.question.Question;
import io.quorate.sst.audit.AuditedTable;
import io.quorate.sst.audit.AuditedTable.Stretch;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the node that audits asks each node, itself included. {@link AuditSource} answers. */
sealed interface AuditQuestion<A> extends Question<A> {
    /** A table's name in its two parts. */
    record TableName(String schema, String name) {
        /** Of {@code schema.table}. */
        static TableName of(String text) {
            int dot = text.indexOf('.');
            return new TableName(text.substring(0, dot), text.substring(dot + 1));
        }

        @Override
        public String toString() {
            return schema + "." + name;
        }
    }

    /**
     * Which tables are there, and how are they defined?
     *
     * @param after of a server that holds everything up to this seqno
     */
    @Question.Name("audit.tables")
    record Tables(long after) implements AuditQuestion<Versions> {}

    /** Where in the order is everything that clients of this server have committed by now? */
    @Question.Name("audit.settle")
    record Settle() implements AuditQuestion<Settled> {}

    record Settled(long seqno) {}

    /**
     * Where does a stretch end that begins there?
     *
     * @param from as {@link Stretch} has it, null at the table's beginning
     */
    @Question.Name("audit.next")
    record Next(TableName table, @Nullable String from) implements AuditQuestion<End> {}

    /**
     * @param to null at the table's end
     * @param rows the table has, about
     * @param unreadable why this table isn't audited, null when it is
     */
    record End(@Nullable String to, long rows, @Nullable String unreadable) {}

    /** The sum of a stretch's rows. */
    @Question.Name("audit.sum")
    record SumOf(TableName table, Stretch stretch) implements AuditQuestion<AuditedTable.Sum> {}

    /**
     * A stretch's rows one by one.
     *
     * @param after of a server that holds everything up to this seqno
     */
    @Question.Name("audit.rows")
    record Rows(TableName table, Stretch stretch, long after) implements AuditQuestion<Versions> {}

    /**
     * What a node has.
     *
     * @param versions of tables the digest of the definition, by {@code schema.table}; of rows the hash, of a bag how
     *     often the row is there, by the row's identity
     */
    record Versions(Map<String, String> versions) {}

    /**
     * A row as a whole, as another server can make it.
     *
     * @param after of a server that holds everything up to this seqno
     */
    @Question.Name("audit.row")
    record WholeRow(TableName table, String identity, long after) implements AuditQuestion<FoundRow> {}

    /** @param row null when it isn't there */
    record FoundRow(AuditedTable.@Nullable Row row) {}

    /** Rows for people: with the beginnings of long values, and nothing that could be written. */
    @Question.Name("audit.shown")
    record Shown(TableName table, List<String> identities) implements AuditQuestion<ShownRows> {}

    /** @param rows by identity, those that are there */
    record ShownRows(Map<String, AuditedTable.Row> rows) {}

    /**
     * Put a row right.
     *
     * @param wrong what was found here and what is right
     * @param trusted the node whose row is right
     * @param apply do it, instead of saying what would be done
     */
    @Question.Name("audit.repair")
    record Repair(TableName table, Wrong wrong, String trusted, boolean apply) implements AuditQuestion<Repaired> {}

    /**
     * A row that isn't as it should be.
     *
     * @param found its version here: the hash, of a bag how often it is there, null when it isn't
     * @param right what it should be
     */
    record Wrong(
            String identity,
            @Nullable String found,
            @Nullable String right) {}

    /** @param outcome a sentence; it begins with "repaired" when the row was */
    record Repaired(String outcome) {}
}
