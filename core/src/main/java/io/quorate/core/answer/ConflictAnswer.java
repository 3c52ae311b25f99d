// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.answer;

import java.util.List;
import java.util.Map;

/**
 * {@code /actuator/conflicts/SEQNO}: everything known of a transaction that lost, and of the one it lost against.
 *
 * @param seqno the loser's place in the order
 * @param verdict why: {@code CONFLICT}, {@code TOO_OLD}, {@code BUILT_ON_FAILED}, {@code NOT_REPEATABLE} or
 *     {@code VOID}
 * @param met what both touched, in clear; empty when the rows don't show it
 * @param undone whether the loser was undone on the node asked, for people
 * @param loser the transaction that failed; undone on its own node, never seen on another
 * @param winner the one it lost against, or the failed or void one it was built on; null when that is no longer known
 */
public record ConflictAnswer(
        long seqno, String verdict, List<Met> met, String undone, Transaction loser, Transaction winner) {
    public ConflictAnswer {
        verdict = LeftOut.orEmpty(verdict);
        met = LeftOut.orEmpty(met);
        undone = LeftOut.orEmpty(undone);
    }

    /**
     * Something that both touched.
     *
     * @param table schema and name
     * @param key the index; {@code FOREIGN KEY} when one referenced the row that the other wrote, {@code ROW} in a
     *     table without keys, {@code TABLE} for all of it; {@code values} when it is only inferred from equal values
     *     that both wrote, because the server could not be asked
     * @param values columns and what they hold, as the loser wrote them; null for NULL
     */
    public record Met(String table, String key, Map<String, String> values) {}

    /**
     * @param server the UUID of the server it was committed on
     * @param committed when, by that server's clock
     * @param session that server's number of the client's connection
     * @param account of that connection; null when it is another node's, or gone
     * @param rowCount how many rows it changed
     * @param rows the first of them
     * @param statement of DDL, else null
     */
    public record Transaction(
            long seqno,
            String server,
            String gtid,
            String committed,
            long session,
            String account,
            long rowCount,
            List<Row> rows,
            String statement) {
        public Transaction {
            server = LeftOut.orEmpty(server);
            gtid = LeftOut.orEmpty(gtid);
            committed = LeftOut.orEmpty(committed);
            rows = LeftOut.orEmpty(rows);
        }
    }

    /** A row as it was and as it became, values by column; null where there was none. A value is null for NULL. */
    public record Row(String table, Map<String, String> before, Map<String, String> after) {}
}
