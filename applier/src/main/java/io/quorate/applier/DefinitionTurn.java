// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.Certified;
import io.quorate.core.Difference;
import io.quorate.core.ErrorCode;
import io.quorate.core.OrderedFirst;
import io.quorate.core.QuorateException;
import io.quorate.core.WriteSet;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Decides what a server does at the place of a definition in the order, and at the place of the verdict that one is
 * void. A definition runs once, under a GTID of its own, which tells after any crash whether it ran. One that is void
 * is passed over: that is noted first, and then the definition's own GTID is used up by something that changes nothing.
 * So a server that has the GTID and not the note has run the definition, and finds out at the verdict's place.
 */
public final class DefinitionTurn {
    /** The server, at that place. A crash between any two calls finds what the earlier one has left. */
    public interface Server {
        /** Whether the definition's own GTID is used up. */
        boolean hasGtid() throws SQLException;

        /**
         * Does what follows the definition under another GTID, if that is still to be done. Fails if what has the GTID
         * may be a part only, as of rows of engines without transactions.
         */
        void requireWhole() throws SQLException;

        /** Runs it under its own GTID. */
        void run() throws SQLException;

        /** Whether it is noted that this server has passed over the definition at {@code seqno}. */
        boolean hasPassedOver(long seqno) throws SQLException;

        /** Notes that. */
        void notePassedOver(long seqno) throws SQLException;

        /** Uses up the definition's own GTID by a statement that changes nothing. */
        void useUpGtid(long seqno) throws SQLException;
    }

    private DefinitionTurn() {}

    /**
     * Returns false when the definition is void and passed over.
     *
     * @throws QuorateException DEFINITION_VOID when this server has run a definition that is void; OTHERS_TRUSTED when
     *     another server's tables are right
     * @throws SQLException what the server refuses it with
     */
    public static boolean take(Certified writeSet, Verdicts verdicts, Server server) throws SQLException {
        WriteSet w = writeSet.writeSet();
        if (OrderedFirst.isTrust(w)) {
            throw new QuorateException(
                    ErrorCode.OTHERS_TRUSTED,
                    "at seqno " + writeSet.seqno() + " another server's tables take the place of this one's",
                    null,
                    Difference.at(writeSet.seqno()));
        }
        if (w.voidsDefinition() > 0) {
            requirePassedOver(w, server);
        } else if (verdicts.isVoid(writeSet.seqno())) {
            passOver(writeSet.seqno(), server);
            return false;
        } else if (server.hasGtid()) {
            server.requireWhole();
        } else {
            server.run();
        }
        return true;
    }

    private static void passOver(long seqno, Server server) throws SQLException {
        if (!server.hasPassedOver(seqno)) {
            if (server.hasGtid()) {
                // It ran before the verdict was known, and the position that says so was lost in a crash.
                throw ran(seqno, Set.of(seqno));
            }
            server.notePassedOver(seqno);
        }
        if (!server.hasGtid()) {
            server.useUpGtid(seqno);
        }
    }

    private static void requirePassedOver(WriteSet verdict, Server server) throws SQLException {
        long definition = verdict.voidsDefinition();
        if (!server.hasPassedOver(definition)) {
            Set<Long> differing = Arrays.stream(verdict.voidsBuilt()).boxed().collect(Collectors.toSet());
            differing.add(definition);
            throw ran(definition, differing);
        }
    }

    private static QuorateException ran(long seqno, Set<Long> differing) {
        return new QuorateException(
                ErrorCode.DEFINITION_VOID,
                "this server has run the definition at seqno " + seqno + ", which more of the others refuse",
                null,
                new Difference(Set.of(), differing, Set.of()));
    }
}
