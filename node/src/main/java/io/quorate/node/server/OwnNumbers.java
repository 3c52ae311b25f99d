// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.applier.GtidSets;
import io.quorate.core.ErrorCode;
import io.quorate.core.Gtid;
import io.quorate.core.GtidSet;
import io.quorate.core.QuorateException;
import io.quorate.transport.DurableFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The numbers of a server's own GTIDs. A server gives its next transaction the lowest number that it
 * hasn't used. The order knows a server's transactions by the last of their numbers. So no unused number may be below a
 * used one, and none may be used again.
 */
public final class OwnNumbers {
    /** Says why the server was refused for good; it could not be told any more after the next start of mysqld. */
    private static final String REFUSED_FILE = "server.refused";

    /** Says when the mysqld was started that has the mark, in seconds by its clock. */
    private static final String MARKED_FILE = "server.marked";

    /** More than the server can have given out without anybody's knowledge. */
    private static final long MARGIN = 10_000;

    private static final Logger log = LoggerFactory.getLogger(OwnNumbers.class);

    private final Path directory;
    private final UUID server;
    private final Gtid mark;

    /**
     * Marks the server, unless it is marked: an empty transaction with a GTID that nothing but RESET MASTER makes it
     * forget while mysqld runs. A power failure may take it like any transaction, and a clone replaces it; so it is
     * marked anew after each start of mysqld where that is necessary.
     *
     * @param directory of the node's data
     */
    OwnNumbers(Path directory, Connection connection, UUID server) throws SQLException, IOException {
        Path refused = directory.resolve(REFUSED_FILE);
        if (Files.exists(refused)) {
            throw new QuorateException(ErrorCode.GTID_OUT_OF_ORDER, Files.readString(refused));
        }
        this.directory = directory;
        this.server = server;
        this.mark = new Gtid(NodeIdentity.directoryId(directory), 1);
        Path marked = directory.resolve(MARKED_FILE);
        String started = Long.toString(ServerAccess.started(connection));
        if (Files.exists(marked) && Files.readString(marked).equals(started)) {
            requireKept(connection);
            return;
        }
        if (!GtidSets.hasExecuted(connection, mark)) {
            ServerAccess.executeEmpty(connection, mark);
        }
        DurableFile.write(marked, started);
    }

    /** The server's own GTIDs that it has not used, up to the highest that it has used. */
    static GtidSet unused(Connection connection, UUID server) throws SQLException {
        GtidSet gaps = gaps(connection, server);
        // A transaction may have got its number between the two questions; at the second it is owned or executed.
        return gaps.isEmpty() ? gaps : gaps.and(gaps(connection, server));
    }

    /** Refuses a server whose next transactions would be taken for earlier ones. */
    void requireUsed(Connection connection) throws SQLException, IOException {
        GtidSet unused = unused(connection, server);
        if (!unused.isEmpty()) {
            throw refused("the server has used " + server + ":"
                    + ServerAccess.executed(connection).last(server) + ", and gives out " + unused
                    + " next, or has begun to while nothing was captured");
        }
    }

    /**
     * Refuses a server that has forgotten what it executed. It gives out its numbers again, and the binlog's reader may
     * wait for ever at the end of a file that is deleted.
     */
    void requireKept(Connection connection) throws SQLException, IOException {
        if (!GtidSets.hasExecuted(connection, mark)) {
            throw refused("somebody ran RESET MASTER: the server no longer knows of " + mark
                    + ", and gives out the numbers of its transactions once more");
        }
    }

    private QuorateException refused(String why) throws IOException {
        refuse(directory, why);
        return new QuorateException(ErrorCode.GTID_OUT_OF_ORDER, why);
    }

    /** From now on nothing is captured from the server until a copy of everything is begun. */
    static void refuse(Path directory, String why) throws IOException {
        DurableFile.write(directory.resolve(REFUSED_FILE), why);
    }

    /** Whether the server's numbers are no good, so that nothing more of it can be ordered. */
    public static boolean isRefused(Path directory) {
        return Files.exists(directory.resolve(REFUSED_FILE));
    }

    /**
     * Gives up all numbers that the server has used or that the order knows, so that it goes on with others. To be
     * called when it is noted that the server is to get a copy of everything.
     *
     * @param ordered the last number that the order has
     * @return what is never to be captured
     */
    public static GtidSet giveUp(Path directory, Connection connection, UUID server, long ordered)
            throws SQLException, IOException {
        GtidSet executed = ServerAccess.executed(connection);
        log.error(
                "the server has executed {}. What of that comes after {}:{} is in no order, and goes",
                executed,
                server,
                ordered);
        GtidSet all = new GtidSet().add(server, 1, Math.max(ordered, executed.last(server)) + MARGIN);
        ServerAccess.reserve(connection, all.minus(executed));
        Gtid mark = new Gtid(NodeIdentity.directoryId(directory), 1);
        if (!executed.contains(mark)) {
            ServerAccess.executeEmpty(connection, mark);
        }
        return all;
    }

    /** That is noted. */
    public static void givenUp(Path directory) throws IOException {
        Files.deleteIfExists(directory.resolve(REFUSED_FILE));
    }

    private static GtidSet gaps(Connection connection, UUID server) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            GtidSet used = GtidSets.givenOut(statement);
            return new GtidSet().add(server, 1, used.last(server)).minus(used);
        }
    }
}
