// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import io.quorate.applier.TailRepair;
import io.quorate.capture.DefinedTables;
import io.quorate.core.Certified;
import io.quorate.core.Difference;
import io.quorate.core.TableName;
import io.quorate.core.WriteSet;
import io.quorate.core.WriteSetLog;
import io.quorate.node.copy.DifferingTables.NotByTables;
import io.quorate.node.server.ServerAccess;
import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Lets this server's definitions of some tables stand, though they failed. That is the way out where the servers of all
 * nodes differ in the same tables, each because of a definition of its own clients: none has the tables as the order
 * says, so nobody could give them to the others. Nothing is lost if the rows that the order has, and that its
 * definitions hadn't seen, fit under them.
 *
 * <p>To find that out they are applied: own transactions after the position are taken back ({@link TailRepair}), and
 * the order is applied with a record in which the tables are never defined ({@link LogWithoutTables}). If that comes to
 * the end of the order, this server's tables are taken for right ({@link TrustedTables}). Otherwise nothing is lost
 * either: the tables will be copied from whichever server is right in the end, and the others can be brought on from
 * where they are.
 */
final class KeptDefinitions {
    private final Copying.Ports ports;
    private final AfterCopy afterCopy;

    KeptDefinitions(Copying.Ports ports, AfterCopy afterCopy) {
        this.ports = ports;
        this.afterCopy = afterCopy;
    }

    /**
     * Says whether a server's own definitions may stand.
     *
     * @param tables those in which it differs, closed as {@link DifferingTables} says
     * @param defined the tables that a definition names; null when it may be any
     * @param inPlace whether a definition leaves the table and its rows where they are
     */
    record Question(
            Set<TableName> tables,
            UUID server,
            Function<WriteSet, @Nullable Set<TableName>> defined,
            Predicate<WriteSet> ofObjects,
            Predicate<WriteSet> inPlace) {
        /**
         * Whether it is by own definitions that the tables differ, all of which leave rows where they are. Nobody
         * else's may have passed that hasn't run here.
         *
         * @param where what showed that the server differs
         * @param position the seqno up to which the order is applied here
         */
        boolean answer(Difference where, WriteSetLog log, long position, long upTo)
                throws IOException, InterruptedException {
            long from = where.seqnos().stream().mapToLong(Long::longValue).reduce(position + 1, Math::min);
            if (log.first() > from) {
                return false;
            }
            boolean[] own = {false};
            Certified against = log.find(from, upTo, c -> {
                boolean concerns = concerns(c);
                boolean mine = c.writeSet().gtid().source().equals(server);
                own[0] |= concerns && mine;
                return concerns && (mine ? !inPlace.test(c.writeSet()) : c.passed() && c.seqno() > position);
            });
            return own[0] && against == null;
        }

        private boolean concerns(Certified c) {
            WriteSet w = c.writeSet();
            if (!w.isDefinition() || ofObjects.test(w)) {
                return false;
            }
            Set<TableName> named = defined.apply(w);
            return named == null || !Collections.disjoint(named, tables);
        }
    }

    /** Asks that of this server. */
    static boolean mayStand(
            Set<TableName> tables, Difference where, Connection connection, DefinedTables defined, Copying.Ports ports)
            throws SQLException, IOException, InterruptedException {
        return new Question(
                        tables,
                        ServerAccess.uuid(connection),
                        defined::of,
                        defined::isOfObjects,
                        defined::altersInPlace)
                .answer(
                        where,
                        ports.cache(),
                        ServerAccess.applied(connection),
                        ports.stream().lastOrdered());
    }

    /**
     * Applies what is ordered and isn't here, as far as it fits. The order has all that was committed here.
     *
     * @return false when it isn't at its end yet, so that this is to be repeated
     * @throws NotByTables when something doesn't fit
     */
    boolean bring(Set<TableName> tables) throws NotByTables, SQLException, IOException, InterruptedException {
        long upTo = ports.stream().lastOrdered();
        return afterCopy.bring(
                (connection, defined) -> LogWithoutTables.ofDefinitions(
                        ports.cache(),
                        columns(connection, tables),
                        // Triggers of others are made here, too.
                        w -> defined.isOfObjects(w) ? null : defined.of(w),
                        upTo),
                upTo);
    }

    /** The columns of each table, by name. */
    private static Map<TableName, Set<String>> columns(Connection connection, Set<TableName> tables)
            throws SQLException {
        Map<TableName, Set<String>> columns = new HashMap<>();
        try (PreparedStatement statement = connection.prepareStatement(
                "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?")) {
            for (TableName table : tables) {
                statement.setString(1, table.schema());
                statement.setString(2, table.table());
                Set<String> names = new HashSet<>();
                try (ResultSet row = statement.executeQuery()) {
                    while (row.next()) {
                        names.add(row.getString(1));
                    }
                }
                columns.put(table, names);
            }
        }
        return columns;
    }
}
