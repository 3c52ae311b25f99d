// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.BinlogEvents;
import io.quorate.core.Certified;
import io.quorate.core.Difference;
import io.quorate.core.ErrorCode;
import io.quorate.core.Gtid;
import io.quorate.core.OwnWrites.Doomed;
import io.quorate.core.Payload;
import io.quorate.core.QuorateException;
import io.quorate.core.binlog.RowSettings;
import io.quorate.core.binlog.TableMap;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Collectors;

/** Turns a server's refusal that ends the applier into a code, with the writeset and the server's message. */
final class ApplyErrors {
    private static final int STATEMENT_SHOWN_MAX = 300;
    private static final int NAMES_MAX = 10;

    private ApplyErrors() {}

    /** @param losers of this server, which were being undone */
    static QuorateException undo(UUID server, List<Doomed> losers, Certified winner, SQLException e) {
        ErrorCode code =
                switch (SqlErrors.of(e)) {
                    case MISMATCH -> ErrorCode.UNDO_MISMATCH;
                    case SCHEMA, REFUSED -> ErrorCode.UNDO_IMPOSSIBLE;
                    default -> ofServer(e);
                };
        return new QuorateException(
                code,
                "undoing " + names(server, losers) + ", which lost against seqno " + winner.seqno() + " ("
                        + winner.writeSet().gtid() + "), failed: " + describe(e),
                e,
                difference(server, losers));
    }

    /** @param e says how a table is defined otherwise than when the losers were written */
    static QuorateException undo(UUID server, List<Doomed> losers, QuorateException e) {
        return new QuorateException(
                ErrorCode.UNDO_IMPOSSIBLE,
                "undoing " + names(server, losers) + " failed: " + e.detail(),
                e,
                difference(server, losers));
    }

    private static Difference difference(UUID server, List<Doomed> losers) {
        return Difference.of(
                losers.stream().map(loser -> new Gtid(server, loser.number())).collect(Collectors.toSet()));
    }

    static QuorateException apply(Certified writeSet, SQLException e) {
        ErrorCode code =
                switch (SqlErrors.of(e)) {
                    case MISMATCH, REFUSED -> ErrorCode.APPLY_MISMATCH;
                    case SCHEMA -> SqlErrors.isMissing(e) ? ErrorCode.TABLE_MISSING : ErrorCode.SCHEMA_MISMATCH;
                    default -> ofServer(e);
                };
        return failed(code, writeSet, e);
    }

    /** A definition that others have. */
    static QuorateException refused(Certified definition, SQLException e) {
        return failed(ErrorCode.DEFINITION_REFUSED, definition, e);
    }

    /** In what is no single writeset's. */
    static QuorateException failed(SQLException e) {
        return new QuorateException(ofServer(e), describe(e), e);
    }

    /** What has nothing to do with what the server holds. */
    private static ErrorCode ofServer(SQLException e) {
        return switch (SqlErrors.of(e)) {
            case DENIED -> ErrorCode.RIGHT_LACKING;
            case UNABLE -> ErrorCode.SERVER_UNABLE;
            default -> ErrorCode.APPLY_FAILED;
        };
    }

    private static QuorateException failed(ErrorCode code, Certified writeSet, SQLException e) {
        return new QuorateException(
                code,
                "writeset " + writeSet.seqno() + " (" + writeSet.writeSet().gtid() + ", "
                        + what(writeSet.writeSet().payload()) + ") failed: " + describe(e),
                e,
                Difference.at(writeSet.seqno()));
    }

    /** The GTIDs of some of them. */
    static String names(UUID server, List<Doomed> losers) {
        String some = losers.stream()
                .limit(NAMES_MAX)
                .map(loser -> new Gtid(server, loser.number()).toString())
                .collect(Collectors.joining(", "));
        return some + (losers.size() > NAMES_MAX ? " and " + (losers.size() - NAMES_MAX) + " more" : "");
    }

    /** The tables of a payload, or the beginning of its statement. */
    static String what(Payload payload) {
        Set<String> tables = new TreeSet<>();
        for (Payload.Events event = payload.events(); event.next(); ) {
            int type = event.type();
            if (type == BinlogEvents.QUERY && !RowSettings.are(event)) {
                String text = QueryEvent.parse(event.bytes(), event.offset()).text();
                return text.length() > STATEMENT_SHOWN_MAX ? text.substring(0, STATEMENT_SHOWN_MAX) + "..." : text;
            }
            if (type == BinlogEvents.TABLE_MAP) {
                TableMap map = TableMap.read(event);
                tables.add(map.schema + "." + map.table);
            }
        }
        return "tables " + String.join(", ", tables);
    }

    static String describe(SQLException e) {
        return "error " + e.getErrorCode() + " (" + e.getSQLState() + ") " + e.getMessage();
    }
}
