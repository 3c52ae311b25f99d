// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.http;

import io.quorate.core.ErrorCode;
import io.quorate.core.NodeState;
import io.quorate.core.QuorateException;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.member.Standing;
import io.quorate.node.server.Server;
import java.io.IOException;
import java.net.InetSocketAddress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;

/**
 * What orchestrators and proxies ask about this node, at a port of its own if one is configured ({@code
 * quorate.http.probe-port}). Nothing that is asked here takes a lock, so a node that is stuck can still say so.
 *
 * <pre>
 * /livez         200 while the node works; otherwise it should be started anew
 * /readyz        200 while it does all it is there for
 * /ready/read    200 while its server has what the order says, and others wait for it
 * /ready/write   200 while clients may write to its server
 * </pre>
 *
 * Otherwise 503; the body is the node's state.
 */
@Component
class Probes implements SmartLifecycle, ProbeServer.Answers {
    private static final Logger log = LoggerFactory.getLogger(Probes.class);
    /** After the node itself, and stopped before it. */
    private static final int PHASE = 1;

    private final NodeProperties properties;
    private final Standing standing;
    private final Server server;
    private volatile ProbeServer probes;

    Probes(NodeProperties properties, Standing standing, Server server) {
        this.properties = properties;
        this.standing = standing;
        this.server = server;
    }

    @Override
    public ProbeServer.Answer answer(String path) {
        NodeState state = standing.state();
        boolean open = state.writable() && !server.isDraining();
        boolean takesWrites = open && server.closedBy() == null;
        return switch (path) {
            case "/livez" -> new ProbeServer.Answer(standing.isTurning(), state.name());
            case "/readyz" -> new ProbeServer.Answer(state == NodeState.ARBITRATOR || takesWrites, said(state));
            case "/ready/read" -> new ProbeServer.Answer(open && !standing.isLeftBehind(), said(state));
            case "/ready/write" -> new ProbeServer.Answer(takesWrites, said(state));
            default -> null;
        };
    }

    private String said(NodeState state) {
        return state.name()
                + (server.isDraining() ? ", drained" : "")
                + (server.closedBy() != null ? ", " + server.closedBy() : "")
                + (standing.isLeftBehind() ? ", left behind" : "");
    }

    @Override
    public void start() {
        int port = properties.http().probePort();
        if (port == 0) {
            return;
        }
        String named = properties.http().probeAddress();
        String host = named.isEmpty() ? properties.self().host() : named;
        try {
            probes = ProbeServer.start(new InetSocketAddress(host, port), this);
            log.info("probes are answered at {}:{}", host, port);
        } catch (IOException | RuntimeException e) {
            throw new QuorateException(
                    ErrorCode.CONFIGURATION,
                    "probes can't be answered at " + host + ":" + port + ": " + e
                            + "; correct quorate.http.probe-port and quorate.http.probe-address, or leave them out",
                    e);
        }
    }

    @Override
    public void stop() {
        ProbeServer running = probes;
        probes = null;
        if (running != null) {
            running.close();
        }
    }

    @Override
    public boolean isRunning() {
        return probes != null;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }
}
