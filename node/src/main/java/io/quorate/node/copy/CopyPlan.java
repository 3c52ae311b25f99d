// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import io.quorate.core.ErrorCode;
import io.quorate.core.LogPosition;
import io.quorate.core.QuorateException;
import io.quorate.core.TableName;
import io.quorate.sst.stream.Catalog;
import io.quorate.transport.DurableFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * What a copy by method {@code stream} has to make; kept in {@code copy-plan.json} while the copy is under way.
 *
 * @param copy names this copy
 * @param since everything ordered up to this seqno is in every row that is read
 * @param log the position of that seqno in the order's log
 * @param catalog everything except rows, as it was at that seqno
 * @param bytes size of the donor's table files at that time
 * @param upTo the seqno to which the rows are brought; 0 while that isn't known
 * @param rest the catalog at {@code upTo}, from which everything besides tables is taken; before that, as it was at
 *     {@code since}, or null if none of it is taken
 * @param tables the tables that are copied, those that the donor doesn't have included; null for everything
 * @param schemas databases that get the donor's characters, or go if the donor doesn't have them, besides these tables
 * @param objects whether accounts, views and stored programs are copied, besides these tables; always with everything
 */
record CopyPlan(
        String copy,
        long since,
        LogPosition log,
        Catalog catalog,
        long bytes,
        long upTo,
        @Nullable Catalog rest,
        @Nullable Set<TableName> tables,
        Set<String> schemas,
        boolean objects) {
    private static final String FILE = "copy-plan.json";

    CopyPlan {
        // A service before this one has written none.
        schemas = schemas == null ? Set.of() : schemas;
        objects = objects || tables == null;
    }

    CopyPlan upTo(long seqno, Catalog then) {
        return new CopyPlan(copy, since, log, catalog, bytes, seqno, then, tables, schemas, objects);
    }

    /** What is copied, for people. */
    String what() {
        if (tables == null) {
            return "everything";
        }
        List<String> parts = new ArrayList<>();
        if (!tables.isEmpty()) {
            parts.add(TableName.some(tables));
        }
        if (!schemas.isEmpty()) {
            parts.add("database " + String.join(" and ", new TreeSet<>(schemas)));
        }
        if (objects) {
            parts.add("views, stored programs and accounts");
        }
        return String.join(", and ", parts);
    }

    /** Reads the plan in {@code directory}; null when there is none. */
    static CopyPlan read(Path directory, JsonMapper json) {
        Path file = directory.resolve(FILE);
        if (!Files.exists(file)) {
            return null;
        }
        try {
            return json.readValue(Files.readAllBytes(file), CopyPlan.class);
        } catch (IOException | JacksonException e) {
            throw new QuorateException(ErrorCode.DISK, file + " is unreadable: " + e, e);
        }
    }

    void write(Path directory, JsonMapper json) throws IOException {
        // The plan contains the hashes of passwords.
        DurableFile.writePrivate(directory.resolve(FILE), json.writeValueAsString(this));
    }

    static void delete(Path directory) throws IOException {
        Files.deleteIfExists(directory.resolve(FILE));
    }
}
