// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.applier.LeftRows.Left;
import io.quorate.applier.TableMaps.Computed;
import io.quorate.core.BinlogEvents;
import io.quorate.core.ColumnMask;
import io.quorate.core.Payload;
import io.quorate.core.TableName;
import io.quorate.core.binlog.Inverse;
import io.quorate.core.binlog.RowImage;
import io.quorate.core.binlog.RowSettings;
import io.quorate.core.binlog.RowsEvent;
import io.quorate.core.binlog.TableMap;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Has the server store in generated columns what the origin's has stored, where the session's settings decide on that.
 *
 * <p>BINLOG computes all generated columns of a row that it inserts or updates, whatever its image says. The settings
 * that come with the rows needn't be those by which the origin has computed them: a session may change them within a
 * transaction, an update with minimal images computes nothing of what it doesn't touch, and some settings are bound to
 * the table as it was opened for anybody. But the image has what was stored. So rows of such tables are read again, in
 * the same transaction, and where one has something else it gets what it should have by another update, which names
 * nothing but the primary key and that column: then BINLOG takes the value as it is. Where an index has the column it
 * is computed even then, so other settings are tried, those first that have helped before.
 *
 * <p>A session can't say that a table be opened anew under its settings: it gets whichever open one is free. FLUSH
 * TABLES would close them all, but keep everybody from the table until the longest query has ended. So those that were
 * no help are held by HANDLER until one is, and at last a new one is opened.
 *
 * <p>If nothing helps, the writeset fails, and the table is copied from another node.
 */
final class ComputedRows {
    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final int TABLES_MAX = 1_000;
    /** All offsets of time zones, and a margin. */
    private static final int TAKEN_TRIES = 150;

    /** "Incorrect value for column". */
    private static final int WRONG_VALUE = 1366;

    private final Session session;
    private final LeftRows rows;
    /** The settings that have helped with a table, the last one first. */
    private final Map<String, Set<RowSettings>> found = new HashMap<>();

    ComputedRows(Session session) {
        this.session = session;
        this.rows = new LeftRows(session.connection(), ColumnMask.NONE);
    }

    /** Has the server execute a BINLOG of such rows. */
    void apply(byte[] events, Statements statements) throws SQLException {
        Map<Long, Computed> tables = Map.copyOf(statements.computed());
        Trial trial = new Trial(tables, statements.settings());
        try {
            session.binlog(events, trial.own);
        } catch (SQLException e) {
            if (!statements.isOfOne() || !mayBeOfComputing(e, tables) || !trial.helps(events)) {
                throw e;
            }
        }
        Payload payload = Payload.of(events);
        List<Left> odd = trial.look(() -> rows.odd(payload, map -> storedOf(map, tables)));
        if (!odd.isEmpty()) {
            trial.correct(payload, odd);
        }
    }

    private static List<Integer> storedOf(TableMap map, Map<Long, Computed> tables) {
        Computed computed = tables.get(map.id);
        return computed == null || computed.stored().isEmpty() ? null : computed.stored();
    }

    /** Whether the same rows may be taken if something else is computed of them. */
    private static boolean mayBeOfComputing(SQLException e, Map<Long, Computed> tables) {
        return switch (e.getErrorCode()) {
            // A duplicate key, whose name is the last that the server says.
            case 1062, 1586 ->
                tables.values().stream()
                        .flatMap(table -> table.unique().stream())
                        .anyMatch(key -> e.getMessage().endsWith("." + key + "'"));
            // CHECK; out of range.
            case 3819, 1690 -> true;
            default -> false;
        };
    }

    private interface Look {
        List<Left> at() throws SQLException;
    }

    /** One BINLOG, and the settings that may be right for it. */
    private final class Trial {
        private final Map<Long, Computed> tables;
        private final RowSettings own;
        private final long end = System.nanoTime() + LIMIT.toNanos();
        private RowSettings last;

        Trial(Map<Long, Computed> tables, RowSettings own) {
            this.tables = tables;
            this.own = own;
            this.last = own;
        }

        /** Whether the server takes the events under other settings. */
        boolean helps(byte[] events) throws SQLException {
            Iterator<RowSettings> others = others(Payload.of(events));
            for (int i = 0; others.hasNext() && i < TAKEN_TRIES && isTime(); i++) {
                if (taken(events, others.next())) {
                    return true;
                }
            }
            return false;
        }

        void correct(Payload payload, List<Left> first) throws SQLException {
            List<Left> odd = first;
            Iterator<RowSettings> others = others(payload);
            RowSettings next = own;
            OpenTables open = new OpenTables();
            try {
                while (true) {
                    if (taken(corrections(payload, odd), next)) {
                        List<Left> before = odd;
                        odd = look(() -> rows.stillOdd(before));
                        if (odd.size() < before.size()) {
                            note(before.get(0).map(), next);
                        }
                    }
                    if (odd.isEmpty()) {
                        open.holdLast(first.get(0).map());
                        return;
                    }
                    TableMap map = odd.get(0).map();
                    if (!isTime()) {
                        throw notStored(odd.get(0));
                    } else if (!tables.get(map.id).settings().bound() || !open.holdOneMore(map)) {
                        if (!others.hasNext()) {
                            throw notStored(odd.get(0));
                        }
                        next = others.next();
                    }
                }
            } finally {
                open.letGo();
            }
        }

