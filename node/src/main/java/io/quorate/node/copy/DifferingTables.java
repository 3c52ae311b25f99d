// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import io.quorate.capture.DefinedTables;
import io.quorate.capture.DefinedTables.Schema;
import io.quorate.core.Certified;
import io.quorate.core.Difference;
import io.quorate.core.OrderedFirst;
import io.quorate.core.TableName;
import io.quorate.core.WriteSet;
import io.quorate.core.WriteSetLog;
import io.quorate.core.binlog.TableMap;
import io.quorate.sst.stream.Catalog;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Finds the tables that must be copied so that a server that differs holds again what the order says. They are those in
 * which the difference is, and
 *
 * <ul>
 *   <li>those of own definitions that failed, because a statement that was run can't be taken back;
 *   <li>those of which another server's are right ({@link OrderedFirst#isTrust}), as was ordered after its position;
 *   <li>those that a definition which this server hasn't run yet names together with one of them, as a RENAME does: it
 *       is run as a whole or not at all;
 *   <li>those that foreign keys tie to one of them. The copied tables are ahead of the others for a while, and a row
 *       and the row that it refers to must not be of different moments;
 *   <li>those to which a transaction cascaded ({@link Keys#CASCADES}) that changed one of them. The foreign key may be
 *       gone since; but as the copied tables' rows are cut out of what is applied, nothing cascades any more.
 * </ul>
 *
 * <p>Accounts, views and stored programs are copied all or none: they are small. Triggers come with their tables. If a
 * database differs as such, these are copied too, because its characters are theirs, and so are those of its tables
 * that were defined after the server's position; all of them, if this server has dropped it.
 */
final class DifferingTables {

    private final Set<TableName> found = new HashSet<>();
    private final Set<String> schemas = new HashSet<>();
    /** Databases that this server has dropped, and those that it is still to drop. */
    private final Set<String> gone = new HashSet<>();

    private final Set<String> goes = new HashSet<>();
    /** The tables of each definition that this server hasn't run yet. */
    private final List<Set<TableName>> definitions = new ArrayList<>();

    private final CascadeReach cascades;

    private final Function<WriteSet, @Nullable Set<TableName>> defined;
    private final WriteSetLog log;
    private final UUID server;
    private final Predicate<WriteSet> ofObjects;
    private final Function<WriteSet, @Nullable Schema> schema;
    private boolean forOthers;
    private boolean objects;
    private final List<Long> failed = new ArrayList<>();

    /**
     * @param defined the tables that a definition names, as {@link io.quorate.capture.DefinedTables#of} says
     * @param ofObjects whether a definition is one of accounts, views and stored programs, as {@link
     *     io.quorate.capture.DefinedTables#isOfObjects} says
     * @param schema the database that a definition is of, as {@link io.quorate.capture.DefinedTables#schema} says
     * @param log the node's record
     */
    DifferingTables(
            Function<WriteSet, @Nullable Set<TableName>> defined,
            Predicate<WriteSet> ofObjects,
            Function<WriteSet, @Nullable Schema> schema,
            WriteSetLog log,
            UUID server) {
        this.defined = defined;
        this.ofObjects = ofObjects;
        this.schema = schema;
        this.log = log;
        this.server = server;
        this.cascades = new CascadeReach(this::named, log, server);
    }

    /** @param defined says what a definition concerns */
    static DifferingTables of(DefinedTables defined, WriteSetLog log, UUID server) {
        return new DifferingTables(defined::of, defined::isOfObjects, defined::schema, log, server);
    }

    /**
     * What has to be copied.
     *
     * @param schemas databases that have to be, as such
     * @param objects whether accounts, views and stored programs have to be, too; always, if databases have
     */
    record Found(Set<TableName> tables, Set<String> schemas, boolean objects) {
        /** The tables, if nothing else has to be copied. */
        Set<TableName> alone() throws NotByTables {
            if (objects) {
                throw new NotByTables("accounts, views or stored programs differ");
            }
            return tables;
        }
    }

    /** Says why it can't be done with single tables. */
    static final class NotByTables extends Exception {
        private static final long serialVersionUID = 1L;
        /** Where the server differs besides; null when that isn't known. */
        final transient @Nullable Difference besides;

        NotByTables(String why) {
            this(why, null);
        }

        NotByTables(String why, @Nullable Difference besides) {
            super(why);
            this.besides = besides;
        }
    }

    /**
     * Finds them.
     *
     * @param position the seqno up to which the order is applied on this server
     * @param upTo the seqno at which the donor's definitions were read; the record has everything up to there
     * @param donors the donor's tables
     */
    Found find(Difference where, long position, long upTo, Catalog donors)
            throws NotByTables, IOException, InterruptedException {
        if (where.mayBeAnywhere()) {
            throw new NotByTables("nothing says where the difference is");
        }
        if (log.first() > position + 1) {
            throw new NotByTables("the record no longer has what was ordered after seqno " + position);
        }
        found.addAll(where.tables());
        for (long seqno : where.seqnos()) {
            if (seqno <= position) {
                add(at(seqno));
            }
        }
        scan(where, position, upTo);
        definitions.addAll(cascades.find(position, upTo, donors));
        addTablesOfSchemas(donors);
        close(donors.ties());
        requireNoneGoes();
        cascades.requireKnown(found);
        // Accounts have no other tables than these. Any other of a server's own isn't to be the same everywhere.
        objects |= found.removeIf(table -> !TableName.isSchemaOfUsers(table.schema()));
        if (found.isEmpty() && !objects) {
            throw new NotByTables("it isn't in tables");
        }
        return new Found(Set.copyOf(found), Set.copyOf(schemas), objects);
    }

    private void addTablesOfSchemas(Catalog donors) {
        objects |= !schemas.isEmpty();
        definitions.stream()
                .flatMap(Set::stream)
                .filter(table -> schemas.contains(table.schema()))
                .forEach(found::add);
        donors.tables().stream()
                .map(Catalog.Table::fullName)
                .filter(table -> gone.contains(table.schema()))
                .forEach(found::add);
    }

    /** Its tables would be dropped again with their database. */
    private void requireNoneGoes() throws NotByTables {
        for (String dropped : goes) {
            if (schemas.contains(dropped)
                    || found.stream().anyMatch(table -> table.schema().equals(dropped))) {
                throw new NotByTables("database " + dropped + " is to be dropped");
            }
        }
    }

    /**
     * What this server can give to others: not these tables, nor those of own transactions that failed and may not be
     * undone, nor those that are defined anew after its position. For the rest as {@link #find}.
     */
    OfferWhileWaiting offer(Difference where, long position, long upTo, Catalog own)
            throws NotByTables, IOException, InterruptedException {
        forOthers = true;
        Set<TableName> tables = find(where, position, upTo, own).alone();
        return new OfferWhileWaiting(List.copyOf(tables), List.copyOf(failed));
    }

    private Certified at(long seqno) throws NotByTables, IOException, InterruptedException {
        if (seqno < log.first()) {
            throw new NotByTables("the record no longer has seqno " + seqno);
        }
        return log.at(seqno);
    }

    private void scan(Difference where, long position, long upTo)
            throws NotByTables, IOException, InterruptedException {
        Set<Object> wanted = new HashSet<>(where.writeSets());
        log.each(position + 1, upTo, c -> take(c, where, wanted));
        if (!wanted.isEmpty()) {
            throw new NotByTables("the record doesn't have " + wanted);
        }
    }

    private void take(Certified c, Difference where, Set<Object> wanted) throws NotByTables {
        WriteSet w = c.writeSet();
        cascades.meet(c);
        boolean failedHere = (w.isDefinition() || forOthers)
                && !c.passed()
                && w.gtid().source().equals(server);
        if (failedHere) {
            failed.add(w.gtid().number());
        }
        boolean trusted = c.passed() && OrderedFirst.isTrust(w);
        if (wanted.remove(w.gtid()) || where.seqnos().contains(c.seqno()) || failedHere || trusted) {
            add(c);
        }
        if (w.isDefinition() && c.passed()) {
            Schema ofSchema = schema.apply(w);
            if (ofSchema != null) {
                if (ofSchema.dropped()) {
                    goes.add(ofSchema.name());
                }
                return;
            }
            Set<TableName> named = named(c);
            if (named == null) {
                objects = true;
                return;
            }
            definitions.add(named);
            if (forOthers) {
                found.addAll(named);
            }
        }
    }

    /** The tables that a definition names; null for that of a trigger whose table isn't known, and may be copied. */
    private @Nullable Set<TableName> named(Certified definition) throws NotByTables {
        Set<TableName> named = defined.apply(definition.writeSet());
        if (named == null && !ofObjects.test(definition.writeSet())) {
            throw new NotByTables("the definition at seqno " + definition.seqno() + " may concern any table");
        }
        return named;
    }

    /** The tables or objects of one writeset have to be copied. */
    private void add(Certified c) throws NotByTables {
        WriteSet w = c.writeSet();
        if (w.isUpkeep()) {
            return;
        }
        if (!w.isDefinition()) {
            found.addAll(TableMap.tables(w.payload()));
            return;
        }
        Schema ofSchema = schema.apply(w);
        if (ofSchema != null) {
            schemas.add(ofSchema.name());
            if (ofSchema.dropped() && !c.passed()) {
                gone.add(ofSchema.name());
            }
            return;
        }
        Set<TableName> named = defined.apply(w);
        boolean none = named == null || named.isEmpty();
        if (none && ofObjects.test(w)) {
            objects = true;
            return;
        }
        if (none) {
            throw new NotByTables("the definition at seqno " + c.seqno() + " isn't one of tables alone");
        }
        found.addAll(named);
    }

    private void close(Set<Map.Entry<TableName, TableName>> ties) {
        int before;
        do {
            before = found.size();
            cascades.reach(found);
            for (Set<TableName> named : definitions) {
                if (!Collections.disjoint(named, found)) {
                    found.addAll(named);
                }
            }
            for (Map.Entry<TableName, TableName> tie : ties) {
                if (found.contains(tie.getKey()) || found.contains(tie.getValue())) {
                    found.add(tie.getKey());
                    found.add(tie.getValue());
                }
            }
        } while (found.size() > before);
    }
}
