// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.capture.Statement.TableName;
import java.sql.SQLException;

/** Where tables' definitions come from. */
interface Definitions {
    /** The definition of a table as it is now, {@link TableDefinition#NONE} when there is no such table. */
    TableDefinition definition(TableName name) throws SQLException;

    /** Definitions changed: nothing known counts any more. */
    void forget();
}
