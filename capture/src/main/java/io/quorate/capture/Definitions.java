// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.BinlogPosition;
import io.quorate.core.CarriedSetting;
import io.quorate.core.TableName;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.Set;

/** The source of tables' definitions. */
interface Definitions {
    /**
     * The definition of a table, {@link TableDefinition#NONE} when there is no such table.
     *
     * @param at where the reader is, after the GTID of the transaction that it reads; null where that isn't known.
     *     Otherwise a definition that the table has got since is {@link TableDefinition#later}
     */
    TableDefinition definition(TableName name, BinlogPosition at) throws SQLException;

    /** Whether there is such a table now, and the server creates and drops tables of its engine atomically. */
    default boolean isAtomic(TableName name) throws SQLException {
        return "InnoDB".equals(engine(name));
    }

    /** The expressions of a table's columns. */
    List<String> expressions(TableName name) throws SQLException;

    /**
     * Whether all servers give the rows of a table the same numbers: there are none, or a key sorted them before.
     *
     * @param numbering of the ALTER TABLE that numbered the rows
     */
    boolean areNumberedAlike(TableName name, Statement.Numbering numbering) throws SQLException;

    /**
     * Whether no row was ever refused for what these indexes are, which the statement drops that is being read. Only
     * where it is known how the table was defined before.
     */
    default boolean werePlain(TableName name, List<String> indexes) {
        return false;
    }

    /** As {@link OriginSession#of}. */
    OriginSession session(long id, long second, Set<CarriedSetting> asked) throws SQLException;

    /** The engine that a table has now; null when there is none. */
    String engine(TableName name) throws SQLException;

    /** The time zone of a session, as {@link #session}; null if it isn't there any more. */
    default String timeZone(long id) throws SQLException {
        return null;
    }

    /** The tables that there are now; null when the server doesn't say at once. */
    default KnownTables.Present present() throws SQLException {
        return null;
    }

    /** Definitions have changed: discards everything known. */
    void forget();

    /** Of which tables keys may be made in another way after a statement. */
    enum Redefined {
        NONE,
        NAMED,
        /** Those that it names, and all that foreign keys tie to others. */
        NAMED_AND_TIED
    }

    /**
     * Definitions have changed. Discards what is known of the tables that the statement names, and of all that foreign
     * keys tie to others.
     *
     * @param redefined of these it isn't known any more either since when keys have been made in the same way
     */
    void reread(Collection<TableName> named, Redefined redefined);
}
