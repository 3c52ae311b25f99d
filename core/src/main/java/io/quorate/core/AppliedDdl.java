// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.nio.charset.StandardCharsets;
import java.util.UUID;

/**
 * How a DDL statement that the applier ran is told from a client's in a server's binlog. DDL commits implicitly, so the
 * position row can't be in its transaction. Instead the statement runs under a GTID of its own, {@code
 * source(incarnation):seqno}. The server itself then runs it at most once, whatever crashes, and the capture takes no
 * GTID whose source isn't its own server.
 */
public final class AppliedDdl {
    private AppliedDdl() {}

    /** The GTID source of applied DDL; it differs between incarnations, because seqnos start anew with each of them. */
    public static UUID source(String incarnation) {
        return named("quorate-ddl:", incarnation);
    }

    /**
     * The source of the GTIDs by which a server notes that it has passed over a definition that is void: {@code
     * passedOverSource(incarnation):seqno}, an empty transaction.
     */
    public static UUID passedOverSource(String incarnation) {
        return named("quorate-void:", incarnation);
    }

    /**
     * The source of the GTIDs by which a server notes that it has all rows of a writeset whose tables have no
     * transactions: {@code wholeSource(incarnation):seqno}, an empty transaction. The writeset's own GTID is executed,
     * too, when the server has only a part of its rows. What a server grants to the creator of a routine has such a
     * GTID as well.
     */
    public static UUID wholeSource(String incarnation) {
        return named("quorate-whole:", incarnation);
    }

    private static UUID named(String what, String incarnation) {
        return UUID.nameUUIDFromBytes((what + incarnation).getBytes(StandardCharsets.UTF_8));
    }
}
