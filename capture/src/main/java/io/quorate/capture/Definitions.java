// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.capture.Statement.TableName;
import java.sql.SQLException;

/** The source of tables' definitions. */
interface Definitions {
    /** The definition of a table as it is now, {@link TableDefinition#NONE} when there is no such table. */
    TableDefinition definition(TableName name) throws SQLException;

    /** Whether there is such a table now, and the server creates and drops tables of its engine atomically. */
    boolean isAtomic(TableName name) throws SQLException;

    /** Definitions have changed: discards everything known. */
    void forget();
}
