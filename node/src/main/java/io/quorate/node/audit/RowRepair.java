// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.audit;

import io.quorate.certification.OrderedStream;
import io.quorate.core.ColumnMask;
import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.node.audit.AuditQuestion.Repair;
import io.quorate.node.audit.AuditQuestion.TableName;
import io.quorate.node.audit.AuditQuestion.WholeRow;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.question.Questions;
import io.quorate.node.server.ServerAccess;
import io.quorate.sst.audit.AuditedTable;
import io.quorate.sst.audit.AuditedTable.Row;
import io.quorate.sst.audit.StoredColumns;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;

/**
 * Repairs rows of this node's server that an audit found wrong, so that they become like those of a trusted node. Each
 * row is repaired in a transaction of its own, which isn't written to the binlog because the other nodes have the row
 * already. The transaction locks the row and checks that it is still as the audit found it. Then the trusted node reads
 * its own row, once its server holds everything that is ordered by now; that row has to be as the audit found it, too.
 * So no writeset touches the row in between, and later writesets find it as they expect it.
 */
final class RowRepair {
    private static final Logger log = LoggerFactory.getLogger(RowRepair.class);
    private static final String JOURNAL = "repairs.jsonl";

    private final NodeProperties properties;
    private final ColumnMask mask;
    private final ServerAccess access;
    private final OrderedStream stream;
    private final Questions questions;
    private final JsonMapper json;

    /**
     * A line of the journal.
     *
     * @param at the time, by this node's clock
     * @param found,put the row before and after; null when it wasn't or isn't there
     */
    record Entry(
            String at,
            String table,
            String identity,
            Map<String, String> found,
            Map<String, String> put,
            String trusted) {}

    RowRepair(
            NodeProperties properties,
            ServerAccess access,
            OrderedStream stream,
            Questions questions,
            JsonMapper json) {
        this.properties = properties;
        this.mask = properties.conflicts().mask();
        this.access = access;
        this.stream = stream;
        this.questions = questions;
        this.json = json;
    }

    /** @return what became of the row, as a sentence */
    String run(AuditedTable table, Repair asked) throws SQLException {
        try (Connection server = access.connectAlone(AuditSource.ANSWERS_WITHIN)) {
            AuditedTable.prepare(server);
            List<String> triggers = table.triggers(server);
            if (!triggers.isEmpty()) {
                throw new QuorateException(
                        ErrorCode.AUDIT_REFUSED,
                        "rows of " + asked.table() + " can't be put right while it has triggers, which would run: "
                                + triggers);
            }
            try (Statement statement = server.createStatement()) {
                // Without the checks nothing cascades: the rows of other tables are repaired by themselves.
                statement.execute("SET SESSION sql_log_bin = 0, foreign_key_checks = 0, innodb_lock_wait_timeout = 5");
            }
            server.setAutoCommit(false);
            return one(server, table, asked);
        }
    }

    private String one(Connection server, AuditedTable table, Repair asked) throws SQLException {
        String identity = asked.wrong().identity();
        try {
            Row here = table.row(server, identity, true);
            if (!Objects.equals(version(here), asked.wrong().found())) {
                return "left alone: the row is another one than the audit found; audit the table again";
            }
            Row right = trusted(asked);
            if (!Objects.equals(version(right), asked.wrong().right())) {
                return "left alone: the row of " + asked.trusted()
                        + " is another one than the audit found; audit the table again";
            }
            RowChange change = RowChange.between(table.hasKey(), here, right);
            if (!asked.apply()) {
                return "would be " + change.name();
            }
            journal(new Entry(
                    Instant.now().toString(),
                    asked.table().toString(),
                    identity,
                    masked(asked.table(), here),
                    masked(asked.table(), right),
                    asked.trusted()));
            if (!table.hasKey() || !sameColumns(table, here, right)) {
                carryOut(change, server, table, identity, right);
            }
            if (right != null && !table.stored().isEmpty()) {
                requireStored(server, table, identity, right);
            }
            server.commit();
            log.warn("row {} of {} was {}, as {} has it", identity, asked.table(), change.name(), asked.trusted());
            return "repaired: " + change.name();
        } catch (SQLException e) {
            return "left alone: the server says " + e.getErrorCode() + ", " + e.getMessage();
        } catch (IOException e) {
            return "left alone: " + asked.trusted() + " can't be asked: " + e.getMessage();
        } catch (QuorateException e) {
            return "left alone: " + e.getMessage();
        } finally {
            server.rollback();
        }
    }

    private static String version(Row row) {
        return row == null ? null : row.version();
    }

    /** The trusted node's row, read when its server holds everything that this one may hold. */
    private Row trusted(Repair asked) throws IOException {
        WholeRow question = new WholeRow(asked.table(), asked.wrong().identity(), stream.lastOrdered());
        return questions.ask(asked.trusted(), question).row();
    }

    private static void carryOut(RowChange change, Connection server, AuditedTable table, String identity, Row right)
            throws SQLException {
        if (change.deleted() > 0) {
            table.delete(server, identity, change.deleted());
        }
        for (long i = 0; i < change.inserted(); i++) {
            table.insert(server, right.written());
        }
    }

    /** Whether rows differ in nothing but what servers compute. */
    private static boolean sameColumns(AuditedTable table, Row here, Row right) {
        return here != null
                && right != null
                && table.columns().stream()
                        .allMatch(c -> Objects.equals(
                                here.written().get(c.name()), right.written().get(c.name())));
    }

    /** Generated columns can't be written; the server is to compute them as the trusted one once did. */
    private void requireStored(Connection server, AuditedTable table, String identity, Row right) throws SQLException {
        boolean same;
        try (StoredColumns stored = new StoredColumns(server, table, access::connectAlone, new HashSet<>())) {
            same = table.hasKey()
                    ? stored.restore(Map.of(identity, table.hashes(right))) == null
                    : table.count(server, identity) == Long.parseLong(right.version());
        }
        if (!same) {
            throw new QuorateException(
                    ErrorCode.AUDIT_REFUSED,
                    "no settings are known under which this server computes its stored generated columns as the"
                            + " trusted one has them");
        }
    }

    private Map<String, String> masked(TableName table, Row row) {
        if (row == null) {
            return null;
        }
        Map<String, String> masked = new LinkedHashMap<>(row.shown());
        masked.replaceAll(
                (column, value) -> mask.hides(table.schema(), table.name(), column) ? ColumnMask.MASKED : value);
        return masked;
    }

    /** Writes down a repair before it is done, so that the row as it was is not lost. */
    private void journal(Entry entry) throws IOException {
        Path file = properties.dataDir().resolve(JOURNAL);
        Files.write(
                file,
                (json.writeValueAsString(entry) + "\n").getBytes(StandardCharsets.UTF_8),
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND,
                StandardOpenOption.DSYNC);
    }
}
