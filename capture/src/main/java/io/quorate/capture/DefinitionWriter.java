// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.BinlogEvents;
import io.quorate.core.CarriedSetting;
import io.quorate.core.ErrorCode;
import io.quorate.core.Identifiers;
import io.quorate.core.QuorateException;
import io.quorate.core.binlog.QueryEvent;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Writes the QUERY event of a definition that no server has run yet, as a server would for a session that has its
 * global settings, and whose text is utf8mb4. Layout and codes as {@link QueryEvent} reads them.
 */
public final class DefinitionWriter {
    private static final int PARSE_ERROR = 1064;
    private static final int FLAGS = 0;
    private static final int SQL_MODE = 1;
    private static final int CHARSETS = 4;
    private static final int TIME_ZONE = 5;
    private static final int INVOKER = 11;
    private static final int MICROS = 13;
    private static final int EXPLICIT_DEFAULTS = 16;
    private static final int UTF8_COLLATION = 18;
    private static final int REQUIRE_PRIMARY_KEY = 19;
    private static final int TABLE_ENCRYPTION = 20;
    private static final int NO_FOREIGN_KEY_CHECKS = 1 << 26;
    private static final int ROOM = 1024;

    private static final String SETTINGS = "SELECT @@GLOBAL.sql_mode, @@GLOBAL.foreign_key_checks,"
            + " @@GLOBAL.time_zone, @@GLOBAL.explicit_defaults_for_timestamp, @@GLOBAL.sql_require_primary_key,"
            + " @@GLOBAL.default_table_encryption, @@GLOBAL.lower_case_table_names, UNIX_TIMESTAMP(NOW(6)) * 1000000,"
            + " (SELECT ID FROM information_schema.COLLATIONS"
            + " WHERE COLLATION_NAME = @@GLOBAL.default_collation_for_utf8mb4),"
            + " (SELECT ID FROM information_schema.COLLATIONS WHERE COLLATION_NAME = @@GLOBAL.collation_server)";

    private final Connection server;
    private final String schema;
    private final long sqlMode;
    private final boolean foreignKeyChecks;
    private final String timeZone;
    private final int explicitDefaults;
    private final int requirePrimaryKey;
    private final int tableEncryption;
    private final boolean lowerCaseNames;
    private final long micros;
    private final int utf8Collation;
    private final int serverCollation;
    private Map<CarriedSetting, String> settings = Map.of();

    private DefinitionWriter(Connection server, String schema, ResultSet row) throws SQLException {
        this.server = server;
        this.schema = schema;
        sqlMode = SqlModes.number(row.getString(1));
        foreignKeyChecks = row.getInt(2) != 0;
        timeZone = row.getString(3);
        explicitDefaults = row.getInt(4);
        requirePrimaryKey = row.getInt(5);
        tableEncryption = row.getInt(6);
        lowerCaseNames = row.getInt(7) != 0;
        micros = row.getBigDecimal(8).longValue();
        utf8Collation = row.getInt(9);
        serverCollation = row.getInt(10);
    }

    /**
     * Reads the settings.
     *
     * @param schema the default schema; empty for none
     */
    public static DefinitionWriter of(Connection server, String schema) throws SQLException {
        try (Statement statement = server.createStatement();
                ResultSet row = statement.executeQuery(SETTINGS)) {
            row.next();
            return new DefinitionWriter(server, schema, row);
        }
    }

    /**
     * Reads a statement, and has the server parse it if it can do that without running it.
     *
     * @throws QuorateException DEFINITION_NOT_ORDERED
     */
    public DefinitionText read(String text) throws SQLException {
        DefinitionText definition = DefinitionText.of(text, schema, sqlMode, lowerCaseNames);
        requireParsed(text);
        requireNumberedAlike(definition);
        settings = definition.settings().isEmpty()
                ? Map.of()
                : OriginSession.global(server, definition.settings()).values();
        return definition;
    }

