// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.conflict;

import io.quorate.capture.KeyExplainer;
import io.quorate.core.BinlogEvents;
import io.quorate.core.Certified;
import io.quorate.core.ColumnMask;
import io.quorate.core.Matrix;
import io.quorate.core.Payload;
import io.quorate.core.WriteSet;
import io.quorate.core.answer.ConflictAnswer;
import io.quorate.core.binlog.RowImage;
import io.quorate.core.binlog.RowsEvent;
import io.quorate.core.binlog.TableMap;
import io.quorate.core.binlog.ValueText;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** Makes a journal entry from the writesets of a loser and its winner. Used by one thread. */
final class ConflictReader {
    private static final int ROWS_SHOWN_MAX = 20;
    private static final int ROWS_COMPARED_MAX = 2000;
    private static final int MET_MAX = 20;

    private final ColumnMask mask;
    private final Explainer explainer;

    ConflictReader(ColumnMask mask, Explainer explainer) {
        this.mask = mask;
        this.explainer = explainer;
    }

    /**
     * A row while it is compared: the values of its primary key, as far as its table map names that, and all values.
     */
    private record Compared(
            String table, Map<String, String> key, Map<String, String> before, Map<String, String> after) {}

    Conflict read(Certified loser, Certified winner, String loserAccount) {
        List<Compared> lost = rows(loser.writeSet());
        List<Compared> won = winner == null ? List.of() : rows(winner.writeSet());
        return new Conflict(
                loser.seqno(),
                loser.verdict().name(),
                winner == null ? List.of() : met(loser, winner, lost, won),
                transaction(loser, lost, loserAccount),
                winner == null ? null : transaction(winner, won, null));
    }

    /**
     * Describes a void definition, or what was lost with it.
     *
     * @param seqno under which it is found: of the verdict, if it is the definition itself
     * @param definition the one on which it was built; null if it is the definition itself or is no longer known
     */
    Conflict voided(long seqno, Certified lost, Certified definition, String account) {
        return new Conflict(
                seqno,
                Conflict.VOID,
                List.of(),
                transaction(lost, rows(lost.writeSet()), account),
                definition == null ? null : read(definition));
    }

    /** Describes one writeset by itself. */
    ConflictAnswer.Transaction read(Certified c) {
        return transaction(c, rows(c.writeSet()), null);
    }

    private static ConflictAnswer.Transaction transaction(Certified c, List<Compared> rows, String account) {
        WriteSet w = c.writeSet();
        return new ConflictAnswer.Transaction(
                c.seqno(),
                w.gtid().source().toString(),
                w.gtid().toString(),
                Instant.EPOCH.plus(w.committedMicros(), ChronoUnit.MICROS).toString(),
                w.session(),
                account,
                rows.size(),
                rows.stream()
                        .limit(ROWS_SHOWN_MAX)
                        .map(r -> new ConflictAnswer.Row(r.table, r.before, r.after))
                        .toList(),
                statement(w));
    }

    private static String statement(WriteSet w) {
        Payload.Events first = w.voidsDefinition() > 0 ? null : w.payload().statement();
        if (first == null) {
            return null;
        }
        byte[] b = first.bytes();
        // The event begins with the thread, the time, the length of the schema's name, the error, and the length of the
        // status variables.
        int at = first.offset() + BinlogEvents.HEADER_BYTES;
        int schema = b[at + 8] & 0xff;
        int variables = (b[at + 11] & 0xff) | ((b[at + 12] & 0xff) << 8);
        int from = at + 13 + variables + schema + 1;
        int end = Math.min(first.offset() + first.length(), from + 500);
        return new String(b, from, Math.max(0, end - from), StandardCharsets.UTF_8);
    }

    private List<Compared> rows(WriteSet w) {
        List<Compared> rows = new ArrayList<>();
        if (w.voidsDefinition() > 0) {
            return rows;
        }
        Map<Long, TableMap> maps = new HashMap<>();
        Payload.Events each = w.payload().events();
        while (rows.size() < ROWS_COMPARED_MAX && each.next()) {
            if (each.type() == BinlogEvents.TABLE_MAP) {
                maps.put(each.tableId(), TableMap.read(each));
            } else if (each.isRows()) {
                RowsEvent event = new RowsEvent(maps.get(each.tableId()), each.bytes(), each.offset());
                while (rows.size() < ROWS_COMPARED_MAX && event.next()) {
                    rows.add(row(event));
                }
            }
        }
        return rows;
    }

