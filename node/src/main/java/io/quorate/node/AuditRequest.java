// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.core.ErrorCode;
import io.quorate.core.PeerStreams;
import io.quorate.core.QuorateException;
import io.quorate.sst.audit.AuditedTable.Row;
import io.quorate.sst.audit.AuditedTable.Stretch;
import io.quorate.sst.audit.AuditedTable.Sum;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * What the node that audits asks each node, itself included: a byte and JSON, answered by JSON.
 *
 * @param after the answer is to be of a server that holds everything up to this seqno
 * @param rows of ROW their identities, of REPAIR what was found and what is right
 * @param trusted of REPAIR, the node whose rows are right
 * @param apply of REPAIR: do it, instead of saying what would be done
 */
record AuditRequest(
        What what,
        String schema,
        String table,
        Stretch stretch,
        long after,
        List<Wrong> rows,
        String trusted,
        boolean apply) {
    private static final byte MARK = 66;

    enum What {
        /** The tables, with their definitions: {@link Tables}. */
        TABLES,
        /** Where in the order everything is that clients of this server have committed by now: {@link Settled}. */
        SETTLE,
        /** Where a stretch that begins after another one ends: {@link Next}. */
        NEXT,
        /** Of a stretch: {@link Sum}. */
        SUM,
        /** Of a stretch, one by one: {@link Rows}. */
        ROWS,
        /** Single rows as a whole: {@link Contents}. */
        ROW,
        /** Single rows for people: {@link Contents} with the beginnings of long values, and nothing written. */
        SHOWN,
        /** {@link Repaired}. */
        REPAIR
    }

    /**
     * A row that isn't as it should be.
     *
     * @param found its version here: the hash, of a bag how often it is there, null when it isn't
     * @param right what it should be
     */
    record Wrong(String identity, String found, String right) {}

    record Tables(Map<String, String> definitions) {}

    record Settled(long seqno) {}

    /**
     * @param to null at the table's end
     * @param rows the table has, about
     * @param unreadable why this table isn't audited, null when it is
     */
    record Next(String to, long rows, String unreadable) {}

    record Rows(Map<String, String> versions) {}

    /** @param rows by identity, those that are there */
    record Contents(Map<String, Row> rows) {}

    /** @param outcomes by identity, a sentence each; those that begin with "repaired" were */
    record Repaired(Map<String, String> outcomes) {}

    static AuditRequest of(What what) {
        return new AuditRequest(what, null, null, null, 0, List.of(), null, false);
    }

    /** @param table as {@code schema.table}, null for one that is about all of them */
    static AuditRequest of(What what, String table, Stretch stretch, long after) {
        return new AuditRequest(what, schema(table), name(table), stretch, after, List.of(), null, false);
    }

    /** Asks for a row to be put right, or what would be done. */
    static AuditRequest repair(String table, Wrong wrong, String trusted, boolean apply) {
        return new AuditRequest(What.REPAIR, schema(table), name(table), null, 0, List.of(wrong), trusted, apply);
    }

    /** Of {@code schema.table}. */
    static String schema(String table) {
        return table == null ? null : table.substring(0, table.indexOf('.'));
    }

    /** Of {@code schema.table}. */
    static String name(String table) {
        return table == null ? null : table.substring(table.indexOf('.') + 1);
    }

    /** Asks for a row as a whole. */
    static AuditRequest row(String schema, String table, String identity, long after) {
        return new AuditRequest(
                What.ROW, schema, table, null, after, List.of(new Wrong(identity, null, null)), null, false);
    }

    /** Asks for rows as people see them. */
    static AuditRequest shown(String table, List<String> identities) {
        List<Wrong> rows =
                identities.stream().map(i -> new Wrong(i, null, null)).toList();
        return new AuditRequest(What.SHOWN, schema(table), name(table), null, 0, rows, null, false);
    }

    static boolean isOne(byte[] bytes) {
        return bytes.length > 0 && bytes[0] == MARK;
    }

    static AuditRequest read(byte[] bytes, JsonMapper json) {
        try {
            return json.readValue(bytes, 1, bytes.length - 1, AuditRequest.class);
        } catch (JacksonException e) {
            throw new QuorateException(ErrorCode.MALFORMED_MESSAGE, "a request of an audit in an unknown form", e);
        }
    }

    /**
     * @throws QuorateException as the peer refuses
     * @throws IOException when it can't be reached
     */
    <T> T ask(PeerStreams peers, String node, JsonMapper json, Class<T> type) throws IOException {
        ByteArrayOutputStream request = new ByteArrayOutputStream();
        request.write(MARK);
        request.writeBytes(json.writeValueAsBytes(this));
        try (InputStream in = peers.open(node, request.toByteArray())) {
            return json.readValue(in.readAllBytes(), type);
        } catch (JacksonException e) {
            throw new QuorateException(ErrorCode.MALFORMED_MESSAGE, node + " answered in an unknown form", e);
        }
    }
}
