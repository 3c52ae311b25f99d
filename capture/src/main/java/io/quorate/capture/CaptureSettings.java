// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.ServerPassword;
import io.quorate.core.ServerTls;
import java.time.Duration;
import java.util.Set;
import java.util.UUID;

/**
 * What to capture from, and the limits.
 *
 * @param host the server's address
 * @param port its classic-protocol port
 * @param user an account with REPLICATION SLAVE, REPLICATION CLIENT, SESSION_VARIABLES_ADMIN and SELECT on what is
 *     replicated
 * @param password its password, empty for none; may change while the capture runs
 * @param server the server's {@code @@server_uuid}; another server behind that address is refused
 * @param replicaId server id with which the binlog connection registers, unique among that server's replicas, 1 to 2^32
 *     - 1
 * @param tls how both connections to the server are encrypted
 * @param limits of what is captured
 * @param heartbeat how often an idle server sends a heartbeat; after four missed ones the connection counts as lost
 * @param connectTimeout for each connection attempt
 * @param appliedSources GTID sources under which the applier runs what came from other nodes, {@link
 *     io.quorate.core.AppliedDdl}. Transactions of any other foreign source are refused: nothing but Quorate may
 *     replicate to this server
 */
public record CaptureSettings(
        String host,
        int port,
        String user,
        ServerPassword password,
        UUID server,
        long replicaId,
        ServerTls tls,
        Limits limits,
        Duration heartbeat,
        Duration connectTimeout,
        Set<UUID> appliedSources,
        boolean handsOver) {
    /**
     * How large things may be.
     *
     * @param transactionBytesMax largest payload of one transaction; a larger one is ordered only to fail
     * @param eventBytesMax the largest event with rows, which is a row or more: whoever applies it has it on the heap
     *     several times. The largest transaction, too, on tables whose engine has none
     * @param keysMax from this many keys on, what a transaction goes on to write stands for whole tables
     * @param undecidedBytesMax largest sum of the payloads of prepared and undecided XA transactions
     */
    public record Limits(long transactionBytesMax, int eventBytesMax, int keysMax, long undecidedBytesMax) {
        public static final int KEYS_MAX_DEFAULT = 2_000_000;

        public Limits {
            if (transactionBytesMax < 1 || transactionBytesMax > 1L << 30) {
                throw new IllegalArgumentException("transactionBytesMax " + transactionBytesMax + ", at most 1 GiB");
            }
            if (eventBytesMax < 1) {
                throw new IllegalArgumentException("eventBytesMax " + eventBytesMax);
            }
        }
    }

    /**
     * For a capture on its own: of a server on loopback, 128 MiB per transaction and event, 512 MiB undecided, a
     * heartbeat each second. A service sets what its configuration says.
     */
    public static CaptureSettings of(String host, int port, String user, String password, UUID server, long replicaId) {
        return of(host, port, user, ServerPassword.fixed(password), server, replicaId);
    }

    /** The same, with a password that may change. */
    public static CaptureSettings of(
            String host, int port, String user, ServerPassword password, UUID server, long replicaId) {
        return new CaptureSettings(
                host,
                port,
                user,
                password,
                server,
                replicaId,
                ServerTls.LOOPBACK,
                new Limits(128L << 20, 128 << 20, Limits.KEYS_MAX_DEFAULT, 512L << 20),
                Duration.ofSeconds(1),
                Duration.ofSeconds(10),
                Set.of(),
                false);
    }

    /** With {@link #tls} and the sources of what the applier runs. */
    public CaptureSettings with(ServerTls by, Set<UUID> applied) {
        return with(by, limits, heartbeat, connectTimeout, applied);
    }

    public CaptureSettings withLimits(Limits others) {
        return with(tls, others, heartbeat, connectTimeout, appliedSources);
    }

    public CaptureSettings withTimes(Duration heartbeatEvery, Duration connectAtMost) {
        return with(tls, limits, heartbeatEvery, connectAtMost, appliedSources);
    }

    /** For a server that gets a copy: what can't be ordered is passed over, and what comes after it fails. */
    public CaptureSettings handingOver(boolean value) {
        return with(tls, limits, heartbeat, connectTimeout, appliedSources, value);
    }

    private CaptureSettings with(ServerTls by, Limits most, Duration beat, Duration connect, Set<UUID> applied) {
        return with(by, most, beat, connect, applied, handsOver);
    }

    private CaptureSettings with(
            ServerTls by, Limits most, Duration beat, Duration connect, Set<UUID> applied, boolean value) {
        return new CaptureSettings(
                host, port, user, password, server, replicaId, by, most, beat, connect, applied, value);
    }

    public CaptureSettings {
        appliedSources = Set.copyOf(appliedSources);
        if (replicaId < 1 || replicaId > 0xffff_ffffL) {
            throw new IllegalArgumentException("replicaId " + replicaId + " is not a server id");
        }
        if (heartbeat.toMillis() < 10 || connectTimeout.toMillis() < 10) {
            throw new IllegalArgumentException("heartbeat and connectTimeout must be 10 ms or more");
        }
    }

    /** Without the password. */
    @Override
    public String toString() {
        return user + "@" + host + ":" + port + " (" + server + ")";
    }
}
