// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

/**
 * The stable codes of everything Quorate refuses or stops for. The number never changes its meaning; the first digit
 * says where to look: 1 configuration and server, 2 capture, 3 order and peers, 4 certification, 5 apply, 6 storage, 7 full
 * copies and audits, 8 Quorate itself.
 * Each code carries the way out, because it is read at 3 a.m.
 */
public enum ErrorCode {
    SERVER_SETTINGS(1001, "run the statements listed, restart mysqld where one says so, then start this node again"),
    SERVER_UNREACHABLE(1002, "start mysqld or correct quorate.mysql.*; the node keeps ordering and retries by itself"),
    CONFIGURATION(1003, "correct the configuration keys named and start this node again"),
    WRONG_SERVER(
            1004, "point quorate.mysql.* at the server this data directory belongs to, or give the node a new one"),

    STATEMENT_FORMAT(2001, "set binlog_format=ROW for that session and repeat its changes, or exclude the node"),
    UNSUPPORTED_EVENT(
            2002, "undo what produced the event on this server; the binlog file and position are in the message"),
    BINLOG_PURGED(2003, "this server purged binary logs that were never ordered; rebuild the node from another one"),
    TRANSACTION_TOO_LARGE(2004, "split the transaction, or raise quorate.capture.transaction-bytes-max on every node"),
    CAPTURE_FAILED(2005, "see the cause; capture is restarted from the last ordered transaction by itself"),
    CORRUPT_EVENT(2006, "an event fails its checksum; check this server's disk and memory before restarting the node"),
    BINLOG_LOST(2007, "this server lost transactions that were ordered; rebuild the node, and set sync_binlog=1"),
    BINLOG_SHORT(
            2008,
            "they are in this server's rows alone and can't be given to the others; rebuild this node from one of them, and"
                    + " set sync_binlog=1"),
    TAIL_UNCLEAR(
            2009, "rebuild this node from another one, and set sync_binlog=1 and innodb_flush_log_at_trx_commit=1"),

    FOREIGN_CLUSTER(3001, "a peer answers for another cluster; correct quorate.cluster or quorate.peers"),
    INCOMPATIBLE_PEER(3002, "a peer speaks another protocol version; upgrade the older node"),
    NO_QUORUM(3003, "start the missing nodes or mend the network; writes are refused until a majority is connected"),
    MALFORMED_MESSAGE(3004, "the connection was closed; check that nothing but Quorate nodes uses this port"),
    LOG_UNREADABLE(3005, "the order's log on this node is damaged; move the named file away and let a peer resend it"),
    ORDER_BUSY(3006, "more is waiting to be ordered than memory is set aside for; it is sent again by itself"),
    ORDER_INTERRUPTED(3007, "the leader changed or went away meanwhile; it is sent again by itself"),
    ORDER_TOO_FAR_BEHIND(3008, "the node receives what it missed from the others' writeset caches by itself"),
    NOT_A_MEMBER(3009, "nothing to do if that was meant; otherwise make it one again: quorate join"),
    COPY_NEEDED(
            3010,
            "give the node an empty server and data directory: then it receives a full copy, unless quorate.sst.method=none"),
    FORMER_LIFE(3011, "if that was meant, nothing: the node takes over what the others have, or says why it can't"),
    ORDER_STOPPED(3012, "see the cause; start this node again, with a larger heap (-Xmx) where memory ran out"),

    UNDO_IMPOSSIBLE(4003, "the other nodes never had that transaction; rebuild this node from one of them"),
    UNDO_MISMATCH(
            4004,
            "rows here are not as the transaction left them: something wrote around the binlog; rebuild this node"),

    APPLY_MISMATCH(5001, "the rows here differ from the origin's; compare the tables and rebuild this node"),
    SCHEMA_MISMATCH(5002, "bring the table's definition in line with the origin's and restart this node"),
    APPLY_FAILED(5003, "see the server's error; correct its cause and restart this node"),

    CACHE_CORRUPT(6001, "the node fetches what it needs from the others by itself; check this volume"),
    DISK(6002, "free space or mend the volume of quorate.data-dir, then restart this node"),
    STATE_DIVERGED(6003, "this node would decide differently from the others; rebuild it"),
    CACHE_PASSED(
            6004, "start a node that still holds it, or rebuild this one; raise quorate.cache.bytes-max for next time"),
    DISK_LOW(6005, "free space on the volume of quorate.data-dir; the node goes on by itself then"),

    COPY_REFUSED(7001, "correct what it names; the copy is tried again by itself"),
    COPY_TO_START(
            7002,
            "start mysqld of this node; quorate.mysql.start-command has the service do it, a supervisor does it by itself"),
    COPY_NOT_BY_STREAM(7004, "set quorate.sst.method=clone, or auto, on the node that is to get the copy"),
    AUDIT_REFUSED(7003, "correct what it names, then ask again; an audit that is under way goes on by itself"),

    INTERNAL(8001, "a fault of Quorate itself: start this node again, and report it with what its log says");

    private final int number;
    private final String remedy;

    ErrorCode(int number, String remedy) {
        this.number = number;
        this.remedy = remedy;
    }

    /** The code as users see and search for it, such as {@code QRT-4001}. */
    public String code() {
        return "QRT-" + number;
    }

    /** What to do about it, one sentence. */
    public String remedy() {
        return remedy;
    }
}
