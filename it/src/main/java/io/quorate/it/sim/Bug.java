// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

/** What can be broken on purpose, to see that the simulation would notice. */
enum Bug {
    /** No key for unique indexes beside the primary key. */
    UNIQUE_KEY_DROPPED,
    /** No key for the parent of a foreign key. */
    REFERENCE_DROPPED,
    /** A writeset claims to have seen one more than it had. */
    LAST_SEEN_TOO_HIGH,
    /** The index has forgotten some writesets before all had seen them. */
    PURGED_TOO_EARLY,
    /** What is in a group runs in another order, across what depends on what. */
    GROUP_BACKWARDS,
    /** Groups commit as they are ready. */
    COMMITTED_OUT_OF_ORDER,
    /** An entry that came twice is taken twice. */
    DUPLICATE_TAKEN,
    /** The position is saved after the rows, on its own. */
    POSITION_APART,
    /** What loses stays. */
    UNDO_SKIPPED,
    /** What is undone isn't remembered. */
    UNDO_FORGOTTEN,
    /** A statement that changes a table runs beside row changes. */
    DDL_NO_BARRIER,
    /** What was torn at a crash counts as written. */
    TORN_TAIL_TRUSTED,
    /** A transaction doesn't say what it was built on. */
    BUILT_ON_DROPPED,
    /** A group commits without asking what clients have committed meanwhile. */
    NO_SECOND_LOOK,
    /** The capture begins before the order has told what it has already. */
    CAPTURE_TOO_EARLY,
    /** The order in which losers are undone is theirs, not the reverse. */
    UNDONE_FORWARDS,
    /** A prepared transaction's snapshot is said to be from when it was prepared. */
    SNAPSHOT_TAKEN_LATE,
    /** A prepared transaction commits before its verdict. */
    COMMITTED_BEFORE_VERDICT,
    /** A prepared transaction commits as soon as it has passed, before what the order has before it. */
    SETTLED_OUT_OF_TURN,
    /** A prepared transaction that was rolled back to let another one pass counts as committed. */
    ROLLED_BACK_FORGOTTEN,
    /** That a prepared transaction was committed isn't known after a restart. */
    MARK_DROPPED,
    /** A node that received what it missed takes over the state without making the records durable. */
    TRANSFER_NOT_FORCED,
    /** What was ordered between a donor's offer and its checkpoint isn't asked for. */
    TRANSFER_CUT_SHORT,
    /** A node that received records goes on with what its own certification knew. */
    TRANSFER_STATE_KEPT,
    /** A node of a former life of the cluster is let in when it has no more writesets than the cluster. */
    FORMER_LIFE_BY_SEQNO,
    /** Such a node is let in by its last record alone, also when its database is ahead of what its cache has kept. */
    FORMER_LIFE_BY_RECORD,
    /** What a crash may have left of own transactions stays, and all is applied again on top. */
    TAIL_LEFT,
    /** What had failed isn't known when that is captured which was committed before a crash. */
    FAILURES_FORGOTTEN,
    /** A server that lost its end gives out the numbers again that the order has. */
    NUMBERS_GIVEN_AGAIN,
    /** A node that lost its directory counts towards a majority before it has caught up. */
    EMPTIED_COUNTS,
    /** A copy's piece is taken that holds what has failed and wasn't undone. */
    COPY_SPOILT_TAKEN,
    /** A copy's piece is taken before it is decided what becomes of what the donor's clients had committed. */
    COPY_OWN_NOT_AWAITED,
    /** A copy is brought to what its donors had applied, though their clients had committed more. */
    COPY_CUT_SHORT,
    /** A member is taken out though a majority of the others isn't there. */
    MAJORITY_TAKEN_OUT,
    /** A node ends a vote by its own clock. */
    CLOSED_BY_CLOCK,
    /** A ballot that was sent again counts once more. */
    VOTED_TWICE,
    /** The server that gave a definition votes on it, though it hadn't seen all rows before it. */
    EARLY_ORIGIN_VOTES,
    /** A server says that it has run a definition before it comes to it. */
    ANSWERED_TOO_EARLY,
    /** Whoever says nothing has run the definition. */
    SILENCE_COUNTS,
    /** It isn't asked whether a definition is void before it is run. */
    VERDICT_NOT_ASKED,
    /** That a void definition was passed over isn't noted. */
    PASSED_OVER_UNNOTED,
    /** A server is replaced by what less than half of them hold. */
    COPIED_FROM_FEW,
    /** A server is replaced before the order has what its clients have committed. */
    COPIED_UNHANDED,
    /** A commit is acknowledged when it is captured. */
    ACKNOWLEDGED_WHEN_CAPTURED,
    /** A group of commits is acknowledged as a whole when a part of it may be. */
    GROUP_BOUNDARY_IGNORED,
    /** A session is ended after its commit is acknowledged, not before. */
    ENDED_AFTER_ACK,
    /** What the applier commits is acknowledged at once, with all that comes before it. */
    APPLIER_NOT_HELD_BACK,
    /** A connection of the capture begins before everybody who waits has been decided or ended. */
    CONNECTED_UNSETTLED,
    /** Whoever has waited for too long is acknowledged without his session being ended. */
    TIMED_OUT_UNENDED,
    /** One client is forgotten when all are put out. */
    PUT_OUT_FORGETS_ONE,
    /** A session is ended for what another one of its number had committed before the server was restarted. */
    FORMER_SESSION_ENDED,
    /** A server is asked what it holds while commits wait that come to it afterwards. */
    ASKED_AMONG_COMMITS,
    /** What the capture asks of its server waits for a lock for as long as somebody holds it. */
    ASKED_WITHOUT_LIMIT,
    /** A commit that nobody captures in time isn't ended. */
    OVERDUE_LEFT,
    /** Nor one that is captured, while nobody captures what is committed in one group with it. */
    GROUP_NOT_ENDED,
    /** A commit needs one acknowledgement, whoever gives it. */
    STRANGER_COUNTS,
    /** The capture's second connection acknowledges what it has read. */
    WITNESS_NOT_HELD_BACK,
    /** The locks of a commit that waits for its verdict aren't waited for any longer than others. */
    COMMITTING_GIVEN_UP
}
