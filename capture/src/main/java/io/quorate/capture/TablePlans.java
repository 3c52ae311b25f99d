// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.BinlogEvents;
import io.quorate.core.BinlogPosition;
import io.quorate.core.CarriedSetting;
import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.core.TableName;
import io.quorate.core.binlog.Bytes;
import io.quorate.core.binlog.TableMap;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The plan for each table id in the binlog. The server gives a table a new id whenever it opens its definition anew,
 * even after a definition changed without being logged. So as long as the server runs, an id stands for one definition.
 */
final class TablePlans {
    static final String OUR_SCHEMA = "quorate";

    private static final Logger LOG = LoggerFactory.getLogger(TablePlans.class);
    private static final int TABLES_MAX = 20_000;

    private record Known(byte[] event, TablePlan plan) {}

    private final Definitions definitions;
    private final ComparisonForms forms;
    private final boolean warns;
    private final Map<Long, Known> plans = new HashMap<>();
    private final Set<TableName> warned = new HashSet<>();
    private BinlogPosition at;

    /** @param warns whether to log tables whose rows can't be told apart well */
    TablePlans(Definitions definitions, ComparisonForms forms, boolean warns) {
        this.definitions = definitions;
        this.forms = forms;
        this.warns = warns;
    }

    /** The reader has come to a transaction, whose GTID event ends there. */
    void at(BinlogPosition place) {
        at = place;
    }

    /** The plan for a TABLE_MAP event. */
    TablePlan plan(byte[] b, int offset, int length) {
        long id = Bytes.little(b, offset + BinlogEvents.HEADER_BYTES, 6);
        Known known = plans.get(id);
        int from = offset + BinlogEvents.HEADER_BYTES;
        if (known != null && Arrays.equals(known.event, 0, known.event.length, b, from, offset + length)) {
            return known.plan;
        }
        TableMap map = TableMap.read(b, offset, length);
        boolean local = map.schema.equals(OUR_SCHEMA) || new TableName(map.schema, map.table).isServersOwn();
        TablePlan plan = local ? TablePlan.local(map) : plan(map);
        if (plans.size() >= TABLES_MAX) {
            plans.clear();
        }
        if (plan.unknown) {
            // It is asked for again next time.
            return plan;
        }
        plans.put(id, new Known(Arrays.copyOfRange(b, from, offset + length), plan));
        return plan;
    }

    /**
     * The last TABLE_MAP event of a table that was read since its definition changed or a file began, from behind its
     * header on; null for none.
     */
    byte[] lastSeen(TableName name) {
        return plans.entrySet().stream()
                .filter(each -> each.getValue().plan.name().equals(name))
                .max(Map.Entry.comparingByKey())
                .map(each -> each.getValue().event)
                .orElse(null);
    }

    /** As {@link Definitions#isAtomic}. */
    boolean isAtomic(TableName name) {
        try {
            return definitions.isAtomic(name);
        } catch (SQLException e) {
            throw unreadable(name, e);
        }
    }

    /** As {@link Definitions#engine}. */
    String engine(TableName name) {
        try {
            return definitions.engine(name);
        } catch (SQLException e) {
            throw unreadable(name, e);
        }
    }

    /** As {@link Definitions#expressions}. */
    List<String> expressions(TableName name) {
        try {
            return definitions.expressions(name);
        } catch (SQLException e) {
            throw unreadable(name, e);
        }
    }

    private static QuorateException unreadable(TableName name, SQLException e) {
        return new QuorateException(
                ErrorCode.SERVER_UNREACHABLE, "can't read the definition of " + name.schema() + "." + name.table(), e);
    }

    /** As {@link Definitions#werePlain}. */
    boolean werePlain(TableName name, List<String> indexes) {
        return definitions.werePlain(name, indexes);
    }

    /** As {@link Definitions#areNumberedAlike}. */
    boolean areNumberedAlike(TableName name, Statement.Numbering numbering) {
        try {
            return definitions.areNumberedAlike(name, numbering);
        } catch (SQLException e) {
            throw new QuorateException(
                    ErrorCode.SERVER_UNREACHABLE,
                    "can't read the keys of " + name.schema() + "." + name.table() + ": " + e.getMessage(),
                    e);
        }
    }

    /** As {@link Definitions#timeZone}. */
    String timeZone(long session) {
        try {
            return definitions.timeZone(session);
        } catch (SQLException e) {
            throw new QuorateException(
                    ErrorCode.SERVER_UNREACHABLE, "can't read the time zone of session " + session, e);
        }
    }

    /** As {@link Definitions#session}. */
    OriginSession session(long id, long second, Set<CarriedSetting> asked) {
        try {
            return definitions.session(id, second, asked);
        } catch (SQLException e) {
            throw new QuorateException(ErrorCode.SERVER_UNREACHABLE, "can't read what session " + id + " has set", e);
        }
    }

    /** As {@link Definitions#present}. */
    KnownTables.Present present() {
        try {
            return definitions.present();
        } catch (SQLException e) {
            throw new QuorateException(ErrorCode.SERVER_UNREACHABLE, "can't read which tables there are", e);
        }
    }

    /** A statement changed definitions, nobody knows which. */
    void definitionsChanged() {
        plans.clear();
        definitions.forget();
    }

    /** A statement changed definitions, as {@link Definitions#reread}. */
    void definitionsChanged(Collection<TableName> named, Definitions.Redefined redefined) {
        plans.values().removeIf(known -> !known.plan.standsAlone || named.contains(known.plan.name()));
        definitions.reread(named, redefined);
    }

    /** Another binlog file, perhaps of a server started anew: ids may mean other tables. */
    void forgetIds() {
        plans.clear();
    }

    /** Warns once per table that its rows conflict more than they should, and why. */
    void warn(TablePlan plan, String why) {
        if (warns && warned.size() < TABLES_MAX && warned.add(plan.name())) {
            LOG.warn(
                    "Rows of {}.{} conflict more often than they would with a key: {}",
                    plan.map.schema,
                    plan.map.table,
                    why);
        }
    }

    private TablePlan plan(TableMap map) {
        try {
            TableDefinition definition = definitions.definition(new TableName(map.schema, map.table), at);
            TablePlan plan = TablePlan.of(map, definition, forms);
            if (plan.coarse != null) {
                warn(plan, "any two conflict, because " + plan.coarse);
            } else if (definition.unique().isEmpty()) {
                warn(plan, "it has no unique index, so whole rows are compared; give it a primary key");
            }
            return plan;
        } catch (SQLException e) {
            throw new QuorateException(
                    ErrorCode.SERVER_UNREACHABLE,
                    "can't read the keys of " + map.schema + "." + map.table + ": " + e.getMessage(),
                    e);
        }
    }
}
