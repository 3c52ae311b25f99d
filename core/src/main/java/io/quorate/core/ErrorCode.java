// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

/**
 * The stable codes of everything Quorate refuses or stops for. The number never changes its meaning; the first digit
 * says where to look: 1 configuration and server, 2 capture, 3 order and peers, 4 certification, 5 apply, 6 storage, 7
 * full copies and audits, 8 Quorate itself. Each code carries the way out, because it is read at 3 a.m. It also carries
 * its kind, so that what is done about it is decided in one place. {@code docs/errors.md} has a row for each.
 */
public enum ErrorCode {
    SERVER_SETTINGS(
            1001,
            Kind.RETRYABLE,
            "run the statements listed, restart mysqld where one says so, and start this node again if it has ended"),
    SERVER_UNREACHABLE(
            1002,
            Kind.RETRYABLE,
            "start mysqld or correct quorate.mysql.*; the node keeps ordering and retries by itself"),
    CONFIGURATION(1003, Kind.REFUSAL, "correct the configuration keys named and start this node again"),
    WRONG_SERVER(
            1004,
            Kind.FATAL,
            "point quorate.mysql.* at the server this data directory belongs to, or give the node a new one"),

    SERVER_USED(
            1005,
            Kind.RETRYABLE,
            "give this cluster another name (quorate.cluster), or run DROP DATABASE IF EXISTS quorate; RESET MASTER;"
                    + " on the server, after which it counts as one that was never a node's"),

    RIGHT_LACKING(
            1006,
            Kind.RETRYABLE,
            "grant the service's account what the server's message asks for, and for a GRANT what that grants, WITH"
                    + " GRANT OPTION (docs/accounts.md has a statement with all of it); the node goes on by itself"),

    TIME_ZONE_LACKING(
            1007,
            Kind.RETRYABLE,
            "load the time zones into this server, as MySQL's manual says for mysql_tzinfo_to_sql; the node goes on by"
                    + " itself"),

    SERVER_UNABLE(
            1008,
            Kind.RETRYABLE,
            "give this server what its message names: space, memory, a larger limit, a library; the node tries again by"
                    + " itself"),

    SERVER_TAKEN(
            1009,
            Kind.RETRYABLE,
            "stop one of the two services, or point quorate.mysql.* of one at a server of its own; if the other one is"
                    + " no more, KILL its connection. The node goes on by itself"),

    UNSUPPORTED_EVENT(
            2002,
            Kind.FATAL,
            "find out with mysqlbinlog what stands at the position named, keep it from coming again, and rebuild"
                    + " this node"),
    BINLOG_PURGED(
            2003,
            Kind.FATAL,
            "this server purged binary logs that were never ordered; rebuild the node from another one"),
    TRANSACTION_TOO_LARGE(
            2004,
            Kind.REFUSAL,
            "split the transaction, or raise quorate.capture.transaction-bytes-max on every node; for a large row,"
                    + " raise the heap (-Xmx) to five times the row and 96 MB"),
    CAPTURE_FAILED(
            2005, Kind.RETRYABLE, "see the cause; capture is restarted from the last ordered transaction by itself"),
    CORRUPT_EVENT(
            2006,
            Kind.FATAL,
            "an event fails its checksum; check this server's disk and memory before restarting the node"),
    BINLOG_LOST(
            2007,
            Kind.RETRYABLE,
            "what this server has lost is looked at in its next session, and put back; set sync_binlog=1"),
    BINLOG_SHORT(
            2008,
            Kind.FATAL,
            "they are in this server's rows alone and can't be given to the others; rebuild this node from one"
                    + " of them, and"
                    + " set sync_binlog=1"),
    TAIL_UNCLEAR(2009, Kind.DIFFERENCE, "set sync_binlog=1 and innodb_flush_log_at_trx_commit=1; " + Text.COPY),

    GTID_OUT_OF_ORDER(
            2010,
            Kind.DIFFERENCE,
            "what was committed since is in no order and is lost. Nobody but the server may give out its GTIDs, so set"
                    + " gtid_next to none of them, and don't run RESET MASTER on a member's server; "
                    + Text.COPY),