    private Compared row(RowsEvent event) {
        TableMap map = event.map();
        RowImage any = event.hasBefore() ? event.before() : event.after();
        Map<String, String> key = new LinkedHashMap<>();
        for (int column : map.primaryKey) {
            key.put(name(map, column), value(map, column, event, any));
        }
        return new Compared(
                map.schema + "." + map.table,
                key,
                event.hasBefore() ? values(event, event.before()) : null,
                event.hasAfter() ? values(event, event.after()) : null);
    }

    private Map<String, String> values(RowsEvent event, RowImage image) {
        Map<String, String> values = new LinkedHashMap<>();
        for (int i = 0; i < event.map().columns(); i++) {
            values.put(name(event.map(), i), value(event.map(), i, event, image));
        }
        return values;
    }

    private String value(TableMap map, int column, RowsEvent event, RowImage image) {
        return isMasked(map, column) && image.length(column) >= 0
                ? ColumnMask.MASKED
                : ValueText.of(map, column, event.bytes(), image);
    }

    private static String name(TableMap map, int column) {
        return map.names == null ? "column " + (column + 1) : map.names[column];
    }

    private boolean isMasked(TableMap map, int column) {
        return mask.hides(map.schema, map.table, name(map, column));
    }

    /** The keys in which the two conflict; if they can't be told, what looks like them. */
    private List<ConflictAnswer.Met> met(Certified loser, Certified winner, List<Compared> lost, List<Compared> won) {
        Map<Long, KeyExplainer.Explained> explained =
                explainer.explain(loser.writeSet(), conflicting(loser.writeSet(), winner.writeSet()));
        List<ConflictAnswer.Met> met = explained.values().stream()
                .limit(MET_MAX)
                .map(e -> new ConflictAnswer.Met(e.table().schema + "." + e.table().table, e.index(), values(e)))
                .toList();
        return met.isEmpty() ? inferred(lost, won) : met;
    }

    private static Set<Long> conflicting(WriteSet loser, WriteSet winner) {
        Map<Long, Integer> found = new HashMap<>();
        for (int i = 0; i < winner.keys().size(); i++) {
            found.put(winner.keys().hash(i), winner.keys().typeOrdinal(i));
        }
        Set<Long> conflicting = new LinkedHashSet<>();
        for (int i = 0; i < loser.keys().size(); i++) {
            Integer type = found.get(loser.keys().hash(i));
            if (type != null && Matrix.conflicts(type, loser.keys().typeOrdinal(i))) {
                conflicting.add(loser.keys().hash(i));
            }
        }
        return conflicting;
    }

    private Map<String, String> values(KeyExplainer.Explained e) {
        Map<String, String> values = new LinkedHashMap<>();
        for (int i = 0; i < e.columns().length; i++) {
            boolean hidden = e.values()[i] != null && isMasked(e.table(), e.columns()[i]);
            values.put(name(e.table(), e.columns()[i]), hidden ? ColumnMask.MASKED : e.values()[i]);
        }
        return values;
    }

    /**
     * Rows that both have under the same primary key; if there are none, values that both wrote into the same column.
     */
    private static List<ConflictAnswer.Met> inferred(List<Compared> lost, List<Compared> won) {
        Set<ConflictAnswer.Met> met = new LinkedHashSet<>();
        Map<String, List<Compared>> byTable = new HashMap<>();
        won.forEach(row ->
                byTable.computeIfAbsent(row.table, t -> new ArrayList<>()).add(row));
        for (Compared row : lost) {
            for (Compared other : byTable.getOrDefault(row.table, List.of())) {
                if (!row.key.isEmpty() && row.key.equals(other.key)) {
                    met.add(new ConflictAnswer.Met(row.table, "PRIMARY", row.key));
                }
            }
            if (met.size() >= MET_MAX) {
                break;
            }
        }
        if (met.isEmpty()) {
            for (Compared row : lost) {
                for (Compared other : byTable.getOrDefault(row.table, List.of())) {
                    Map<String, String> equal = written(row);
                    equal.entrySet().retainAll(written(other).entrySet());
                    if (!equal.isEmpty() && met.size() < MET_MAX) {
                        met.add(new ConflictAnswer.Met(row.table, "values", equal));
                    }
                }
            }
        }
        return List.copyOf(met);
    }

    /** The values that a row got, without those that didn't change; of a deleted row, the values it had. */
    private static Map<String, String> written(Compared row) {
        Map<String, String> written = new LinkedHashMap<>(row.after != null ? row.after : row.before);
        if (row.before != null && row.after != null) {
            written.entrySet().removeIf(e -> Objects.equals(row.before.get(e.getKey()), e.getValue()));
        }
        written.values().removeIf(v -> v == null || v.equals(ColumnMask.MASKED));
        return written;
    }
}
