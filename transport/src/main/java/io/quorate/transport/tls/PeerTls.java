// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport.tls;

import io.netty.channel.Channel;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.net.Socket;
import java.security.Principal;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import javax.naming.InvalidNameException;
import javax.naming.ldap.LdapName;
import javax.naming.ldap.Rdn;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import javax.net.ssl.SSLSocket;

/**
 * TLS between nodes, in which both ends show a certificate of the cluster's own authority (TLS 1.3, RFC 8446). The
 * certificate's common name is the name of its node. Who calls makes sure that it has reached the node that it meant,
 * and who is called that the caller is who it says it is; host names and addresses play no part.
 *
 * <p>Each connection takes the certificates as they are when it begins, so that they can be renewed while nodes run.
 * Sessions aren't resumed: that would leave out the look at the certificates.
 */
public final class PeerTls {
    /** Connections are neither encrypted nor authenticated. */
    public static final PeerTls OFF = new PeerTls(null);

    private static final Duration HANDSHAKE_MAX = Duration.ofSeconds(5);
    private static final String[] PROTOCOLS = {"TLSv1.3"};
    /** Far more messages than there are in a handshake. */
    private static final int MESSAGES_MAX = 100;

    /**
     * What a node proves with who it is, and by what it knows the others.
     *
     * @param ciphers the best first; empty for those of the JVM
     */
    public record Credentials(SSLContext context, List<String> ciphers) {
        public Credentials {
            ciphers = List.copyOf(ciphers);
        }
    }

    /** Null when TLS is off. */
    private final Supplier<Credentials> present;

    private PeerTls(Supplier<Credentials> present) {
        this.present = present;
    }

    /** @param present gives them as they are now */
    public static PeerTls of(Supplier<Credentials> present) {
        return new PeerTls(present);
    }

    public boolean isOn() {
        return present != null;
    }

    /** The first handler of a connection's pipeline, at the end that calls ({@code client}) or is called. */
    public SslHandler handler(boolean client) {
        Credentials now = now();
        SSLEngine engine = now.context.createSSLEngine();
        engine.setUseClientMode(client);
        engine.setSSLParameters(parameters(engine.getSSLParameters(), now, client));
        SslHandler handler = new SslHandler(engine);
        handler.setHandshakeTimeoutMillis(HANDSHAKE_MAX.toMillis());
        return handler;
    }

    /**
     * Shakes hands on a connection; the socket's own timeout bounds that.
     *
     * @param raw remains whom to close: that doesn't wait for anything, which closing the other one may
     * @throws IOException also when the other end's certificate isn't one of the cluster
     */
    public SSLSocket secure(Socket raw, boolean client) throws IOException {
        Credentials now = now();
        SSLSocket socket = (SSLSocket) now.context.getSocketFactory().createSocket(raw, null, raw.getPort(), true);
        socket.setUseClientMode(client);
        socket.setSSLParameters(parameters(socket.getSSLParameters(), now, client));
        try {
            socket.startHandshake();
        } catch (SSLException e) {
            throw new IOException(why(e), e);
        }
        return socket;
    }

    /**
     * Has the node shake hands with itself, in memory. If its certificate isn't of the authority that it trusts, the
     * others would refuse it, and it the others.
     *
     * @throws SSLException when it would refuse itself
     */
    @SuppressWarnings("FutureReturnValueIgnored") // in memory there is nothing to wait for
    public void requireOwnTrust() throws SSLException {
        SslHandler calling = handler(true);
        SslHandler called = handler(false);
        EmbeddedChannel callingEnd = new EmbeddedChannel(calling);
        EmbeddedChannel calledEnd = new EmbeddedChannel(called);
        try {
            boolean more = true;
            for (int message = 0; more && message < MESSAGES_MAX; message++) {
                more = pass(callingEnd, calledEnd) || pass(calledEnd, callingEnd);
            }
            requireShaken(calling);
            requireShaken(called);
        } finally {
            callingEnd.close();
            calledEnd.close();
            callingEnd.releaseOutbound();
            calledEnd.releaseOutbound();
        }
    }

    /** Whether there was something to be passed on. */
    private static boolean pass(EmbeddedChannel from, EmbeddedChannel to) {
        Object message = from.readOutbound();
        if (message != null) {
            to.pipeline().fireChannelRead(message);
            to.pipeline().fireChannelReadComplete();
            to.runPendingTasks();
        }
        return message != null;
    }

    private static void requireShaken(SslHandler end) throws SSLException {
        Future<Channel> shaken = end.handshakeFuture();
        if (!shaken.isSuccess()) {
            throw shaken.isDone()
                    ? new SSLException(rootMessage(shaken.cause()), shaken.cause())
                    : new SSLException("the handshake doesn't end");
        }
    }

    private Credentials now() {
        if (present == null) {
            throw new IllegalStateException("TLS between nodes is off");
        }
        Credentials now = present.get();
        // Resumption can't be switched off in JSSE; after a second there is nothing to resume.
        now.context.getClientSessionContext().setSessionTimeout(1);
        now.context.getServerSessionContext().setSessionTimeout(1);
        return now;
    }

    private static SSLParameters parameters(SSLParameters parameters, Credentials now, boolean client) {
        parameters.setProtocols(PROTOCOLS);
        if (!now.ciphers.isEmpty()) {
            parameters.setCipherSuites(now.ciphers.toArray(String[]::new));
        }
        if (!client) {
            parameters.setNeedClientAuth(true);
        }
        return parameters;
    }

    /**
     * The name of the node at the other end of a connection whose handshake is over.
     *
     * @throws SSLPeerUnverifiedException when its certificate names none
     */
    public static String name(SSLSession session) throws SSLPeerUnverifiedException {
        String name = name(session.getPeerPrincipal());
        if (name == null) {
            throw new SSLPeerUnverifiedException(
                    "the certificate of \"" + session.getPeerPrincipal() + "\" names no node (CN)");
        }
        return name;
    }

    /** The name of the node whose certificate has that subject; null when it names none. */
    public static String name(Principal subject) {
        try {
            for (Rdn part : new LdapName(subject.getName()).getRdns()) {
                if (part.getType().equalsIgnoreCase("CN")) {
                    return String.valueOf(part.getValue());
                }
            }
        } catch (InvalidNameException e) {
            // As if there were none.
        }
        return null;
    }

    /** The same, for a connection whose pipeline has our {@link #handler}. */
    public static String name(ChannelPipeline pipeline) throws SSLPeerUnverifiedException {
        return name(pipeline.get(SslHandler.class).engine().getSession());
    }

    /**
     * Makes sure that a connection has reached the node that was meant.
     *
     * @throws SSLPeerUnverifiedException when it has reached another one
     */
    public static void require(SSLSession session, String meant) throws SSLPeerUnverifiedException {
        String reached = name(session);
        if (!reached.equals(meant)) {
            throw new SSLPeerUnverifiedException("the certificate there is that of " + reached + ", not of " + meant);
        }
    }

    /** What went wrong in a handshake, in words that name the way out. */
    public static String why(Throwable e) {
        return "no TLS connection: " + rootMessage(e)
                + " (both nodes need a valid certificate of the cluster's authority; \"quorate certs show\" says what"
                + " a certificate is)";
    }

    private static String rootMessage(Throwable e) {
        Throwable cause = e;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause.getMessage();
    }
}
