// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/** One connection besides the workers', for queries, opened when first needed; its users take turns. */
final class AuxiliaryConnection implements AutoCloseable {
    /** Something done with a connection. */
    interface Work {
        void run(Connection connection) throws SQLException;
    }

    private final DataSource source;
    private Connection connection;

    AuxiliaryConnection(DataSource source) {
        this.source = source;
    }

    synchronized void run(Work work) throws SQLException {
        if (connection == null) {
            connection = source.getConnection();
            try (Statement statement = connection.createStatement()) {
                statement.execute("SET SESSION show_gipk_in_create_table_and_information_schema = ON");
            }
        }
        try {
            work.run(connection);
        } catch (SQLException e) {
            close();
            throw e;
        }
    }

    @Override
    public synchronized void close() {
        if (connection != null) {
            try {
                connection.close();
            } catch (SQLException e) {
                // It was only used for reading: nothing is lost with it.
            } finally {
                connection = null;
            }
        }
    }
}