    DEFINITION_NOT_REPEATABLE(
            2011,
            Kind.DIFFERENCE,
            "the others don't have what it did. To number rows, make a new table with the column, copy the rows with"
                    + " INSERT ... SELECT, and swap the names; leave binlog_format=ROW; split what is too large; in"
                    + " other cases write values instead of functions; "
                    + Text.COPY),
    GTID_TAGGED(
            2012,
            Kind.DIFFERENCE,
            "no other node has what was committed so: repeat it without the tag, and REVOKE TRANSACTION_GTID_TAG from"
                    + " all accounts; "
                    + Text.COPY),
    FOREIGN_TRANSACTION(
            2013,
            Kind.DIFFERENCE,
            "it came under another server's GTID, by a replication (STOP REPLICA; RESET REPLICA ALL ends it) or by"
                    + " mysqlbinlog without --skip-gtids. Load such data by clients' statements; "
                    + Text.COPY),

    FOREIGN_CLUSTER(3001, Kind.REFUSAL, "a peer answers for another cluster; correct quorate.cluster or quorate.peers"),
    INCOMPATIBLE_PEER(3002, Kind.REFUSAL, "a peer speaks another protocol version; upgrade the older node"),
    NO_QUORUM(
            3003,
            Kind.RETRYABLE,
            "start the missing nodes or repair the network; writes are refused until a majority is connected"),
    MALFORMED_MESSAGE(
            3004, Kind.REFUSAL, "the connection was closed; check that nothing but Quorate nodes uses this port"),
    LOG_UNREADABLE(
            3005,
            Kind.FATAL,
            "the order's log on this node is damaged; move the named file away and let a peer resend it"),
    ORDER_BUSY(
            3006,
            Kind.RETRYABLE,
            "more is waiting to be ordered than memory is set aside for; it is sent again by itself"),
    ORDER_INTERRUPTED(3007, Kind.RETRYABLE, "the leader changed or went away meanwhile; this is tried again by itself"),
    ORDER_TOO_FAR_BEHIND(
            3008, Kind.RETRYABLE, "the node receives what it missed from the others' writeset caches by itself"),
    NOT_A_MEMBER(
            3009,
            Kind.FATAL,
            "nothing to do if that was intended; otherwise make the node a member again: quorate admit NAME at a"
                    + " member, where nodes have certificates, and then quorate join at this one"),
    COPY_NEEDED(
            3010,
            Kind.FATAL,
            "give the node an empty server and data directory: then it receives a full copy, unless"
                    + " quorate.sst.method=none"),
    FORMER_LIFE(
            3011,
            Kind.RETRYABLE,
            "nothing to do if that was intended: the node takes over what the others have, or says why it can't"),
    ORDER_STOPPED(
            3012,
            Kind.FATAL,
            "see the cause in the log, and start this node again, with a larger heap (-Xmx) if memory ran out"),
    DEFINITION_NOT_ORDERED(3013, Kind.REFUSAL, "nothing has happened; correct what the message names, and ask again"),
    NOT_ADMITTED(
            3014,
            Kind.RETRYABLE,
            "give that node a certificate of the cluster's authority with its own name (quorate certs issue NAME), and"
                    + " if it is no member yet, run quorate admit NAME at one that is; it goes on by itself then"),
    MEMBERS_ONLY(
            3016,
            Kind.RETRYABLE,
            "a node that has just become a member asks again by itself; make another one a member first, or find out"
                    + " who asks in its name"),

    UNDO_IMPOSSIBLE(4003, Kind.DIFFERENCE, "the other nodes never had that transaction; " + Text.COPY),
    UNDO_MISMATCH(
            4004,
            Kind.DIFFERENCE,
            "rows here are not as the transaction left them, so something wrote without the binlog; " + Text.COPY),

    APPLY_MISMATCH(5001, Kind.DIFFERENCE, "the rows here differ from the origin's; " + Text.COPY),
    SCHEMA_MISMATCH(
            5002,
            Kind.DIFFERENCE,
            "the table here is not as the origin's: it was defined without the binlog, or on two nodes at a time; "
                    + Text.COPY),
    APPLY_FAILED(5003, Kind.FATAL, "see the server's error; correct its cause and restart this node"),
    DEFINITION_REFUSED(
            5004, Kind.DIFFERENCE, "other servers took the definition, so they hold something else; " + Text.COPY),
    DEFINITION_VOID(
            5005,
            Kind.DIFFERENCE,
            "correct what stands against the statement on the other servers, and run it again; " + Text.COPY),
    TABLE_MISSING(
            5006,
            Kind.DIFFERENCE,
            "it was made on another server without the binlog, or dropped here without it; " + Text.COPY),

