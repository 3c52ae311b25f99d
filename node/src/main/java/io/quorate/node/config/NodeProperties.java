// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.config;

import io.quorate.core.ColumnMask;
import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.sst.stream.Omitted;
import io.quorate.transport.TransportSettings;
import jakarta.validation.Valid;
import jakarta.validation.constraints.DecimalMax;
import jakarta.validation.constraints.DecimalMin;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotEmpty;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Pattern;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;
import org.springframework.validation.annotation.Validated;

/**
 * The node's configuration, {@code quorate.*}. What each key means to an operator is in {@code docs/configuration.md}.
 *
 * @param cluster the cluster's name; nodes of another one are refused
 * @param node this node's name, one of {@code peers}
 * @param dataDir where the order's log, the writeset cache and the node's identity are kept
 * @param zone where this node is, a name of your choice; transfers come from the same zone where they can
 * @param arbitrator whether this node votes and keeps the order without a MySQL server
 * @param peers all nodes of the cluster, this one included, the same list on each
 */
@Validated
@ConfigurationProperties(value = "quorate", ignoreUnknownFields = false)
public record NodeProperties(
        @NotBlank @Pattern(regexp = NAME) String cluster,
        @NotBlank @Pattern(regexp = NAME) String node,
        @NotNull Path dataDir,
        @DefaultValue("") String zone,
        @DefaultValue("false") boolean arbitrator,
        @NotEmpty List<@Valid Peer> peers,
        @Valid MySql mysql,
        @DefaultValue @Valid Capture capture,
        @DefaultValue @Valid Order order,
        @DefaultValue @Valid Certification certification,
        @DefaultValue @Valid Cache cache,
        @DefaultValue @Valid Disk disk,
        @DefaultValue @Valid Apply apply,
        @DefaultValue @Valid Conflicts conflicts,
        @DefaultValue @Valid Sst sst,
        @DefaultValue @Valid Audit audit) {
    /** Refuses a node that has to have a server and none is named, or the reverse. */
    public void requireServerUnlessArbitrator() {
        if (mysql == null && !arbitrator) {
            throw new QuorateException(
                    ErrorCode.CONFIGURATION,
                    "quorate.mysql is missing; a node that is to vote only, without a server, needs"
                            + " quorate.arbitrator=true");
        }
        if (mysql != null && arbitrator) {
            throw new QuorateException(
                    ErrorCode.CONFIGURATION,
                    "an arbitrator has no MySQL server; leave out quorate.mysql or quorate.arbitrator");
        }
    }

    /** This node's own line among the peers. */
    public Peer self() {
        return peers.stream()
                .filter(p -> p.name().equals(node))
                .findFirst()
                .orElseThrow(() -> new QuorateException(
                        ErrorCode.CONFIGURATION, "quorate.peers has no line for quorate.node=" + node));
    }

    /** What the order and the channels between nodes go by. */
    public TransportSettings transport() {
        return TransportSettings.of(
                        cluster,
                        node,
                        peers.stream()
                                .map(p -> new TransportSettings.Peer(p.name(), p.host(), p.raftPort(), p.channelPort()))
                                .toList(),
                        dataDir.resolve("order"))
                .withTimeouts(order.electionTimeoutMin(), order.electionTimeoutMax())
                .withCheckpoints(order.checkpointEntries(), order.logBytesMax().toBytes());
    }

    static final String NAME = "[A-Za-z0-9][A-Za-z0-9._-]{0,62}";

    /**
     * @param raftPort gRPC, between the nodes' Ratis servers
     * @param channelPort forwards writesets to the leader
     * @param http host and port of its Actuator, for the {@code cluster} endpoint; left out, peers show without detail
     */
    public record Peer(
            @NotBlank @Pattern(regexp = NAME) String name,
            @NotBlank String host,
            @Min(1) @Max(65535) int raftPort,
            @Min(1) @Max(65535) int channelPort,
            String http) {}

    /** Whether connections to the server are encrypted; but for {@code AUTO} as in MySQL's own {@code --ssl-mode}. */
    public enum Tls {
        /**
         * None over loopback, where nobody listens and it costs more than all else the service does; otherwise
         * preferred.
         */
        AUTO,
        DISABLED,
        PREFERRED,
        REQUIRED,
        VERIFY_CA,
        VERIFY_IDENTITY
    }

    /**
     * The server beside this node, and the account that {@code docs/accounts.md} describes.
     *
     * @param advertise host and port at which other nodes' servers reach it for a full copy; left out, host and port,
     *     with the node's own host instead of loopback
     * @param startCommand has {@code /bin/sh} start mysqld when it has ended to begin with a full copy; left out,
     *     somebody or something else does
     */
    public record MySql(
            @DefaultValue("127.0.0.1") @NotBlank String host,
            @DefaultValue("3306") @Min(1) @Max(65535) int port,
            @DefaultValue("quorate") @NotBlank String user,
            @DefaultValue("") String password,
            @DefaultValue("auto") Tls tls,
            @DefaultValue("1s") Duration retry,

            @DefaultValue("") @Pattern(regexp = "|[^:]+(:[0-9]{1,5})?")
            String advertise,

            @DefaultValue("") String startCommand) {
        /** {@link #tls} in the words of Connector/J and Debezium, lower case. */
        public String sslMode() {
            Tls mode = tls != Tls.AUTO ? tls : isLoopback() ? Tls.DISABLED : Tls.PREFERRED;
            return mode.name().toLowerCase(Locale.ROOT);
        }

        private boolean isLoopback() {
            try {
                return InetAddress.getByName(host).isLoopbackAddress();
            } catch (UnknownHostException e) {
                return false;
            }
        }
    }

    /**
     * @param transactionBytesMax a larger transaction stops the capture with QRT-2004
     * @param undecidedBytesMax so do prepared and undecided XA transactions that are larger together
     */
    public record Capture(
            @DefaultValue("256MB") DataSize transactionBytesMax,
            @DefaultValue("512MB") DataSize undecidedBytesMax) {}

    /**
     * @param proposalBytesMax writesets are batched up to this
     * @param inFlightMax proposals under way at once
     * @param windowBytesMax captured and not yet ordered, before the binlog reader is held back
     * @param interval a batch that is not full comes no sooner after the one before
     * @param intervalMax how far the interval may grow where rounds of the order take long
     * @param resendAfter a proposal not delivered by then is sent again
     * @param electionTimeoutMin,electionTimeoutMax a follower that hears no leader for a time between them calls an
     *     election
     * @param checkpointEntries log entries between two checkpoints; what is older than the last but one may be purged
     * @param logBytesMax what the log keeps for absent members; who needs more fetches it from the writeset caches
     */
    public record Order(
            @DefaultValue("256KB") DataSize proposalBytesMax,
            @DefaultValue("4") @Min(1) @Max(64) int inFlightMax,
            @DefaultValue("32MB") DataSize windowBytesMax,
            @DefaultValue("10ms") Duration interval,
            @DefaultValue("100ms") Duration intervalMax,
            @DefaultValue("500ms") Duration idleAfter,
            @DefaultValue("5s") Duration resendAfter,
            @DefaultValue("1s") Duration electionTimeoutMin,
            @DefaultValue("2s") Duration electionTimeoutMax,
            @DefaultValue("20000") @Min(10) int checkpointEntries,
            @DefaultValue("512MB") DataSize logBytesMax) {}

    /** @param keysMax the index forgets its oldest part beyond this; must be the same on all nodes */
    public record Certification(
            @DefaultValue("2000000") @Min(1000) int keysMax) {}

    /**
     * What the writeset cache keeps after it is applied.
     *
     * @param bytesMax the oldest of it goes beyond this
     * @param ageMax and when it is older than this; 0 for never
     * @param returnWarning an absent member that could come back by a transfer for less than this is warned of
     */
    public record Cache(
            @DefaultValue("1GB") DataSize bytesMax,
            @DefaultValue("64MB") DataSize segmentBytes,
            @DefaultValue("0") Duration ageMax,
            @DefaultValue("30m") Duration returnWarning) {}

    /**
     * @param reserve what is left free on the volume of the data directory: below it the node leaves the order; 0 for
     *     never
     */
    public record Disk(@DefaultValue("256MB") DataSize reserve) {}

    /**
     * @param workers parallel connections to the server
     * @param groupTransactionsMax writesets committed in one database transaction at most
     * @param syncedLagMax writesets a joining node may be behind when it is declared SYNCED
     */
    public record Apply(
            @DefaultValue("4") @Min(1) @Max(64) int workers,
            @DefaultValue("256") @Min(1) @Max(10000) int groupTransactionsMax,
            @DefaultValue("1MB") DataSize groupBytesMax,
            @DefaultValue("20ms") Duration groupInterval,
            @DefaultValue("1000") @Min(0) long syncedLagMax) {}

    /**
     * The conflict journal.
     *
     * @param bytesMax the oldest of it goes beyond this
     * @param ageMax or when it is older
     * @param maskedColumns {@code schema.table.column}, any of them {@code *}: their values are left out
     */
    public record Conflicts(
            @DefaultValue("64MB") DataSize bytesMax,
            @DefaultValue("30d") Duration ageMax,
            @DefaultValue List<String> maskedColumns) {
        public ColumnMask mask() {
            return new ColumnMask(maskedColumns);
        }
    }

    /**
     * @param method how a server that nothing less can bring up to date gets all data of another one
     * @param bytesPerSecondMax how much the donor may be asked for; 0 for as much as it gives
     * @param switchAfter of {@code AUTO}: a node that would catch up for longer may get a copy instead, if that is much
     *     faster
     * @param expectedBytesPerSecond for how fast a copy by CLONE is taken as long as this node has never measured one
     * @param streamExpectedBytesPerSecond likewise of a copy by stream
     * @param streams of {@code STREAM}: how many pieces come at a time
     * @param chunk of {@code STREAM}: about how many bytes of rows a piece has
     * @param donorLagMax of {@code STREAM}: a donor gives slowly while it hasn't applied what was ordered so long ago;
     *     0 for never
     * @param without of {@code STREAM}: what doesn't come along
     */
    public record Sst(
            @DefaultValue("auto") Method method,
            @DefaultValue("0") DataSize bytesPerSecondMax,
            @DefaultValue("15m") Duration switchAfter,
            @DefaultValue("50MB") DataSize expectedBytesPerSecond,
            @DefaultValue("10MB") DataSize streamExpectedBytesPerSecond,
            @DefaultValue("4") @Min(1) @Max(64) int streams,
            @DefaultValue("16MB") DataSize chunk,
            @DefaultValue("1s") Duration donorLagMax,
            @DefaultValue List<Part> without) {
        /** What a server has besides tables. */
        public enum Part {
            ACCOUNTS,
            ROUTINES,
            EVENTS,
            TRIGGERS,
            VIEWS
        }

        public Omitted omitted() {
            return new Omitted(
                    List.of(),
                    without.contains(Part.ACCOUNTS),
                    without.contains(Part.ROUTINES),
                    without.contains(Part.EVENTS),
                    without.contains(Part.TRIGGERS),
                    without.contains(Part.VIEWS));
        }

        public enum Method {
            /**
             * From the others' writeset caches while they hold what it takes and that isn't much slower; else by CLONE
             * or by STREAM, whichever is possible and faster.
             */
            AUTO,
            /** Row by row from the other nodes, also for a new node that could have all from the caches. */
            STREAM,
            /** MySQL's CLONE plugin, also for a new node that could have all from the caches. */
            CLONE,
            /** Not at all: the node waits for somebody to do it. */
            NONE
        }
    }

    /**
     * The comparison of servers, of the node that does it.
     *
     * @param interval it is done anew so long after it last ended; 0 for only when it is asked for
     * @param share of the time that its reads take, the rest is waited; 1 for all of it
     * @param stretchRows read at once, fewer where rows are wide
     * @param keylessRowsMax a table without a usable primary key is read as a whole, up to so many rows
     */
    public record Audit(
            @DefaultValue("0") Duration interval,

            @DefaultValue("0.25") @DecimalMin("0.001") @DecimalMax("1")
            double share,

            @DefaultValue("2000") @Min(1) @Max(100000) long stretchRows,
            @DefaultValue("100000") @Min(0) long keylessRowsMax) {}
}
