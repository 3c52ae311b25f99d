// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import io.quorate.applier.PositionTable;
import io.quorate.applier.PositionTable.Position;
import io.quorate.capture.DefinedTables;
import io.quorate.core.Certified;
import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.core.TableName;
import io.quorate.core.WriteSet;
import io.quorate.core.binlog.Upserts;
import io.quorate.sst.stream.CatalogRestore;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;

/** What a copy by method {@code stream} replaces: all that the server holds, or some tables. */
interface CopyExtent {
    /** Removes from the server what is to be replaced. */
    void remove(Connection connection, CatalogRestore restore) throws SQLException;

    /** Whether a definition changes something of which the copy is made, so that it has to begin anew. */
    boolean concerns(WriteSet definition);

    /** What becomes of changes of a table that isn't in the copy. */
    Upserts.Rule outside(Certified c, TableName table);

    /** Whether accounts, views and stored programs are part of it. */
    boolean hasRest();

    /**
     * Makes what belongs to it besides rows, indexes and foreign keys, once these are there.
     *
     * @param position the place in the order that the copy has reached
     * @return what couldn't be made because the donor itself doesn't have what it needs; a line each
     */
    List<String> complete(Connection connection, CatalogRestore rest, Position position) throws SQLException;

    /** Everything that the server holds. */
    record Everything(String keepUser, DefinedTables defined) implements CopyExtent {
        @Override
        public void remove(Connection connection, CatalogRestore restore) throws SQLException {
            try (Statement statement = connection.createStatement()) {
                // The rows will be of different moments, so the server is at no position.
                statement.execute("DROP TABLE IF EXISTS quorate.position, quorate.undone, quorate.certified");
            }
            restore.dropAll(connection);
        }

        @Override
        public boolean concerns(WriteSet definition) {
            return defined.changesTables(definition);
        }

        @Override
        public Upserts.Rule outside(Certified c, TableName table) {
            throw new QuorateException(
                    ErrorCode.COPY_UNUSABLE,
                    "seqno " + c.seqno() + " writes to " + table + ", which the copy doesn't have");
        }

        @Override
        public boolean hasRest() {
            return true;
        }

        @Override
        public List<String> complete(Connection connection, CatalogRestore rest, Position position)
                throws SQLException {
            List<String> left = new ArrayList<>(rest.createRest(connection));
            left.addAll(rest.accounts(connection, keepUser));
            PositionTable.create(connection);
            if (position.seqno() > 0) {
                PositionTable.reset(connection, position);
            }
            return left;
        }
    }

    /**
     * Some tables, with their triggers. The server stays at its position, and its other tables as they are. If
     * accounts, views and stored programs are copied, that is done once all tables are at one place ({@link
     * CopiedTables}).
     *
     * @param tables closed as {@link DifferingTables} says
     * @param schemas databases that are part of it as such
     * @param objects whether accounts, views and stored programs are part of it
     */
    record Some(Set<TableName> tables, Set<String> schemas, boolean objects, DefinedTables defined)
            implements CopyExtent {
        @Override
        public void remove(Connection connection, CatalogRestore restore) throws SQLException {
            CatalogRestore.drop(connection, tables);
            restore.setSchemas(connection, schemas);
        }

        @Override
        public boolean concerns(WriteSet definition) {
            if (objects && defined.isOfObjects(definition)) {
                return false;
            }
            DefinedTables.Schema schema = defined.schema(definition);
            if (schema != null) {
                return schemas.contains(schema.name())
                        || tables.stream().anyMatch(table -> table.schema().equals(schema.name()));
            }
            Set<TableName> named = defined.of(definition);
            return named == null || !Collections.disjoint(named, tables);
        }

        @Override
        public Upserts.Rule outside(Certified c, TableName table) {
            return Upserts.Rule.SKIP;
        }

        @Override
        public boolean hasRest() {
            return objects;
        }

        @Override
        public List<String> complete(Connection connection, CatalogRestore rest, Position position)
                throws SQLException {
            if (!objects) {
                rest.createMissingTriggers(connection, tables);
            }
            return List.of();
        }
    }
}
