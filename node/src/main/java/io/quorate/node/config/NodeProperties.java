// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.config;

import io.quorate.applier.ApplierSettings;
import io.quorate.core.ColumnMask;
import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.core.ServerTls;
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
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.hibernate.validator.constraints.time.DurationMin;
import org.jspecify.annotations.Nullable;
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
 * @param zone where this node is, a name of your choice; transfers come from the same zone if possible
 * @param arbitrator whether this node votes and keeps the order without a MySQL server
 * @param peers all nodes of the cluster, including this one; the list is the same on each node
 * @param sameTables whether this node's server, if it has tables before the node ever took part, has those with which
 *     the cluster begins
 * @param insecure whether this node starts although others may be reached over a network, and nothing there proves who
 *     they are
 * @param commitMode when clients of this node's server get their OK
 * @param commitTimeout in mode {@code AFTER_SYNC}: how long a client waits for the order before its session is ended
 * @param commitWithoutService in mode {@code AFTER_SYNC}: what becomes of commits while this service isn't there
 * @param http who may ask this node over HTTP, and where its probes are
 * @param metrics under which names there are metrics
 * @param tracing where traces of transactions are sent
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
        @DefaultValue("false") boolean sameTables,
        @DefaultValue PeerTls tls,
        @DefaultValue("false") boolean insecure,
        @DefaultValue("async") CommitMode commitMode,
        @DefaultValue("10s") Duration commitTimeout,
        @DefaultValue("wait") WithoutService commitWithoutService,
        @Valid MySql mysql,
        @DefaultValue @Valid Capture capture,
        @DefaultValue @Valid Order order,
        @DefaultValue @Valid Certification certification,
        @DefaultValue @Valid Cache cache,
        @DefaultValue @Valid Disk disk,
        @DefaultValue @Valid Apply apply,
        @DefaultValue @Valid Flow flow,
        @DefaultValue @Valid Conflicts conflicts,
        @DefaultValue @Valid Ddl ddl,
        @DefaultValue @Valid Sst sst,
        @DefaultValue @Valid Audit audit,
        @DefaultValue @Valid Http http,
        @DefaultValue Metrics metrics,
        @DefaultValue @Valid Tracing tracing) {
    /** How writesets are applied to the server. */
    public ApplierSettings applierSettings() {
        return ApplierSettings.DEFAULTS
                .withWorkers(apply.workers())
                .withGroups(
                        apply.groupTransactionsMax(),
                        (int) apply.groupBytesMax().toBytes(),
                        apply.groupInterval())
                .withMask(conflicts.mask());
    }

    /** Refuses a configuration that names no server for a node that needs one, or a server for an arbitrator. */
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

    /** The settings of the order and of the channels between nodes. */
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

    /**
     * Whether nothing proves who the other nodes are, although they may be reached over a network: they have no
     * certificates, and not all of them are on loopback.
     */
    public boolean isOpen() {
        return tls.bundle().isEmpty() && !peers.stream().allMatch(peer -> isLoopback(peer.host()));
    }

    /** Whether that is this host, without asking anybody for its address. */
    public static boolean isLoopback(String host) {
        return LOOPBACK.matcher(host).matches();
    }

    /**
     * @param bundle name of a bundle of Spring Boot's ({@code spring.ssl.bundle.*}) with this node's certificate, whose
     *     common name is the node's, and the cluster's authority; empty for no TLS between nodes
     */
    public record PeerTls(@DefaultValue("") String bundle) {}

    /** Whether it can be the name of a node. */
    public static boolean isName(String text) {
        return text.matches(NAME);
    }

    private static final java.util.regex.Pattern LOOPBACK =
            java.util.regex.Pattern.compile("localhost|127(\\.[0-9]{1,3}){3}|\\[?(::1|(0{1,4}:){7}0{0,3}1)]?");

    static final String NAME = "[A-Za-z0-9][A-Za-z0-9._-]{0,62}";

    /**
     * @param raftPort port for what the nodes' Ratis servers say to one another
     * @param channelPort port for the channels between nodes: proposals to the leader, reports, questions and transfers
     * @param http host and port of the node's Actuator, for the {@code cluster} endpoint; if it is left out, the
     *     endpoint shows the node without details
     */
    public record Peer(
            @NotBlank @Pattern(regexp = NAME) String name,
            @NotBlank String host,
            @Min(1) @Max(65535) int raftPort,
            @Min(1) @Max(65535) int channelPort,
            String http) {}

    /** When a client gets its OK. */
    public enum CommitMode {
        /** When its own server has committed. The order may undo the transaction afterwards. */
        ASYNC,
        /** When the order has the transaction, and it has won. */
        AFTER_SYNC
    }

    /** What becomes of commits in mode {@code AFTER_SYNC} while nobody asks the order. */
    public enum WithoutService {
        /** They wait until the service is there. */
        WAIT,
        /** They get OK as in mode {@code ASYNC}. */
        ASYNC
    }

    /**
     * Whether connections to the server are encrypted, and by what it is known.
     *
     * @param bundle name of the SSL bundle ({@code spring.ssl.bundle}) with the authorities that may sign the server's
     *     certificate, and this service's own certificate; if it is left out, the JVM's authorities and none
     */
    public record Tls(
            @DefaultValue("auto") Mode mode,
            @DefaultValue("") String bundle) {
        /** Those except {@code AUTO} as MySQL's own {@code --ssl-mode}. */
        public enum Mode {
            /**
             * {@code DISABLED} over loopback, where nobody listens in, and where TLS would cost more than everything
             * else that the service does; otherwise {@code VERIFY_IDENTITY}.
             */
            AUTO,
            VERIFY_IDENTITY,
            VERIFY_CA,
            REQUIRED,
            DISABLED
        }
    }

    /**
     * The server beside this node, and the account that {@code docs/accounts.md} describes.
     *
     * @param passwordFile file that holds the account's password, instead of {@code password}
     * @param advertise host and port at which other nodes' servers reach this one for a full copy; if it is left out,
     *     {@code host} and {@code port}, with the node's own host instead of loopback
     * @param startCommand starts mysqld, by {@code /bin/sh}, when it has ended to start again with a full copy; if it
     *     is left out, somebody or something else has to start it
     */
    public record MySql(
            @DefaultValue("127.0.0.1") @NotBlank String host,
            @DefaultValue("3306") @Min(1) @Max(65535) int port,
            @DefaultValue("quorate") @NotBlank String user,
            @DefaultValue("") String password,
            @DefaultValue("") String passwordFile,
            @DefaultValue @Valid Tls tls,
            @DefaultValue("1s") Duration retry,

            @DefaultValue("") @Pattern(regexp = "|[^:]+(:[0-9]{1,5})?")
            String advertise,

            @DefaultValue("") String startCommand) {
        /** How connections are encrypted, with {@code AUTO} decided. */
        public ServerTls.Mode tlsMode() {
            return tls.mode() != Tls.Mode.AUTO
                    ? ServerTls.Mode.valueOf(tls.mode().name())
                    : isLoopback() ? ServerTls.Mode.DISABLED : ServerTls.Mode.VERIFY_IDENTITY;
        }

        /**
         * Whether the server is on loopback, whatever anybody says who answers for the names of hosts: apart from
         * {@code localhost}, only addresses are.
         */
        public boolean isLoopback() {
            return NodeProperties.isLoopback(host);
        }

        /**
         * The account's password: {@link #password}, or what {@link #passwordFile} holds, without the end of its line.
         *
         * @throws QuorateException {@link ErrorCode#CONFIGURATION} when there are both, or the file can't be read
         */
        public String secret() {
            if (passwordFile.isEmpty()) {
                return password;
            }
            if (!password.isEmpty()) {
                throw new QuorateException(
                        ErrorCode.CONFIGURATION,
                        "quorate.mysql.password and quorate.mysql.password-file are both set; leave out one of them");
            }
            try {
                return Files.readString(Path.of(passwordFile)).replaceFirst("\\R\\z", "");
            } catch (IOException e) {
                throw new QuorateException(
                        ErrorCode.CONFIGURATION, "quorate.mysql.password-file can't be read: " + e, e);
            }
        }

        /** Without the password. */
        @Override
        public String toString() {
            return user + "@" + host + ":" + port;
        }
    }

    /**
     * @param transactionBytesMax a larger transaction is ordered only to fail (QRT-2011)
     * @param undecidedBytesMax XA transactions that are prepared and undecided, and together larger than this, do so
     *     too
     */
    public record Capture(
            @DefaultValue("1GB") DataSize transactionBytesMax,
            @DefaultValue("512MB") DataSize undecidedBytesMax) {}

    /**
     * @param proposalBytesMax writesets are batched up to this size
     * @param inFlightMax how many proposals may be under way at once
     * @param windowBytesMax how much may be captured and not yet ordered before the binlog reader is held back
     * @param interval a batch that is not full follows the one before no sooner than this
     * @param intervalMax how far the interval may grow where rounds of the order take long
     * @param resendAfter a proposal that isn't delivered after this time is sent again
     * @param electionTimeoutMin,electionTimeoutMax a follower that doesn't hear from a leader for a time between these
     *     two calls an election
     * @param checkpointEntries log entries between two checkpoints; entries older than the last checkpoint but one may
     *     be purged
     * @param logBytesMax how much the log keeps for absent members; a member that needs more fetches it from the
     *     writeset caches
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
            @DefaultValue("512MB") DataSize logBytesMax) {
        /** What an election takes after a follower has noticed that its leader is silent, generously. */
        private static final Duration ELECTION = Duration.ofMillis(600);

        /**
         * How long a majority may be silent before the node's server is closed for writes. With the default timeouts
         * that is within three seconds.
         */
        public Duration silenceMax() {
            return electionTimeoutMax.plus(ELECTION);
        }
    }

    /** @param keysMax with more keys than this the index forgets its oldest part; must be the same on all nodes */
    public record Certification(
            @DefaultValue("2000000") @Min(1000) int keysMax) {}

    /**
     * How much the writeset cache keeps of what has been applied.
     *
     * @param bytesMax beyond this size the oldest part is deleted
     * @param ageMax parts older than this are deleted; 0 for never
     * @param returnWarning the log warns of an absent member that could come back by a transfer only for less time than
     *     this
     */
    public record Cache(
            @DefaultValue("1GB") DataSize bytesMax,
            @DefaultValue("64MB") DataSize segmentBytes,
            @DefaultValue("0") Duration ageMax,
            @DefaultValue("30m") Duration returnWarning) {}

    /**
     * @param reserve space to be left free on the volume of the data directory; with less than this the node leaves the
     *     order; 0 for never
     */
    public record Disk(@DefaultValue("256MB") DataSize reserve) {}

    /**
     * @param workers parallel connections to the server
     * @param groupTransactionsMax how many writesets are committed in one database transaction at most
     * @param syncedLagMax how many writesets a joining node may be behind when it is declared SYNCED
     */
    public record Apply(
            @DefaultValue("4") @Min(1) @Max(64) int workers,
            @DefaultValue("256") @Min(1) @Max(10000) int groupTransactionsMax,
            @DefaultValue("1MB") DataSize groupBytesMax,
            @DefaultValue("20ms") Duration groupInterval,
            @DefaultValue("1000") @Min(0) long syncedLagMax) {}

    /**
     * Flow control, in commit mode {@code AFTER_SYNC}.
     *
     * @param lagTarget clients are slowed so that no server is behind the order by more than this; 0 for never
     * @param patience a node that is further behind for this long, although clients are slowed, isn't waited for
     */
    public record Flow(
            @DefaultValue("1s") Duration lagTarget,
            @DefaultValue("10s") Duration patience) {}

    /**
     * Metrics.
     *
     * @param wsrepNames whether there are some under the names of Galera's status variables, too
     */
    public record Metrics(@DefaultValue("false") boolean wsrepNames) {}

    /**
     * Traces of transactions.
     *
     * @param endpoint URL to which they are sent by OTLP over HTTP; empty for no traces
     * @param sample one of so many transactions has one; should be the same on all nodes
     */
    public record Tracing(
            @DefaultValue("") @Pattern(regexp = "|https?://\\S+")
            String endpoint,

            @DefaultValue("1000") @Min(1) int sample) {}

    /**
     * The conflict journal.
     *
     * @param bytesMax beyond this size the oldest part is deleted
     * @param ageMax conflicts older than this are deleted
     * @param maskedColumns columns whose values are left out: {@code schema.table.column}, where each part may be
     *     {@code *}
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
     * Definitions that are ordered first.
     *
     * @param fenceMax how long this node keeps its clients from writing for a definition that isn't ordered
     */
    public record Ddl(
            @DefaultValue("30s") @DurationMin(seconds = 1) Duration fenceMax) {}

    /**
     * @param method how a server gets all data of another one when nothing less can bring it up to date
     * @param bytesPerSecondMax how much is taken from the donor at most; 0 for as much as it gives
     * @param switchAfter for {@code AUTO}: a node that would need longer than this to catch up may get a copy instead,
     *     if that is much faster
     * @param expectedBytesPerSecond how fast a copy by {@code CLONE} is taken to be while this node has never measured
     *     one
     * @param streamExpectedBytesPerSecond how fast a copy by {@code STREAM} is taken to be while this node has never
     *     measured one
     * @param streams for {@code STREAM}: how many pieces are fetched at a time
     * @param chunk for {@code STREAM}: about how many bytes of rows a piece has
     * @param donorLagMax for {@code STREAM}: a donor gives slowly while it hasn't applied what was ordered this long
     *     ago; 0 for never
     * @param without for {@code STREAM}: what is not copied
     * @param tls for {@code CLONE}: whether the servers encrypt what they send each other
     * @param tlsCa,tlsCert,tlsKey for {@code CLONE}: files on the host of this node's server, with the authorities that
     *     may sign the donor's certificate, and with its own certificate and key; what is left out stays as mysqld has
     *     it
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
            @DefaultValue List<Part> without,
            @DefaultValue("auto") Encryption tls,
            @DefaultValue("") String tlsCa,
            @DefaultValue("") String tlsCert,
            @DefaultValue("") String tlsKey) {
        /** Whether a copy between servers is encrypted. */
        public enum Encryption {
            /** Unless the two servers are on one host. */
            AUTO,
            REQUIRED,
            DISABLED
        }

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
             * By a transfer from the others' writeset caches, if they hold everything that is missing and it isn't much
             * slower than a copy; otherwise by CLONE or by STREAM, whichever is possible and faster.
             */
            AUTO,
            /** Row by row from the other nodes, even for a new node that could get everything from the caches. */
            STREAM,
            /** By MySQL's CLONE plugin, even for a new node that could get everything from the caches. */
            CLONE,
            /** Not at all: the node waits for somebody to do it. */
            NONE
        }
    }

    /**
     * The audit, on the node that carries it out.
     *
     * @param interval time between the end of an audit and the beginning of the next; 0 when none begins by itself
     * @param share the share of the time for which it reads; it rests for the remaining time; 1 for no rest
     * @param stretchRows how many rows are read at once; fewer where rows are wide
     * @param keylessRowsMax a table without a usable primary key is read as a whole, if it has at most so many rows
     */
    public record Audit(
            @DefaultValue("0") Duration interval,

            @DefaultValue("0.25") @DecimalMin("0.001") @DecimalMax("1")
            double share,

            @DefaultValue("2000") @Min(1) @Max(100000) long stretchRows,
            @DefaultValue("100000") @Min(0) long keylessRowsMax) {}

    /**
     * @param tokenFile has the token that those who ask must know; null for {@code http.token} in the data directory,
     *     which the node makes
     * @param hosts names by which this node is asked, besides its own and those of loopback
     * @param loopbackReads whether nobody who asks from this host needs the token, as long as nothing is changed
     * @param probePort port for probes; 0 for none
     * @param probeAddress address at which that port is; empty for the node's own host
     */
    public record Http(
            @Nullable Path tokenFile,
            @DefaultValue List<String> hosts,
            @DefaultValue("true") boolean loopbackReads,
            @DefaultValue("0") @Min(0) @Max(65535) int probePort,
            @DefaultValue("") String probeAddress) {}
}