    private void requireParsed(String text) throws SQLException {
        try (Statement statement = server.createStatement()) {
            statement.execute("SET SESSION sql_mode = " + sqlMode);
            if (!schema.isEmpty()) {
                statement.execute("USE " + Identifiers.quoted(schema));
            }
            try (PreparedStatement parse = server.prepareStatement("SET @quorate_ddl = ?")) {
                parse.setString(1, text);
                parse.execute();
            }
            statement.execute("PREPARE quorate_ddl FROM @quorate_ddl");
            statement.execute("DEALLOCATE PREPARE quorate_ddl");
        } catch (SQLException e) {
            // Others depend on what the server holds when the statement is run; and not everything can be prepared.
            if (e.getErrorCode() == PARSE_ERROR) {
                throw new QuorateException(ErrorCode.DEFINITION_NOT_ORDERED, e.getMessage(), e);
            }
        }
    }

    /** Every server numbers the rows in the order in which it has them, which is the same only by a primary key. */
    private void requireNumberedAlike(DefinitionText definition) throws SQLException {
        List<String> table = definition.numberedTable();
        if (table == null) {
            return;
        }
        try (PreparedStatement keys = server.prepareStatement("SELECT COUNT(*) FROM information_schema.STATISTICS"
                + " JOIN information_schema.TABLES USING (TABLE_SCHEMA, TABLE_NAME)"
                + " WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND INDEX_NAME = 'PRIMARY' AND ENGINE = 'InnoDB'")) {
            keys.setString(1, table.get(0));
            keys.setString(2, table.get(1));
            try (ResultSet row = keys.executeQuery()) {
                row.next();
                if (row.getInt(1) == 0) {
                    throw new QuorateException(
                            ErrorCode.DEFINITION_NOT_ORDERED,
                            "\"" + definition.shortText() + "\" can't be ordered first: it numbers rows that no primary"
                                    + " key sorts, and every server would number them in its own order; make a copy of"
                                    + " the table instead (docs/architecture.md#ddl)");
                }
            }
        }
    }

    /**
     * The event.
     *
     * @param user,host the account that asks for it; it is the definer where the statement names none
     */
    public byte[] event(DefinitionText definition, String user, String host) {
        byte[] text = definition
                .text(Identifiers.quoted(user) + "@" + Identifiers.quoted(host))
                .getBytes(StandardCharsets.UTF_8);
        byte[] database = schema.getBytes(StandardCharsets.UTF_8);
        byte[] status = status(user, host);
        int length = BinlogEvents.HEADER_BYTES + 13 + status.length + database.length + 1 + text.length;
        ByteBuffer out = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        out.putInt((int) (micros / 1_000_000)).put((byte) BinlogEvents.QUERY).putInt(0);
        out.putInt(length).putInt(0).putShort((short) 0);
        out.putInt(0).putInt(0).put((byte) database.length).putShort((short) 0);
        out.putShort((short) status.length)
                .put(status)
                .put(database)
                .put((byte) 0)
                .put(text);
        return settings.isEmpty() ? out.array() : QueryEvent.carrying(out.array(), 0, length, settings);
    }

    private byte[] status(String user, String host) {
        ByteBuffer out = ByteBuffer.allocate(ROOM).order(ByteOrder.LITTLE_ENDIAN);
        out.put((byte) FLAGS).putInt(foreignKeyChecks ? 0 : NO_FOREIGN_KEY_CHECKS);
        out.put((byte) SQL_MODE).putLong(sqlMode);
        out.put((byte) CHARSETS).putShort((short) utf8Collation).putShort((short) utf8Collation);
        out.putShort((short) serverCollation);
        text(out.put((byte) TIME_ZONE), timeZone);
        text(out.put((byte) INVOKER), user);
        text(out, host);
        int fraction = (int) (micros % 1_000_000);
        out.put((byte) MICROS).putShort((short) fraction).put((byte) (fraction >> 16));
        out.put((byte) EXPLICIT_DEFAULTS).put((byte) explicitDefaults);
        out.put((byte) UTF8_COLLATION).putShort((short) utf8Collation);
        out.put((byte) REQUIRE_PRIMARY_KEY).put((byte) requirePrimaryKey);
        out.put((byte) TABLE_ENCRYPTION).put((byte) tableEncryption);
        return Arrays.copyOf(out.array(), out.position());
    }

    private static void text(ByteBuffer out, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        out.put((byte) bytes.length).put(bytes);
    }

    /** When it is run, as far as statements tell: microseconds since the epoch. */
    public long micros() {
        return micros;
    }
}
