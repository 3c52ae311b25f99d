// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.applier.TakenBack;
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

/**
 * What this node knows of the life of its mysqld, from a start of it to the next: {@code server.properties}. As long as it
 * is of an earlier life than the server is in, what the server lost at its end has not been found out.
 *
 * @param started when mysqld was started, 0 for none that was looked at
 * @param durable whether it forced its logs then
 * @param reserved GTIDs that the server was told never to give out, because transactions with these numbers are or may be
 *     in the order, and the server lost them
 * @param reserving further ones that it was to be told next
 * @param takenBack own transactions that were not in its database when that life was looked at
 */
record ServerLife(long started, boolean durable, GtidSet reserved, GtidSet reserving, TakenBack takenBack) {
    static final ServerLife NONE = new ServerLife(0, true, new GtidSet(), new GtidSet(), TakenBack.NONE);
    private static final String FILE = "server.properties";

    /** What is kept in {@code directory}; {@link #NONE} when nothing is. */
    static ServerLife read(Path directory) {
        Path file = directory.resolve(FILE);
        if (!Files.exists(file)) {
            return NONE;
        }
        Properties p = new Properties();
        try (Reader in = Files.newBufferedReader(file)) {
            p.load(in);
            return new ServerLife(
                    Long.parseLong(p.getProperty("started")),
                    Boolean.parseBoolean(p.getProperty("durable")),
                    GtidSet.parse(p.getProperty("reserved")),
                    GtidSet.parse(p.getProperty("reserving")),
                    new TakenBack(
                            Long.parseLong(p.getProperty("taken-back-after")),
                            Long.parseLong(p.getProperty("taken-back-up-to"))));
        } catch (IOException | IllegalArgumentException | NullPointerException e) {
            throw new QuorateException(ErrorCode.DISK, file + " is unreadable: " + e, e);
        }
    }

    /** Keeps this in {@code directory}, durably. */
    void write(Path directory) throws IOException {
        Properties p = new Properties();
        p.setProperty("started", Long.toString(started));
        p.setProperty("durable", Boolean.toString(durable));
        p.setProperty("reserved", reserved.toString());
        p.setProperty("reserving", reserving.toString());
        p.setProperty("taken-back-after", Long.toString(takenBack.after()));
        p.setProperty("taken-back-up-to", Long.toString(takenBack.upTo()));
        StringWriter text = new StringWriter();
        p.store(text, "Which life of the MySQL server was looked at, and what it lacked");
        DurableFile.write(directory.resolve(FILE), text.toString());
    }

    /** Whether no life of the server was ever looked at. */
    boolean isNone() {
        return started == 0;
    }

    /** What the server will never give out, of what it was told. */
    GtidSet reservedOf(GtidSet purged) {
        GtidSet all = new GtidSet().addAll(reserved);
        if (reserving.minus(purged).isEmpty()) {
            all.addAll(reserving);
        }
        return all.and(purged);
    }
}
