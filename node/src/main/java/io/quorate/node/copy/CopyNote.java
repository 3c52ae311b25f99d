// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import io.quorate.core.Difference;
import io.quorate.core.ErrorCode;
import io.quorate.core.GtidSet;
import io.quorate.core.QuorateException;
import io.quorate.core.TableName;
import io.quorate.transport.DurableFile;
import java.io.IOException;
import java.io.Reader;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.Set;
import java.util.UUID;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * What this node has to remember about a copy, in file {@code copy.properties}. The file exists from when the copy
 * is decided upon until the server holds what the order says.
 *
 * @param step how far the copy is
 * @param from the writeset cache holds everything after this seqno; a copy that ends before this seqno is of no use
 * @param ownLast last GTID number that this node's server ever gave out
 * @param donor name of the node whose server is copied; empty while none is
 * @param donorServer that server's UUID; null while no server is copied
 * @param reserved GTIDs that are executed on that server though no transaction there has them
 * @param after once STRAIGHT, the GTID number of the last of the donor's own transactions that the rows have
 * @param upTo once STRAIGHT, the seqno by which the order has all of the donor's own transactions that were in the
 *     copy; while STREAMING, the seqno by which the order has all of this server's own transactions; once TABLES_HERE
 *     or TRUSTED, the seqno at which these tables are
 * @param where where this server differs; {@link Difference#ANYWHERE} for a copy of everything
 */
record CopyNote(
        Step step,
        long from,
        long ownLast,
        String donor,
        UUID donorServer,
        GtidSet reserved,
        long after,
        long upTo,
        Difference where) {
    enum Step {
        /** A copy is needed, and the server is as it was. */
        WANTED,
        /**
         * As WANTED, after it was tried in vain to have its own tables stand. It holds all that it held, but may be
         * further in the order than what it differs in.
         */
        WANTED_STILL,
        /** As WANTED, but the server's own data may be gone. */
        WANTED_ANEW,
        /** A copy by method stream is under way: the tables that it replaces, or all, may be gone. */
        STREAMING,
        /** A copy by method clone is under way: the server's own data may be gone. */
        COPYING,
        /**
         * A copy by method clone is here. What only the donor knew at that time was taken back, and will come from the
         * order.
         */
        STRAIGHT,
        /** The tables that came by method stream are here. The others are still to be brought to their place. */
        TABLES_HERE,
        /**
         * All servers differ in the same tables. What others have written to these is being applied under this server's
         * own definitions of them, which are to stand.
         */
        KEEPING,
        /**
         * The server's own tables are to be right where it differs, as somebody has chosen, or because nothing is lost
         * by it; that isn't ordered yet.
         */
        TRUSTING,
        /** That is ordered. The other tables are still to be brought to that place. */
        TRUSTED
    }

    /** As {@link #from}: of some tables, servers that wait for a copy themselves may give it, at their own place. */
    static final long ANY_PLACE = 0;

    private static final String FILE = "copy.properties";

    static CopyNote wanted(long from, Difference where) {
        return new CopyNote(Step.WANTED, from, 0, "", null, new GtidSet(), 0, 0, where);
    }

    static CopyNote trusting(long from, Difference where) {
        return new CopyNote(Step.TRUSTING, from, 0, "", null, new GtidSet(), 0, 0, where);
    }

    static CopyNote keeping(long from, Set<TableName> tables) {
        return new CopyNote(Step.KEEPING, from, 0, "", null, new GtidSet(), 0, 0, Difference.in(tables));
    }

    CopyNote trusted(long last, long at) {
        return new CopyNote(Step.TRUSTED, from, last, "", null, new GtidSet(), 0, at, where);
    }

    /** Whether a copy is needed, and the server still holds all that it held. */
    boolean isUntouched() {
        return step == Step.WANTED || step == Step.WANTED_STILL;
    }

    /** Whether a copy is needed, and none is under way. */
    boolean isWanted() {
        return isUntouched() || step == Step.WANTED_ANEW;
    }

    /** Whether the server's own tables may be gone, for a copy that isn't here yet. */
    boolean isBegun() {
        return step == Step.WANTED_ANEW || step == Step.STREAMING || step == Step.COPYING;
    }

    /** Whether the server's own tables are right. */
    boolean isTrust() {
        return step == Step.TRUSTING || step == Step.TRUSTED;
    }

    /** Begins anew, with a copy of everything that has to reach further. */
    CopyNote everythingFrom(long later) {
        return new CopyNote(anew(), later, ownLast, "", null, new GtidSet(), 0, 0, Difference.ANYWHERE);
    }

    private Step anew() {
        return switch (step) {
            case WANTED -> Step.WANTED;
            case WANTED_STILL, KEEPING, TRUSTING -> Step.WANTED_STILL;
            default -> Step.WANTED_ANEW;
        };
    }

    CopyNote streaming(long last, long ordered) {
        return new CopyNote(Step.STREAMING, from, last, "", null, new GtidSet(), 0, ordered, where);
    }

    /** Goes on, with what servers give that wait for a copy themselves. */
    CopyNote atAnyPlace() {
        return new CopyNote(step, ANY_PLACE, ownLast, "", null, new GtidSet(), 0, upTo, where);
    }

    CopyNote tablesHere(long at) {
        return new CopyNote(Step.TABLES_HERE, from, ownLast, "", null, new GtidSet(), 0, at, where);
    }

    /** Begins anew, because more differs than was known. */
    CopyNote wider(Difference more) {
        return new CopyNote(anew(), from, ownLast, "", null, new GtidSet(), 0, 0, more);
    }

    /** Begins anew, with a copy of everything. */
    CopyNote everything() {
        return wider(Difference.ANYWHERE);
    }

    CopyNote copying(long last, String node, UUID server, GtidSet notThere) {
        return new CopyNote(Step.COPYING, from, last, node, server, notThere, 0, 0, where);
    }

    CopyNote straight(long rowsHave, long ordered) {
        return new CopyNote(Step.STRAIGHT, from, ownLast, donor, donorServer, reserved, rowsHave, ordered, where);
    }

    /**
     * Begins anew, but keeps the last GTID number that the server gave out: the server itself has lost it with its
     * data.
     */
    CopyNote again() {
        return wider(where);
    }

    /** Whether rows come by method {@code stream}. */
    boolean isByStream() {
        return step == Step.STREAMING || step == Step.TABLES_HERE;
    }

    /** Reads the note in {@code directory}; null when no copy is needed. */
    static CopyNote read(Path directory, JsonMapper json) {
        Path file = directory.resolve(FILE);
        if (!Files.exists(file)) {
            return null;
        }
        Properties p = new Properties();
        try (Reader in = Files.newBufferedReader(file)) {
            p.load(in);
            String server = p.getProperty("donor-server");
            String where = p.getProperty("where");
            return new CopyNote(
                    Step.valueOf(p.getProperty("step")),
                    Long.parseLong(p.getProperty("from")),
                    Long.parseLong(p.getProperty("own-last")),
                    p.getProperty("donor"),
                    server.isEmpty() ? null : UUID.fromString(server),
                    GtidSet.parse(p.getProperty("reserved")),
                    Long.parseLong(p.getProperty("after")),
                    Long.parseLong(p.getProperty("up-to")),
                    where == null ? Difference.ANYWHERE : json.readValue(where, Difference.class));
        } catch (IOException | IllegalArgumentException | NullPointerException | JacksonException e) {
            throw new QuorateException(ErrorCode.DISK, file + " is unreadable: " + e, e);
        }
    }

    /** Writes this note to {@code directory}, durably. */
    void write(Path directory, JsonMapper json) throws IOException {
        Properties p = new Properties();
        p.setProperty("step", step.name());
        p.setProperty("from", Long.toString(from));
        p.setProperty("own-last", Long.toString(ownLast));
        p.setProperty("donor", donor);
        p.setProperty("donor-server", donorServer == null ? "" : donorServer.toString());
        p.setProperty("reserved", reserved.toString());
        p.setProperty("after", Long.toString(after));
        p.setProperty("up-to", Long.toString(upTo));
        p.setProperty("where", json.writeValueAsString(where));
        StringWriter text = new StringWriter();
        p.store(text, "A copy of another server's data is under way; gone when it is over");
        DurableFile.write(directory.resolve(FILE), text.toString());
    }

    static void delete(Path directory) throws IOException {
        Files.deleteIfExists(directory.resolve(FILE));
    }
}
