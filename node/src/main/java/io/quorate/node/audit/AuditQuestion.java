// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.audit;

import io.quorate.core.FromOutside;
import io.quorate.node.question.Question;
import io.quorate.sst.audit.AuditedTable;
import io.quorate.sst.audit.AuditedTable.Stretch;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the node that carries out an audit asks every node, itself included. {@link AuditSource} answers. */
sealed interface AuditQuestion<A> extends Question<A> {
    /** The definitions of all tables, as texts. */
    int TABLES_BYTES_MAX = 512 << 20;
    /** Identities and hashes of the rows of one stretch; whoever answers gives no more than half of that. */
    int ROWS_BYTES_MAX = 32 << 20;
    /** One row, as large as a packet of the server, and in two forms. */
    int ROW_BYTES_MAX = 512 << 20;

    /** A table's name in its two parts. */
    record TableName(String schema, String name) {
        /** The parts of {@code schema.table}. */
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
     * Which tables does your server have, and how are they defined?
     *
     * @param after the server has to hold everything up to this seqno
     */
    @Question.Name("audit.tables")
    @Question.AnswerBytesMax(TABLES_BYTES_MAX)
    record Tables(long after) implements AuditQuestion<Versions> {}

    /** By which seqno does the order have everything that clients of your server have committed by now? */
    @Question.Name("audit.settle")
    record Settle() implements AuditQuestion<Settled> {}

    record Settled(long seqno) {}

    /**
     * Where does the stretch end that begins at {@code from}?
     *
     * @param from as in {@link Stretch}; null at the beginning of the table
     */
    @Question.Name("audit.next")
    record Next(TableName table, @Nullable String from) implements AuditQuestion<End> {}

    /**
     * @param to the end of the stretch; null at the end of the table
     * @param rows about how many rows the table has
     * @param unreadable why this table isn't audited; null when it is
     */
    record End(@Nullable String to, long rows, @Nullable String unreadable) {
        public End {
            unreadable = FromOutside.oneLine(unreadable);
        }
    }

    /** Which sum do the rows of this stretch have? */
    @Question.Name("audit.sum")
    record SumOf(TableName table, Stretch stretch) implements AuditQuestion<AuditedTable.Sum> {}

    /**
     * Which rows does this stretch have, one by one?
     *
     * @param after the server has to hold everything up to this seqno
     */
    @Question.Name("audit.rows")
    @Question.AnswerBytesMax(ROWS_BYTES_MAX)
    record Rows(TableName table, Stretch stretch, long after) implements AuditQuestion<Versions> {}

    /**
     * The versions of tables or rows at one node.
     *
     * @param versions for tables, the digest of the definition by {@code schema.table}; for rows, by the row's
     *     identity, the hash or, in a table without a key, how often the row is there
     */
    record Versions(Map<String, String> versions) {}

    /**
     * What is the whole row, in a form in which another server can write it?
     *
     * @param after the server has to hold everything up to this seqno
     */
    @Question.Name("audit.row")
    @Question.AnswerBytesMax(ROW_BYTES_MAX)
    record WholeRow(TableName table, String identity, long after) implements AuditQuestion<FoundRow> {}

    /** @param row null when there is no such row */
    record FoundRow(AuditedTable.@Nullable Row row) {}

    /**
     * What do these rows look like, for people? The answer has only the beginnings of long values, and can't be written
     * to a server.
     */
    @Question.Name("audit.shown")
    @Question.AnswerBytesMax(ROWS_BYTES_MAX)
    record Shown(TableName table, List<String> identities) implements AuditQuestion<ShownRows> {}

    /** @param rows those of the rows that exist, by identity */
    record ShownRows(Map<String, AuditedTable.Row> rows) {}

    /**
     * Repair a row of your server.
     *
     * @param wrong what the audit found at this node, and what is right
     * @param trusted the node whose row is right
     * @param apply whether to repair it, or only to say what would be done
     */
    @Question.Name("audit.repair")
    record Repair(TableName table, Wrong wrong, String trusted, boolean apply) implements AuditQuestion<Repaired> {}

    /**
     * A row that differs from what it should be.
     *
     * @param found its version at this node: the hash or, in a table without a key, how often the row is there; null
     *     when it isn't there
     * @param right the version that it should have
     */
    record Wrong(
            String identity,
            @Nullable String found,
            @Nullable String right) {}

    /** @param outcome a sentence, which begins with "repaired" when the row was repaired */
    record Repaired(String outcome) {
        public Repaired {
            outcome = FromOutside.oneLine(outcome);
        }
    }
}
