// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import io.quorate.core.LogPosition;
import io.quorate.core.TableName;
import io.quorate.node.question.Question;
import io.quorate.node.question.StreamedQuestion;
import io.quorate.sst.audit.AuditedTable.Stretch;
import io.quorate.sst.stream.Catalog;
import io.quorate.sst.stream.Moment;
import io.quorate.sst.stream.Omitted;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What a node asks the donor of its full copy: {@link ClonedSource} answers for MySQL's CLONE, {@link StreamSource} for
 * method {@code stream}.
 */
public sealed interface CopyQuestion<A> extends Question<A> {
    /** Enough for a server with a hundred thousand tables. */
    int CATALOG_BYTES_MAX = 512 << 20;
    /** A moment may name very many transactions that were undone. */
    int HEAD_BYTES_MAX = 16 << 20;

    /** Prepare your server for CLONE, and say where it is. */
    @Question.Name("copy.clone")
    record CloneFrom() implements CopyQuestion<CloneSource> {}

    /**
     * The server is ready to be copied.
     *
     * @param host where another node's server can reach it
     * @param server its UUID
     * @param version its version of MySQL
     * @param reserved GTIDs that are executed there though no transaction there has them
     * @param bytes size of its tablespaces' files, except temporary ones
     */
    record CloneSource(String host, int port, UUID server, String version, String reserved, long bytes) {}

    /**
     * Make an account with which the node that asks can copy your server.
     *
     * @param tls whether it has to be used with TLS
     */
    @Question.Name("copy.clone-account")
    record CloneWith(boolean tls) implements CopyQuestion<CloneLogin> {}

    /** @param tls whether it has to be used with TLS; the donor may want that, too */
    record CloneLogin(String user, String password, boolean tls) {
        /** Without the password. */
        @Override
        public String toString() {
            return user;
        }
    }

    /** The copy has ended, one way or the other: the node that asks needs that account no more. */
    @Question.Name("copy.clone-over")
    record CloneOver() implements CopyQuestion<CloneForgotten> {}

    /** @param joiner whose account there is none of any more */
    record CloneForgotten(String joiner) {}

    /**
     * Asks for everything except the rows, and except which indexes of tables the server has generated.
     *
     * @param after the donor's server has to hold everything up to this seqno
     */
    @Question.Name("copy.catalog")
    @Question.AnswerBytesMax(CATALOG_BYTES_MAX)
    record CatalogAfter(long after, Omitted omitted) implements CopyQuestion<Contents> {}

    /** Asks for these tables, with the indexes that the server has generated: that takes some statements each. */
    @Question.Name("copy.tables")
    @Question.AnswerBytesMax(CATALOG_BYTES_MAX)
    record TablesAfter(long after, List<TableName> tables) implements CopyQuestion<Contents> {}

    /**
     * @param log the position of that moment in the order's log
     * @param ordered by this seqno the order has decided on everything that may have been committed at that moment
     * @param bytes size of the tables' files
     */
    record Contents(Moment moment, LogPosition log, long ordered, Catalog catalog, long bytes) {}

    /**
     * Asks for rows. They come as {@link io.quorate.sst.stream.RowWriter} writes them, table by table, in a zstd
     * stream. After them comes {@code i64 seqno}: by this seqno the order has decided on every transaction whose
     * changes the rows may hold.
     */
    sealed interface Rows extends CopyQuestion<Head>, StreamedQuestion<Head> {
        /** The donor's server has to hold everything up to this seqno. */
        long after();

        List<TableName> tables();
    }

    /**
     * Asks for the rows of one stretch of a table.
     *
     * @param bytes 0 when the end of the stretch is known; otherwise the donor chooses the end, so that the stretch
     *     holds about this many bytes
     */
    @Question.Name("copy.rows-of-stretch")
    @Question.AnswerBytesMax(HEAD_BYTES_MAX)
    record RowsOfStretch(long after, TableName table, Stretch stretch, long bytes) implements Rows {
        @Override
        public List<TableName> tables() {
            return List.of(table);
        }
    }

    /** Asks for all rows of these tables, read at a moment at which nobody writes to them. */
    @Question.Name("copy.rows-of-tables")
    @Question.AnswerBytesMax(HEAD_BYTES_MAX)
    record RowsOfTables(long after, List<TableName> tables) implements Rows {}

    /** Which of these tables does your server not have? Asked before anything is done. */
    @Question.Name("copy.lacked")
    record LackedOf(List<TableName> tables) implements CopyQuestion<Lacked> {}

    record Lacked(List<TableName> tables) {}

    /** @param to where the stretch ends; null for the end of the table */
    record Head(Moment moment, @Nullable String to) {}
}
