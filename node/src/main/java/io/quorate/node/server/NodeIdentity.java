// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.core.AppliedDdl;
import io.quorate.core.ErrorCode;
import io.quorate.core.GtidSet;
import io.quorate.core.QuorateException;
import io.quorate.node.config.NodeProperties;
import io.quorate.transport.AdmissionPlan.Holds;
import io.quorate.transport.DurableFile;
import java.io.IOException;
import java.io.Reader;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Properties;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which server this node's data directory belongs to: file {@code node.properties}, written at the first start.
 *
 * @param cluster the cluster's name
 * @param node this node's name
 * @param server the MySQL server's UUID, which is part of its GTIDs
 * @param baseline what is never captured: what the server had executed when the node was created, the state with which
 *     all nodes began, and what couldn't be ordered and went by a copy
 * @param directory identifies this directory: if the node is given an empty directory instead, that has another id
 * @param foundedEmpty whether there were no tables at all in that state, so that a new member can begin with an empty
 *     server
 */
public record NodeIdentity(
        String cluster, String node, UUID server, GtidSet baseline, UUID directory, boolean foundedEmpty) {
    private static final Logger log = LoggerFactory.getLogger(NodeIdentity.class);
    private static final String FILE = "node.properties";
    /** There while the cluster has begun with nothing that was made on this server, and no session has seen that. */
    private static final String NOTHING_FILE = "begins-with-nothing";

    /** In every node's data directory since its first start. */
    public static final String ID_FILE = "directory.id";

    /** Whether this node's directory belongs to a server already. */
    public static boolean isKnown(NodeProperties properties) {
        return read(properties.dataDir(), properties.cluster(), properties.node()) != null;
    }

    /**
     * Which server this node belongs to: the one it has belonged to before, or from now on this one. Refuses another
     * one.
     *
     * @param connection to the server
     * @param executed what it has executed
     */
    static NodeIdentity of(NodeProperties properties, String incarnation, Connection connection, GtidSet executed)
            throws SQLException, IOException {
        UUID server = ServerAccess.uuid(connection);
        NodeIdentity kept = read(properties.dataDir(), properties.cluster(), properties.node());
        if (kept == null) {
            kept = found(properties, incarnation, connection, executed);
            kept.write(properties.dataDir());
            Files.deleteIfExists(properties.dataDir().resolve(NOTHING_FILE));
            log.info("this node belongs to server {} from now on, which has executed {}", server, executed);
        }
        kept.requireServer(
                server, properties.mysql().host() + ":" + properties.mysql().port());
        return kept;
    }

    /**
     * A server that took part before has transactions to be captured; only what a first start finds is the baseline.
     */
    private static NodeIdentity found(
            NodeProperties properties, String incarnation, Connection connection, GtidSet executed)
            throws SQLException, IOException {
        boolean knows = ServerAccess.applied(connection) > 0;
        Holds holds = ServerAccess.holds(connection);
        if (!knows) {
            requireNothing(properties.dataDir(), holds);
            ServerCheck.requireNew(connection);
            FormerCluster.requireNoDefinitions(properties.cluster(), incarnation, executed);
        }
        return new NodeIdentity(
                properties.cluster(),
                properties.node(),
                ServerAccess.uuid(connection),
                knows ? new GtidSet() : executed,
                directoryId(properties.dataDir()),
                !knows && holds == Holds.NOTHING);
    }

    /** The cluster begins with nothing that was made on this node's server. */
    static void beginWithNothing(Path directory) throws IOException {
        DurableFile.write(directory.resolve(NOTHING_FILE), "");
    }

    /**
     * What was made after the others had heard that there is nothing is on this server alone: it would be taken for
     * what all have in common.
     */
    private static void requireNothing(Path directory, Holds holds) {
        if (holds != Holds.NOTHING && Files.exists(directory.resolve(NOTHING_FILE))) {
            throw new QuorateException(
                    ErrorCode.COPY_NEEDED,
                    "somebody has made " + (holds == Holds.TABLES ? "tables" : "a database") + " on this server after"
                            + " its node had begun with the others as one without, so only this server has them. Dump"
                            + " what you need, drop these databases and start the service again; what you load into"
                            + " a server that is SYNCED comes to all");
        }
    }

    /**
     * Reads the identity in {@code directory}; null when there is none yet. Refuses the identity of another cluster or
     * node.
     */
    public static NodeIdentity read(Path directory, String cluster, String node) {
        Path file = directory.resolve(FILE);
        if (!Files.exists(file)) {
            return null;
        }
        Properties p = new Properties();
        try (Reader in = Files.newBufferedReader(file)) {
            p.load(in);
            NodeIdentity identity = new NodeIdentity(
                    p.getProperty("cluster"),
                    p.getProperty("node"),
                    UUID.fromString(p.getProperty("server")),
                    GtidSet.parse(p.getProperty("baseline")),
                    directoryId(directory),
                    Boolean.parseBoolean(p.getProperty("founded-empty")));
            if (!identity.cluster.equals(cluster) || !identity.node.equals(node)) {
                throw new QuorateException(
                        ErrorCode.CONFIGURATION,
                        directory + " belongs to node " + identity.node + " of cluster " + identity.cluster
                                + ", configured are quorate.node=" + node + " and quorate.cluster=" + cluster);
            }
            return identity;
        } catch (IOException | IllegalArgumentException | NullPointerException e) {
            throw new QuorateException(ErrorCode.DISK, file + " is unreadable: " + e, e);
        }
    }

    /** Notes that these GTIDs of its server are never to be captured, where the node has one by now. */
    public static void note(NodeProperties properties, GtidSet known) throws IOException {
        NodeIdentity now = read(properties.dataDir(), properties.cluster(), properties.node());
        if (now != null) {
            GtidSet all = new GtidSet().addAll(now.baseline).addAll(known);
            new NodeIdentity(now.cluster, now.node, now.server, all, now.directory, now.foundedEmpty)
                    .write(properties.dataDir());
        }
    }

    /** Of what the server has executed, the GTIDs of other sources, and tagged ones, that are no clients' commits. */
    GtidSet known(GtidSet executed, String incarnation) {
        GtidSet known = baseline.ofOthers(server).addAll(baseline.tagged(server));
        for (UUID ours : List.of(
                directory,
                AppliedDdl.source(incarnation),
                AppliedDdl.passedOverSource(incarnation),
                AppliedDdl.wholeSource(incarnation))) {
            known.addAll(executed.above(ours, 0));
        }
        return known;
    }

    /** Writes this identity to {@code directory}, durably. */
    public void write(Path directory) throws IOException {
        Properties p = new Properties();
        p.setProperty("cluster", cluster);
        p.setProperty("node", node);
        p.setProperty("server", server.toString());
        p.setProperty("baseline", baseline.toString());
        p.setProperty("founded-empty", Boolean.toString(foundedEmpty));
        StringWriter text = new StringWriter();
        p.store(text, "Which MySQL server this directory belongs to");
        DurableFile.write(directory.resolve(FILE), text.toString());
    }

    /** The id of a directory; it is drawn at random when it is first asked for. */
    public static UUID directoryId(Path directory) throws IOException {
        Path file = directory.resolve(ID_FILE);
        if (!Files.exists(file)) {
            DurableFile.write(file, UUID.randomUUID().toString());
        }
        try {
            return UUID.fromString(Files.readString(file).strip());
        } catch (IllegalArgumentException e) {
            throw new QuorateException(ErrorCode.DISK, file + " is unreadable: " + e, e);
        }
    }

    /** Refuses a server that is not the one this directory belongs to. */
    public void requireServer(UUID found, String where) {
        if (!found.equals(server)) {
            throw new QuorateException(
                    ErrorCode.WRONG_SERVER,
                    "the MySQL server at " + where + " is " + found + ", this node's is " + server);
        }
    }

    /**
     * The UUID of the cluster that seqnos belong to. It is made from the cluster's name, so a forced recovery doesn't
     * change it.
     */
    public static UUID incarnation(String cluster) {
        return UUID.nameUUIDFromBytes(("quorate:" + cluster).getBytes(StandardCharsets.UTF_8));
    }
}
