// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.TableName;
import java.util.List;

/**
 * The part of a table's definition that keys need, from information_schema.
 *
 * @param createdSecond when its definition last changed, seconds since the epoch; {@link #GONE} when there is no such
 *     table
 * @param validSecond since when keys have been made as this definition says; not before {@code createdSecond}, unless
 *     it only continues a former one
 * @param unique its unique indexes, the primary key among them
 * @param opaque whether a unique index is over expressions, whose values are not in the rows
 * @param references its foreign keys
 * @param referenced column lists of it that foreign keys reference
 * @param children tables whose foreign keys change their rows by cascade when its own are deleted
 * @param cascades tables beyond these that deleting its rows may change by cascade
 * @param expressions texts of what the server computes of its rows: generated columns, indexes, CHECKs; null when they
 *     aren't known
 * @param cascadesEnded whether there may have been other foreign keys that cascade when the rows were written
 */
record TableDefinition(
        long createdSecond,
        long validSecond,
        List<Index> unique,
        boolean opaque,
        List<ForeignKey> references,
        List<List<String>> referenced,
        List<TableName> children,
        List<TableName> cascades,
        List<String> expressions,
        boolean cascadesEnded) {
    static final long GONE = -1;
    private static final long DEFINED_LATER = -2;
    private static final long NOT_READ = -3;

    static final TableDefinition NONE =
            new TableDefinition(GONE, GONE, List.of(), false, List.of(), List.of(), List.of(), List.of(), null, true);

    /** It couldn't be read, nor which tables foreign keys tie it to. */
    static final TableDefinition UNKNOWN = new TableDefinition(
            NOT_READ, NOT_READ, List.of(), false, List.of(), List.of(), List.of(), List.of(), null, true);

    /**
     * The server has a later one than was asked for, and what it was isn't known any more. Its foreign keys are other
     * tables' definitions.
     */
    TableDefinition later() {
        return new TableDefinition(
                DEFINED_LATER,
                DEFINED_LATER,
                List.of(),
                false,
                List.of(),
                List.of(),
                children,
                cascades,
                null,
                cascadesEnded);
    }

    boolean isLater() {
        return createdSecond == DEFINED_LATER;
    }

    boolean isUnknown() {
        return createdSecond == NOT_READ;
    }

    /** Whether no foreign key ties it to other tables, or may have. */
    boolean standsAlone() {
        return references.isEmpty() && referenced.isEmpty() && !cascadesEnded;
    }

    boolean exists() {
        return createdSecond != GONE;
    }

    /**
     * This definition, valid since {@code former} was if keys are made as it says.
     *
     * @param former the one before; no statement between the two may have changed how keys are made, not even for a
     *     while. Null when it isn't known
     */
    TableDefinition continuing(TableDefinition former) {
        boolean sameKeys = former != null
                && exists()
                && former.exists()
                && unique.equals(former.unique)
                && opaque == former.opaque
                && references.equals(former.references)
                && referenced.equals(former.referenced)
                && children.equals(former.children)
                && cascades.equals(former.cascades);
        return sameKeys
                ? new TableDefinition(
                        createdSecond,
                        former.validSecond,
                        unique,
                        opaque,
                        references,
                        referenced,
                        children,
                        cascades,
                        expressions,
                        cascadesEnded)
                : this;
    }

    /**
     * Whether its indexes of these names are neither unique nor over expressions, so that they refuse no row. The
     * server tells names apart without regard to case; false where that isn't that of ASCII.
     */
    boolean arePlain(List<String> indexes) {
        return !opaque
                && expressions != null
                && expressions.isEmpty()
                && indexes.stream()
                        .allMatch(name -> name.chars().allMatch(c -> c < 128)
                                && unique.stream().noneMatch(each -> each.name().equalsIgnoreCase(name)));
    }

    /** The same, of rows that were written when other foreign keys may have cascaded from them. */
    TableDefinition afterCascadesEnded() {
        return new TableDefinition(
                createdSecond,
                validSecond,
                unique,
                opaque,
                references,
                referenced,
                children,
                cascades,
                expressions,
                true);
    }

    /** A unique index. */
    record Index(String name, List<Part> parts) {}

    /**
     * A column of an index.
     *
     * @param prefix how much of it is indexed, characters of text and bytes of anything else; 0 for all
     */
    record Part(String column, int prefix) {}

    /** A foreign key: {@code columns} here, in order, are {@code parentColumns} there. */
    record ForeignKey(TableName parent, List<String> columns, List<String> parentColumns) {}
}