        private static SQLException notStored(Left row) {
            return new SQLException(
                    "no settings are known under which this server computes the stored generated columns of "
                            + row.map().schema + "." + row.map().table + " as their origin has them: "
                            + row.values().keySet(),
                    "HY000",
                    WRONG_VALUE);
        }

        List<Left> look(Look look) throws SQLException {
            if (last != null && last.padChars()) {
                session.forgetSettings();
            }
            return look.at();
        }

        private boolean isTime() {
            return System.nanoTime() < end;
        }

        private boolean taken(byte[] events, RowSettings settings) throws SQLException {
            last = settings;
            try {
                session.binlog(events, settings);
                return true;
            } catch (SQLException e) {
                if (!mayBeOfComputing(e, tables)) {
                    throw e;
                }
                return false;
            }
        }

        private Iterator<RowSettings> others(Payload payload) {
            Set<RowSettings> all = new LinkedHashSet<>();
            for (TableName name : TableMap.tables(payload)) {
                all.addAll(found.getOrDefault(name.schema() + "." + name.table(), Set.of()));
            }
            RowSettings known = Objects.requireNonNullElse(own, RowSettings.UNKNOWN);
            for (Computed each : tables.values()) {
                all.addAll(each.settings().others(known));
            }
            all.remove(own);
            return all.iterator();
        }

        private void note(TableMap map, RowSettings settings) {
            if (settings == null || settings.equals(own)) {
                return;
            }
            if (found.size() >= TABLES_MAX) {
                found.clear();
            }
            found.compute(map.schema + "." + map.table, (name, before) -> {
                Set<RowSettings> latest = new LinkedHashSet<>(Set.of(settings));
                latest.addAll(before == null ? Set.of() : before);
                return latest;
            });
        }

        /** Updates that say no more of the rows than what stored columns have. */
        private byte[] corrections(Payload payload, List<Left> odd) {
            Map<Integer, List<Left>> byEvent =
                    odd.stream().collect(Collectors.groupingBy(Left::event, LinkedHashMap::new, Collectors.toList()));
            ByteSink out = new ByteSink(4 << 10);
            List<byte[]> updates = new ArrayList<>();
            Set<Long> mapped = new LinkedHashSet<>();
            byEvent.forEach((at, lefts) -> {
                Payload.Events event = payload.events();
                event.go(at);
                mapped.add(event.tableId());
                updates.addAll(corrections(event, lefts));
            });
            for (Payload.Events event = payload.events(); event.next(); ) {
                if (event.type() == BinlogEvents.TABLE_MAP && mapped.remove(event.tableId())) {
                    out.append(event.bytes(), event.offset(), event.length());
                }
            }
            for (byte[] update : updates) {
                BinlogEvents.endsStatement(update, 0, update == updates.get(updates.size() - 1));
                out.append(update, 0, update.length);
            }
            return out.toArray();
        }

        /** A column each: what is made of one is computed when that is written. */
        private List<byte[]> corrections(Payload.Events event, List<Left> odd) {
            Set<Integer> indexes = odd.stream().map(Left::index).collect(Collectors.toSet());
            RowsEvent row = new RowsEvent(odd.get(0).map(), event.bytes(), event.offset());
            List<byte[]> updates = new ArrayList<>();
            for (int i = 0; row.next(); i++) {
                if (indexes.contains(i)) {
                    for (int column : tables.get(event.tableId()).stored()) {
                        if (row.after().length(column) != RowImage.ABSENT) {
                            updates.add(Inverse.valuesOf(row, event.offset(), new int[] {column}));
                        }
                    }
                }
            }
            return updates;
        }
    }

    /** Open tables that the session holds, so that it is given others. */
    private final class OpenTables {
        private static final int MAX = 500;
        private static final String ALIAS = "quorate_";

        private int held;
        private long opened = -1;

        /** Holds the one that was used last; false when that was opened for this session, under its settings. */
        boolean holdOneMore(TableMap map) throws SQLException {
            long before = opened;
            opened = session.tablesOpened();
            if (held == MAX) {
                return false;
            }
            hold(map);
            return before < 0 || opened == before;
        }

        /** Has the one that was of help be found first by whoever comes next. */
        void holdLast(TableMap map) throws SQLException {
            if (held > 0) {
                hold(map);
            }
        }

        private void hold(TableMap map) throws SQLException {
            session.execute("HANDLER " + LeftRows.name(map) + " OPEN AS " + ALIAS + held);
            held++;
        }

        void letGo() throws SQLException {
            for (int i = 0; i < held; i++) {
                session.execute("HANDLER " + ALIAS + i + " CLOSE");
            }
        }
    }
}
