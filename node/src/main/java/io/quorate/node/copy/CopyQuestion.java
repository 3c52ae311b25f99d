// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import io.quorate.core.LogPosition;
import io.quorate.node.question.Question;
import io.quorate.node.question.StreamedQuestion;
import io.quorate.sst.audit.AuditedTable.Stretch;
import io.quorate.sst.stream.Catalog;
import io.quorate.sst.stream.Moment;
import io.quorate.sst.stream.Omitted;
import io.quorate.sst.stream.Unit;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What a node asks one whose server it copies: {@link CopySource} answers for MySQL's CLONE, {@link StreamSource} for
 * method stream.
 */
public sealed interface CopyQuestion<A> extends Question<A> {
    /** Have your server ready for CLONE, and say where it is. */
    @Question.Name("copy.clone")
    record CloneFrom() implements CopyQuestion<CloneSource> {}

    /**
     * The server is ready to be copied.
     *
     * @param host where it is, for another node's server
     * @param server its UUID
     * @param version of MySQL
     * @param reserved GTIDs that are executed there and that no transaction there has
     * @param bytes of its tables with their indexes, as it estimates them
     */
    record CloneSource(String host, int port, UUID server, String version, String reserved, long bytes) {}

    /**
     * All but the rows.
     *
     * @param after of a server that holds everything up to this seqno
     */
    @Question.Name("copy.catalog")
    record CatalogAfter(long after, Omitted omitted) implements CopyQuestion<Contents> {}

    /**
     * @param log where in the order's log that moment is
     * @param ordered by this seqno the order has decided on all that it may hold
     * @param bytes of the files of the tables
     */
    record Contents(Moment moment, LogPosition log, long ordered, Catalog catalog, long bytes) {}

    /**
     * Rows, as {@link io.quorate.sst.stream.RowWriter} writes them, table by table, in a zstd stream. After them comes
     * {@code i64 seqno}: by it the order has decided on all that they may hold.
     */
    sealed interface Rows extends CopyQuestion<Head>, StreamedQuestion<Head> {
        /** Of a server that holds everything up to this seqno. */
        long after();

        List<Unit.Name> tables();
    }

    /**
     * Those of a stretch of a table.
     *
     * @param bytes 0 when the stretch's end is known; else the donor is to find it, so that about so many are in it
     */
    @Question.Name("copy.rows-of-stretch")
    record RowsOfStretch(long after, Unit.Name table, Stretch stretch, long bytes) implements Rows {
        @Override
        public List<Unit.Name> tables() {
            return List.of(table);
        }
    }

    /** Those of whole tables, at a moment at which nobody writes to them. */
    @Question.Name("copy.rows-of-tables")
    record RowsOfTables(long after, List<Unit.Name> tables) implements Rows {}

    /** @param to where the stretch ends, null for the table's end */
    record Head(Moment moment, @Nullable String to) {}
}
