// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import io.quorate.cli.CertificateAuthority;
import io.quorate.sandbox.NodePorts;
import io.quorate.transport.PeerChannels;
import io.quorate.transport.TransportSettings;
import io.quorate.transport.TransportSettings.Peer;
import io.quorate.transport.tls.PeerTls;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Somebody who has the key of a node, and asks the others what no node asks. The node's own service isn't running. */
final class MemberKey implements AutoCloseable {
    private static final byte QUESTION = 'Q';

    private final PeerChannels channels;

    private MemberKey(PeerChannels channels) {
        this.channels = channels;
    }

    /** @param node whose key it is */
    static MemberKey of(Cluster cluster, int node, Path directory) throws IOException, GeneralSecurityException {
        List<Peer> peers = new ArrayList<>();
        for (int each : cluster.numbers()) {
            NodePorts ports = cluster.node(each).ports();
            peers.add(new Peer("n" + each, "127.0.0.1", ports.raft(), ports.channel()));
        }
        SSLContext context =
                context(cluster.directory(node).resolveSibling("certs").resolve("n" + node));
        TransportSettings settings = TransportSettings.of(cluster.name(), "n" + node, peers, directory)
                .withTls(PeerTls.of(() -> new PeerTls.Credentials(context, List.of())));
        return new MemberKey(PeerChannels.start(
                settings,
                (peer, request, answer) -> {
                    throw new IOException("nothing is served here");
                },
                (peer, report) -> {},
                (peer, members) -> false));
    }

    private static SSLContext context(Path files) throws IOException, GeneralSecurityException {
        char[] none = new char[0];
        Certificate authority = CertificateAuthority.read(files.resolve(CertificateAuthority.AUTHORITY));
        Certificate own = CertificateAuthority.read(files.resolve(CertificateAuthority.CERTIFICATE));
        String key = Files.readString(files.resolve(CertificateAuthority.KEY)).replaceAll("-----[A-Z ]+-----", "");
        PrivateKey secret = KeyFactory.getInstance("EC")
                .generatePrivate(new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(key)));
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, none);
        store.setKeyEntry("own", secret, none, new Certificate[] {own, authority});
        store.setCertificateEntry("authority", authority);
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, none);
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        SSLContext context = SSLContext.getInstance("TLSv1.3");
        context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
        return context;
    }

    /**
     * Asks a node.
     *
     * @param name of the question
     * @param json its content
     * @return the answer, or what the node refuses it with
     */
    String ask(int node, String name, String json) {
        ByteArrayOutputStream question = new ByteArrayOutputStream();
        question.write(QUESTION);
        question.write(name.length());
        question.writeBytes(name.getBytes(StandardCharsets.US_ASCII));
        question.writeBytes(json.getBytes(StandardCharsets.UTF_8));
        try (InputStream answer = channels.open("n" + node, question.toByteArray())) {
            return new String(answer.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException | RuntimeException e) {
            return String.valueOf(e.getMessage());
        }
    }

    @Override
    public void close() {
        channels.close();
    }
}
