// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import io.quorate.cli.CertificateAuthority;
import io.quorate.transport.tls.PeerTls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.List;
import java.util.function.Supplier;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** An authority of a test, and what its nodes have from it. */
final class Certified {
    private static final char[] NO_PASSWORD = {};

    private final Path directory;
    private final CertificateAuthority authority;

    private Certified(Path directory, CertificateAuthority authority) {
        this.directory = directory;
        this.authority = authority;
    }

    static Certified in(Path directory) throws IOException {
        return at(directory, InstantSource.system());
    }

    /** One whose certificates of an hour expired long ago. */
    static Certified longAgo(Path directory) throws IOException {
        return at(directory, InstantSource.fixed(Instant.now().minus(Duration.ofDays(30))));
    }

    private static Certified at(Path directory, InstantSource clock) throws IOException {
        return new Certified(directory, CertificateAuthority.create(directory, "test", clock));
    }

    PeerTls tls(String node) {
        SSLContext context = context(node);
        return tls(() -> context);
    }

    static PeerTls tls(Supplier<SSLContext> present) {
        return PeerTls.of(() -> new PeerTls.Credentials(present.get(), List.of()));
    }

    /** What a node of that name shows that trusts another authority than its own. */
    PeerTls trusting(String node, Certified other) throws IOException, GeneralSecurityException {
        context(node);
        other.context(node);
        Path trusted = other.directory.resolve(node).resolve(CertificateAuthority.AUTHORITY);
        SSLContext context = context(directory.resolve(node), trusted);
        return tls(() -> context);
    }

    /** What a node of that name shows; it gets a certificate if it has none. */
    SSLContext context(String node) {
        try {
            Path own = directory.resolve(node);
            if (!Files.exists(own)) {
                authority.issue(node, Duration.ofHours(1));
            }
            return context(own, own.resolve(CertificateAuthority.AUTHORITY));
        } catch (IOException | GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    SSLContext renewed(String node) {
        try {
            Path own = authority.renew(node, Duration.ofHours(2));
            return context(own, own.resolve(CertificateAuthority.AUTHORITY));
        } catch (IOException | GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private static SSLContext context(Path own, Path authority) throws IOException, GeneralSecurityException {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        keys.load(null, null);
        keys.setKeyEntry("node", key(own.resolve(CertificateAuthority.KEY)), NO_PASSWORD, new Certificate[] {
            CertificateAuthority.read(own.resolve(CertificateAuthority.CERTIFICATE))
        });
        KeyManagerFactory shown = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        shown.init(keys, NO_PASSWORD);
        KeyStore authorities = KeyStore.getInstance("PKCS12");
        authorities.load(null, null);
        byte[] trusted = Files.readAllBytes(authority);
        authorities.setCertificateEntry(
                "ca", CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(trusted)));
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(authorities);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(shown.getKeyManagers(), trust.getTrustManagers(), null);
        return context;
    }

    private static PrivateKey key(Path file) throws IOException, GeneralSecurityException {
        String base64 = Files.readString(file).replaceAll("-----[^-]+-----|\\s", "");
        return KeyFactory.getInstance("EC")
                .generatePrivate(new PKCS8EncodedKeySpec(Base64.getDecoder().decode(base64)));
    }
}
