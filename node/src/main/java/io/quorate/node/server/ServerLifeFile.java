// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.applier.ServerLife;
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

/** Keeps on disk what this node knows about the life of its mysqld: {@code server.properties}. */
public final class ServerLifeFile {
    private static final String FILE = "server.properties";

    private ServerLifeFile() {}

    /** Reads what is kept in {@code directory}; {@link ServerLife#NONE} when there is nothing. */
    public static ServerLife read(Path directory) {
        Path file = directory.resolve(FILE);
        if (!Files.exists(file)) {
            return ServerLife.NONE;
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

    /** Writes {@code life} to {@code directory}, durably. */
    public static void write(Path directory, ServerLife life) throws IOException {
        Properties p = new Properties();
        p.setProperty("started", Long.toString(life.started()));
        p.setProperty("durable", Boolean.toString(life.durable()));
        p.setProperty("reserved", life.reserved().toString());
        p.setProperty("reserving", life.reserving().toString());
        p.setProperty("taken-back-after", Long.toString(life.takenBack().after()));
        p.setProperty("taken-back-up-to", Long.toString(life.takenBack().upTo()));
        StringWriter text = new StringWriter();
        p.store(text, "Which life of the MySQL server was looked at, and what it lacked");
        DurableFile.write(directory.resolve(FILE), text.toString());
    }
}
