// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.Identifiers;
import io.quorate.core.Payload;
import io.quorate.core.binlog.GivenValue;
import io.quorate.core.binlog.GivenValue.InsertId;
import io.quorate.core.binlog.GivenValue.Seeds;
import io.quorate.core.binlog.GivenValue.UserVariable;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;

/** Assignments that give a definition's statement what it had of its own session. */
final class GivenValues {
    private static final int UNKNOWN_COLLATION = 1273;

    private final Connection server;

    /** @param server knows its collations by their ids, which are the same in all versions */
    GivenValues(Connection server) {
        this.server = server;
    }

    /** For SET, in order; one char per byte of UTF-8. */
    List<String> assignments(Payload definition) throws SQLException {
        List<String> assignments = new ArrayList<>();
        Payload.Events statement = definition.statement();
        for (Payload.Events event = definition.events(); event.next() && event.position() < statement.position(); ) {
            assignments.add(assignment(GivenValue.read(event.bytes(), event.offset(), event.length())));
        }
        return assignments;
    }

    private String assignment(GivenValue given) throws SQLException {
        if (given instanceof InsertId id) {
            return (id.next() ? "insert_id = " : "last_insert_id = ") + Long.toUnsignedString(id.value());
        } else if (given instanceof Seeds seeds) {
            return "rand_seed1 = " + Long.toUnsignedString(seeds.first()) + ", rand_seed2 = "
                    + Long.toUnsignedString(seeds.second());
        } else if (given instanceof UserVariable variable) {
            return "@" + Identifiers.quoted(Names.bytes(variable.name())) + " = " + value(variable);
        }
        throw new IllegalStateException(given.toString());
    }

    private String value(UserVariable variable) throws SQLException {
        if (variable.value() == null) {
            return "NULL";
        }
        return switch (variable.type()) {
            case INTEGER ->
                variable.unsigned()
                        ? "CAST(" + Long.toUnsignedString(variable.integer()) + " AS UNSIGNED)"
                        : Long.toString(variable.integer());
            // Seventeen digits are any double exactly; without an exponent it would be a DECIMAL.
            case REAL -> String.format(Locale.ROOT, "%.16e", variable.real());
            case DECIMAL -> decimal(variable.decimal());
            default -> text(variable);
        };
    }

    /** Also a whole number, which would be an integer without a point. */
    private static String decimal(String digits) {
        return digits.contains(".") ? digits : digits + ".";
    }

    private String text(UserVariable variable) throws SQLException {
        try (PreparedStatement query = server.prepareStatement(
                "SELECT CHARACTER_SET_NAME, COLLATION_NAME FROM information_schema.COLLATIONS WHERE ID = ?")) {
            query.setInt(1, variable.collation());
            try (ResultSet row = query.executeQuery()) {
                if (!row.next()) {
                    throw new SQLException(
                            "there is no collation " + variable.collation() + ", which @" + variable.name() + " has",
                            "HY000",
                            UNKNOWN_COLLATION);
                }
                return "_" + row.getString(1) + " x'" + HexFormat.of().formatHex(variable.value()) + "' COLLATE "
                        + row.getString(2);
            }
        }
    }
}
