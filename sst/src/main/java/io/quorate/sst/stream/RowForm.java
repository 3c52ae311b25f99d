// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import io.quorate.core.Identifiers;
import io.quorate.sst.audit.AuditedTable;
import io.quorate.sst.audit.AuditedTable.Stretch;
import io.quorate.sst.audit.TableColumn;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The form in which a table's rows go from one server to another: a SELECT at the donor, whose values are taken as
 * bytes without conversion, and a LOAD DATA at the joiner that stores them as they come. Values that text would change
 * go as numbers: FLOAT, whose text has six digits, as the DOUBLE of the same value; members of ENUM and SET, and bits,
 * as integers.
 */
final class RowForm {
    private final AuditedTable table;

    RowForm(AuditedTable table) {
        this.table = table;
    }

    int columns() {
        return table.columns().size();
    }

    private List<TableColumn> json() {
        return table.columns().stream()
                .filter(c -> c.form() == TableColumn.Form.JSON)
                .toList();
    }

    String select(Stretch stretch) {
        return table.columns().stream()
                .map(RowForm::selected)
                .collect(Collectors.joining(", ", "SELECT ", table.fromWhere(stretch)));
    }

    private static String selected(TableColumn c) {
        return switch (c.form()) {
            case FLOAT -> "CAST(" + c.quoted() + " AS DOUBLE)";
            case ORDINAL -> c.ordinal();
            case NUMBER, TEXT, CHARACTERS, BYTES, JSON -> c.quoted();
        };
    }

    /**
     * Selects the identities of rows whose values change when they go through text: JSON has types that its text
     * doesn't show (DATE, DECIMAL). Null for a table without JSON.
     */
    String selectInexact(Stretch stretch) {
        List<TableColumn> json = json();
        if (json.isEmpty()) {
            return null;
        }
        String inexact = json.stream()
                .map(TableColumn::quoted)
                .map(c -> "NOT (CAST(" + text(c) + " AS JSON) <=> " + c + " AND "
                        + text("CAST(" + text(c) + " AS JSON)") + " <=> CAST(" + text(c) + " AS BINARY))")
                .collect(Collectors.joining(" OR "));
        String from = table.fromWhere(stretch);
        int order = from.lastIndexOf(" ORDER BY ");
        String rows = order < 0 ? from : from.substring(0, order);
        return "SELECT " + table.identity() + rows + (rows.contains(" WHERE ") ? " AND (" : " WHERE (") + inexact + ")";
    }

    /**
     * The statement that makes the JSON of a row exact where its text has been loaded.
     *
     * @return null when there is none
     */
    String exact(Connection connection, String identity) throws SQLException {
        if (!table.hasKey()) {
            return null;
        }
        String ofRow = table.fromRow(identity);
        List<String> assigned = new ArrayList<>();
        for (TableColumn c : json()) {
            if (!isNull(connection, c, ofRow)) {
                String expression = TypedJson.expression(connection, c.quoted(), ofRow);
                if (expression == null) {
                    return null;
                }
                assigned.add(c.quoted() + " = " + expression);
            }
        }
        // They would otherwise get the time of this statement.
        table.columns().stream()
                .filter(c -> c.type().equals("timestamp") || c.type().equals("datetime"))
                .forEach(c -> assigned.add(c.quoted() + " = " + c.quoted()));
        String where = ofRow.substring(ofRow.indexOf(" WHERE "));
        return "UPDATE " + Identifiers.quoted(table.schema(), table.name()) + " SET " + String.join(", ", assigned)
                + where;
    }

    private static boolean isNull(Connection connection, TableColumn c, String ofRow) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT " + c.quoted() + " IS NULL" + ofRow)) {
            return row.next() && row.getInt(1) == 1;
        }
    }

    private static String text(String expression) {
        return "CAST(" + expression + " AS CHAR CHARACTER SET utf8mb4)";
    }

    String load() {
        List<String> fields = new ArrayList<>();
        List<String> assigned = new ArrayList<>();
        for (TableColumn c : table.columns()) {
            String variable = "@v" + fields.size();
            switch (c.form()) {
                case ORDINAL -> {
                    fields.add(variable);
                    assigned.add(c.quoted() + " = CAST(" + variable + " AS UNSIGNED)");
                }
                case JSON -> {
                    fields.add(variable);
                    assigned.add(c.quoted() + " = CONVERT(" + variable + " USING utf8mb4)");
                }
                case NUMBER, TEXT, CHARACTERS, BYTES, FLOAT -> fields.add(c.quoted());
            }
        }
        return "LOAD DATA LOCAL INFILE 'rows' INTO TABLE " + Identifiers.quoted(table.schema(), table.name())
                + " CHARACTER SET binary FIELDS TERMINATED BY '\\t' ESCAPED BY '\\\\' LINES TERMINATED BY '\\n' ("
                + String.join(", ", fields) + ")" + (assigned.isEmpty() ? "" : " SET " + String.join(", ", assigned));
    }
}