    COPY_ASKED(5007, Kind.DIFFERENCE, "somebody asked for it with quorate heal; " + Text.COPY),
    OTHERS_TRUSTED(
            5008,
            Kind.DIFFERENCE,
            "all servers differed, and that one kept its definitions, or somebody chose it with quorate heal --trust; "
                    + Text.COPY),
    COPY_NOT_GIVEN(5009, Kind.DIFFERENCE, "what showed that this server differs is in the node's log; " + Text.COPY),

    CACHE_CORRUPT(6001, Kind.RETRYABLE, "the node fetches what it needs from the others by itself; check this volume"),
    DISK(6002, Kind.FATAL, "free space or repair the volume of quorate.data-dir, then restart this node"),
    STATE_DIVERGED(6003, Kind.FATAL, "this node would decide differently from the others; rebuild it"),
    CACHE_PASSED(
            6004,
            Kind.RETRYABLE,
            "start a node that still holds it, or rebuild this one; raise quorate.cache.bytes-max for next time"),
    DISK_LOW(6005, Kind.RETRYABLE, "free space on the volume of quorate.data-dir; the node goes on by itself then"),

    COPY_REFUSED(7001, Kind.RETRYABLE, "correct what the message names; the copy is tried again by itself"),
    COPY_TO_START(
            7002,
            Kind.RETRYABLE,
            "start this node's mysqld; with quorate.mysql.start-command the service does it, and a supervisor"
                    + " does it by itself"),
    COPY_NOT_BY_STREAM(
            7004, Kind.REFUSAL, "set quorate.sst.method=clone, or auto, on the node that is to get the copy"),
    AUDIT_REFUSED(
            7003, Kind.REFUSAL, "correct what the message names, then ask again; a running audit goes on by itself"),
    COPY_NO_DONOR(
            7005,
            Kind.RETRYABLE,
            "make sure that a node with a server is SYNCED and can be reached from here; then the copy goes on"
                    + " by itself"),
    COPY_TOO_EARLY(
            7006,
            Kind.RETRYABLE,
            "this is tried again by itself; if it stays like this, find out what keeps the node named from"
                    + " ordering or applying"),
    COPY_UNDECIDED(
            7007,
            Kind.RETRYABLE,
            "decide these transactions with the statement named, or they would be lost; then the copy begins by"
                    + " itself"),
    COPY_UNUSABLE(
            7008,
            Kind.RETRYABLE,
            "the copy is made again by itself; if that happens again and again, set another quorate.sst.method"
                    + " on this node"),
    COPY_DONOR_BEHIND(7009, Kind.RETRYABLE, "another node is asked, or the copy begins anew with this one, by itself"),

    INTERNAL(
            8001, Kind.FATAL, "a fault of Quorate itself: start this node again, and report it with what its log says");

    private static final class Text {
        static final String COPY =
                "the node gets a copy of what differs by itself; where quorate.sst.method is none, rebuild it";
    }

    /** What is done about a failure, wherever it is met. */
    public enum Kind {
        /**
         * Passes by itself, or when somebody does something about it. Whatever failed is tried again, in one place,
         * with a bound or a reason for having none. That place isn't always the one that meets the failure: a damaged
         * cache is repaired by a transfer.
         */
        RETRYABLE,
        /** A person, a peer or a configuration asked for something that is not done. The node goes on as before. */
        REFUSAL,
        /**
         * The node's server holds something else than the order says. The node hands over what its clients have
         * committed, and gets a copy of what differs from another server by itself; where it may not have one, this is
         * as fatal.
         */
        DIFFERENCE,
        /** The node leaves the cluster rather than go on with less than it has promised. Trying again wouldn't help. */
        FATAL
    }

    private final int number;
    private final Kind kind;
    private final String remedy;

    ErrorCode(int number, Kind kind, String remedy) {
        this.number = number;
        this.kind = kind;
        this.remedy = remedy;
    }

    public Kind kind() {
        return kind;
    }

    /** Whether it is worth trying again, although nothing is done about it here. */
    public boolean isRetryable() {
        return kind == Kind.RETRYABLE;
    }

    /** The code as users see and search for it, such as {@code QRT-4003}. */
    public String code() {
        return "QRT-" + number;
    }

    /** What to do about it, in one sentence. */
    public String remedy() {
        return remedy;
    }
}
