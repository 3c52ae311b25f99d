// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import io.quorate.capture.DefinedTables;
import io.quorate.core.TableName;
import io.quorate.core.WriteSet;
import io.quorate.sst.stream.Catalog;
import io.quorate.sst.stream.CatalogRestore;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collections;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What a copy by method {@code stream} replaces. If it is some tables, with their triggers, the server stays at its
 * position, and its other tables as they are. If it is everything that the server holds, that is all tables which the
 * donor had when the copy began; what is defined after that is made as the order says once they are here ({@link
 * CopiedTables}).
 *
 * @param everything whether it is all that the server holds
 * @param tables closed as {@link DifferingTables} says
 * @param schemas databases that are part of it as such
 * @param objects whether accounts, views and stored programs are part of it
 */
record CopyExtent(
        boolean everything, Set<TableName> tables, Set<String> schemas, boolean objects, DefinedTables defined) {
    static CopyExtent of(CopyPlan plan, DefinedTables defined) {
        return plan.tables() == null
                ? new CopyExtent(
                        true,
                        plan.catalog().tables().stream()
                                .map(Catalog.Table::fullName)
                                .collect(Collectors.toUnmodifiableSet()),
                        plan.catalog().schemas().stream()
                                .map(Catalog.Schema::name)
                                .collect(Collectors.toUnmodifiableSet()),
                        plan.objects(),
                        defined)
                : new CopyExtent(false, plan.tables(), plan.schemas(), plan.objects(), defined);
    }

    /** Removes from the server what is to be replaced. */
    void remove(Connection connection, CatalogRestore restore) throws SQLException {
        if (!everything) {
            CatalogRestore.drop(connection, tables);
            return;
        }
        try (Statement statement = connection.createStatement()) {
            // The rows will be of different moments, so the server is at no position.
            statement.execute("DROP TABLE IF EXISTS quorate.position, quorate.undone, quorate.certified");
        }
        restore.dropAll(connection);
    }

    /** Whether a definition changes something of which the copy is made, so that it has to begin anew. */
    boolean concerns(WriteSet definition) {
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

    /** Whether what a definition that concerns no tables makes comes with the copy. */
    boolean has(WriteSet definition) {
        DefinedTables.Schema schema = defined.schema(definition);
        if (schema != null) {
            return schemas.contains(schema.name());
        }
        // A trigger that isn't known any more was one of a copied table, and isn't among the donor's.
        return defined.isOfObjects(definition) && (objects || defined.of(definition) == null);
    }
}
