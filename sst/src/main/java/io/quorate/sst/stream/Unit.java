// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import io.quorate.core.Certified;
import io.quorate.core.Identifiers;
import io.quorate.core.TableName;
import io.quorate.core.binlog.Upserts;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a copy takes as one: a table that is read in pieces by its primary key, each at a moment of its own; or tables
 * that have to be read as a whole and at one moment. The latter are a table without a usable primary key, whose rows
 * can't be overwritten one by one; and tables tied by foreign keys that cascade, because what a cascade does to rows
 * isn't in the order.
 *
 * @param number its place in the list, which identifies it
 * @param tables {@code schema.table} in pairs
 */
public record Unit(int number, List<TableName> tables, boolean whole) {
    private static final Pattern CASCADES = Pattern.compile("ON (DELETE|UPDATE) (CASCADE|SET NULL|SET DEFAULT)");
    private static final Pattern REFERENCES = Pattern.compile("REFERENCES (?:`((?:[^`]|``)+)`\\.)?`((?:[^`]|``)+)`");

    /** All units of a catalog: whole ones first, because the others are read in pieces anyway. */
    public static List<Unit> of(Catalog catalog) {
        Map<TableName, TableName> leader = new HashMap<>();
        Map<TableName, Catalog.Table> tables =
                new TreeMap<>(Comparator.comparing(TableName::schema).thenComparing(TableName::table));
        for (Catalog.Table table : catalog.tables()) {
            TableName name = table.fullName();
            tables.put(name, table);
            leader.put(name, name);
        }
        for (Map.Entry<TableName, Catalog.Table> each : tables.entrySet()) {
            for (Catalog.Clause key : cascading(each.getValue())) {
                TableName parent = referenced(each.getKey().schema(), key.definition());
                if (leader.containsKey(parent)) {
                    leader.put(find(leader, parent), find(leader, each.getKey()));
                }
            }
        }
        Map<TableName, List<TableName>> groups = new TreeMap<>(Comparator.comparing(TableName::toString));
        tables.keySet().forEach(name -> groups.computeIfAbsent(find(leader, name), n -> new ArrayList<>())
                .add(name));
        List<Unit> units = new ArrayList<>();
        for (boolean whole : new boolean[] {true, false}) {
            for (List<TableName> group : groups.values()) {
                boolean asWhole = group.size() > 1
                        || !tables.get(group.get(0)).keyed()
                        || !cascading(tables.get(group.get(0))).isEmpty();
                if (asWhole == whole) {
                    units.add(new Unit(units.size(), List.copyOf(group), whole));
                }
            }
        }
        return units;
    }

    public boolean has(Catalog.Table table) {
        return tables.contains(table.fullName());
    }

    /**
     * How the changes of a writeset that passed are carried out over this unit's rows. Pieces that were read at moments
     * of their own have it or not, so they are overwritten; rows without a key to find them by must not get it twice.
     *
     * @param read when the unit was read, if that was as a whole
     */
    public Upserts.Rule rule(Certified c, Moment read) {
        if (!whole) {
            return Upserts.Rule.OVERWRITE;
        }
        return read.has(c) ? Upserts.Rule.SKIP : Upserts.Rule.AS_IS;
    }

    private static TableName find(Map<TableName, TableName> leader, TableName name) {
        TableName at = name;
        while (!leader.get(at).equals(at)) {
            at = leader.get(at);
        }
        return at;
    }

    /** The foreign keys of a table that change its rows when its parent's rows change. */
    public static List<Catalog.Clause> cascading(Catalog.Table table) {
        return table.foreignKeys().stream()
                .filter(key -> CASCADES.matcher(key.definition()).find())
                .toList();
    }

    /** The table with only these foreign keys. */
    public static Catalog.Table withCascadingOnly(Catalog.Table t) {
        return new Catalog.Table(t.schema(), t.name(), t.create(), t.indexes(), cascading(t), t.engine(), t.keyed());
    }

    static TableName referenced(String schema, String key) {
        Matcher matcher = REFERENCES.matcher(key);
        if (!matcher.find()) {
            throw new IllegalArgumentException("not a foreign key: " + key);
        }
        String other = matcher.group(1);
        return new TableName(
                other == null ? schema : Identifiers.unquoted(other), Identifiers.unquoted(matcher.group(2)));
    }
}
