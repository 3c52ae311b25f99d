// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import io.quorate.core.ErrorCode;
import io.quorate.core.GtidSet;
import io.quorate.core.QuorateException;
import io.quorate.transport.DurableFile;
import java.io.IOException;
import java.io.Reader;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.UUID;

/**
 * What this node has to remember of a full copy until its server is as the order says: {@code copy.properties}, which
 * is there from when the copy is decided upon.
 *
 * @param step how far it is
 * @param from the writeset cache holds everything after this seqno; a copy that ends before it is of no use
 * @param ownLast last GTID number that this node's server ever gave out
 * @param donor name of the node whose server is copied; empty while none is
 * @param donorServer that server's UUID, null likewise
 * @param reserved GTIDs that are executed there and that no transaction there has
 * @param after last number of the donor's own transactions that the rows have, once STRAIGHT
 * @param upTo seqno by which the order has all of the donor's own transactions that the copy had; while STREAMING, all
 *     of this server's own
 */
record CopyNote(
        Step step, long from, long ownLast, String donor, UUID donorServer, GtidSet reserved, long after, long upTo) {
    enum Step {
        /** A copy is needed, the server is as it was. */
        WANTED,
        /** By method stream: the server's own data may be gone. */
        STREAMING,
        /** By method clone: likewise. */
        COPYING,
        /** The copy is here; what its donor alone knew then was taken back, and comes from the order. */
        STRAIGHT
    }

    private static final String FILE = "copy.properties";

    static CopyNote wanted(long from) {
        return new CopyNote(Step.WANTED, from, 0, "", null, new GtidSet(), 0, 0);
    }

    /** Known from an earlier one: what the server gave out. */
    CopyNote ownLast(long known) {
        return new CopyNote(step, from, known, donor, donorServer, reserved, after, upTo);
    }

    CopyNote streaming(long last, long ordered) {
        return new CopyNote(Step.STREAMING, from, last, "", null, new GtidSet(), 0, ordered);
    }

    CopyNote copying(long last, String node, UUID server, GtidSet notThere) {
        return new CopyNote(Step.COPYING, from, last, node, server, notThere, 0, 0);
    }

    CopyNote straight(long rowsHave, long ordered) {
        return new CopyNote(Step.STRAIGHT, from, ownLast, donor, donorServer, reserved, rowsHave, ordered);
    }

    /** Begins anew; what the server gave out is lost with its data, so it stays known. */
    CopyNote again() {
        return new CopyNote(Step.WANTED, from, ownLast, "", null, new GtidSet(), 0, 0);
    }

    /** What is kept in {@code directory}, null when there is nothing to be copied. */
    static CopyNote read(Path directory) {
        Path file = directory.resolve(FILE);
        if (!Files.exists(file)) {
            return null;
        }
        Properties p = new Properties();
        try (Reader in = Files.newBufferedReader(file)) {
            p.load(in);
            String server = p.getProperty("donor-server");
            return new CopyNote(
                    Step.valueOf(p.getProperty("step")),
                    Long.parseLong(p.getProperty("from")),
                    Long.parseLong(p.getProperty("own-last")),
                    p.getProperty("donor"),
                    server.isEmpty() ? null : UUID.fromString(server),
                    GtidSet.parse(p.getProperty("reserved")),
                    Long.parseLong(p.getProperty("after")),
                    Long.parseLong(p.getProperty("up-to")));
        } catch (IOException | IllegalArgumentException | NullPointerException e) {
            throw new QuorateException(ErrorCode.DISK, file + " is unreadable: " + e, e);
        }
    }

    /** Keeps this in {@code directory}, durably. */
    void write(Path directory) throws IOException {
        Properties p = new Properties();
        p.setProperty("step", step.name());
        p.setProperty("from", Long.toString(from));
        p.setProperty("own-last", Long.toString(ownLast));
        p.setProperty("donor", donor);
        p.setProperty("donor-server", donorServer == null ? "" : donorServer.toString());
        p.setProperty("reserved", reserved.toString());
        p.setProperty("after", Long.toString(after));
        p.setProperty("up-to", Long.toString(upTo));
        StringWriter text = new StringWriter();
        p.store(text, "A full copy of another server's data is under way; gone when it is over");
        DurableFile.write(directory.resolve(FILE), text.toString());
    }

    static void delete(Path directory) throws IOException {
        Files.deleteIfExists(directory.resolve(FILE));
    }
}
