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

/**
 * The numbers of a server's own GTIDs, during a session. A server gives its next transaction the lowest number that it
 * hasn't used. The order knows a server's transactions by the last of their numbers. So no unused number may be below a
 * used one, and none may be used again.
 */
final class OwnNumbers {
    /** Says why the server was refused for good; it could not be told any more after the next start of mysqld. */
    private static final String REFUSED_FILE = "server.refused";

    /** Says when the mysqld was started that has the mark, in seconds by its clock. */
    private static final String MARKED_FILE = "server.marked";

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
            requireKept(ServerAccess.executed(connection));
            return;
        }
        if (!ServerAccess.executed(connection).contains(mark)) {
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
    void requireUsed(Connection connection) throws SQLException {
        GtidSet unused = unused(connection, server);
        if (!unused.isEmpty()) {
            throw new QuorateException(
                    ErrorCode.GTID_OUT_OF_ORDER,
                    "the server has used " + server + ":"
                            + ServerAccess.executed(connection).last(server) + ", and gives out " + unused
                            + " next, or has begun to while nothing was captured");
        }
    }

    /**
     * Refuses a server that has forgotten what it executed. It gives out its numbers again, and the binlog's reader may
     * wait for ever at the end of a file that is deleted.
     *
     * @param executed what it says that it has executed
     */
    void requireKept(GtidSet executed) throws IOException {
        if (!executed.contains(mark)) {
            String why = "somebody ran RESET MASTER: the server no longer knows of " + mark
                    + ", and gives out the numbers of its transactions once more";
            DurableFile.write(directory.resolve(REFUSED_FILE), why);
            throw new QuorateException(ErrorCode.GTID_OUT_OF_ORDER, why);
        }
    }

    private static GtidSet gaps(Connection connection, UUID server) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            GtidSet used = GtidSets.givenOut(statement);
            return new GtidSet().add(server, 1, used.last(server)).minus(used);
        }
    }
}
