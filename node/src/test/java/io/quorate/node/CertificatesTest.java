// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.cli.CertificateAuthority;
import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.node.config.NodeProperties;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.boot.ssl.DefaultSslBundleRegistry;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.pem.PemSslStoreBundle;
import org.springframework.boot.ssl.pem.PemSslStoreDetails;

class CertificatesTest {
    @TempDir
    Path directory;

    @Test
    void aNodeShowsItsOwn() throws IOException {
        Path own = issued("cluster", "n1", InstantSource.system());

        Certificates certificates = of(bundle(own, own));

        assertThat(certificates.tls().isOn()).isTrue();
        assertThat(certificates.expires()).isAfter(Instant.now());
    }

    @Test
    void thatOfAnotherNodeIsRefused() throws IOException {
        Path others = issued("cluster", "n2", InstantSource.system());

        assertRefused(bundle(others, others), "the certificate is that of n2, and this node is n1");
    }

    @Test
    void anExpiredOneIsRefused() throws IOException {
        InstantSource longAgo = InstantSource.fixed(Instant.now().minus(Duration.ofDays(30)));
        Path own = issued("cluster", "n1", longAgo);

        assertRefused(bundle(own, own), "make a new one with quorate certs renew n1");
    }

    @Test
    void oneThatIsntValidYetIsRefused() throws IOException {
        InstantSource later = InstantSource.fixed(Instant.now().plus(Duration.ofDays(30)));
        Path own = issued("cluster", "n1", later);

        assertRefused(bundle(own, own), "is this host's clock right?");
    }

    @Test
    void aKeyOfAnotherCertificateIsRefused() throws IOException {
        Path own = issued("cluster", "n1", InstantSource.system());
        Path other = issued("other", "n1", InstantSource.system());
        Files.copy(
                other.resolve(CertificateAuthority.KEY),
                own.resolve(CertificateAuthority.KEY),
                StandardCopyOption.REPLACE_EXISTING);

        assertRefused(bundle(own, own), "the private key isn't that of the certificate");
    }

    /** Nobody would talk with it, and it would wait for ever. */
    @Test
    void oneOfAnotherAuthorityThanTheNodeTrustsIsRefused() throws IOException {
        Path own = issued("cluster", "n1", InstantSource.system());
        Path foreign = issued("foreign", "n1", InstantSource.system());

        assertRefused(bundle(own, foreign), "are key store and trust store of the same authority?");
    }

    @Test
    void aFileThatHasNoneIsNamedByItsPartOfTheBundle() throws IOException {
        Path own = issued("cluster", "n1", InstantSource.system());
        Files.writeString(own.resolve(CertificateAuthority.KEY), "");
        assertRefused(bundle(own, own), "its keystore: Missing private key");
        Path other = issued("other", "n1", InstantSource.system());
        Files.writeString(other.resolve(CertificateAuthority.AUTHORITY), "-----BEGIN CERT");
        Path good = issued("good", "n1", InstantSource.system());
        assertRefused(bundle(good, other), "its truststore: Missing certificates");
    }

    /** Where new ones can't be used, the former ones are. */
    @Test
    void renewalIsCheckedLikeTheFirst() throws IOException {
        Path own = issued("cluster", "n1", InstantSource.system());
        Path foreign = issued("foreign", "n1", InstantSource.system());
        DefaultSslBundleRegistry registry = new DefaultSslBundleRegistry("nodes", bundle(own, own));
        Certificates certificates = Certificates.of(properties(), registry);
        Instant expires = certificates.expires();

        registry.updateBundle("nodes", bundle(foreign, own));
        assertThat(certificates.expires()).isEqualTo(expires);

        Path longer = CertificateAuthority.create(directory.resolve("longer"), "cluster", InstantSource.system())
                .issue("n1", Duration.ofDays(9));
        registry.updateBundle("nodes", bundle(longer, longer));
        assertThat(certificates.expires()).isAfter(expires);
    }

    private void assertRefused(SslBundle bundle, String why) {
        assertThatThrownBy(() -> of(bundle))
                .isInstanceOfSatisfying(
                        QuorateException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CONFIGURATION))
                .hasMessageContaining("quorate.tls.bundle: the bundle nodes can't be used")
                .hasMessageContaining(why);
    }

    private static Certificates of(SslBundle bundle) {
        return Certificates.of(properties(), new DefaultSslBundleRegistry("nodes", bundle));
    }

    private Path issued(String authority, String node, InstantSource clock) throws IOException {
        return CertificateAuthority.create(directory.resolve(authority), authority, clock)
                .issue(node, Duration.ofHours(1));
    }

    private static SslBundle bundle(Path own, Path trusted) {
        return SslBundle.of(new PemSslStoreBundle(
                PemSslStoreDetails.forCertificate("file:" + own.resolve(CertificateAuthority.CERTIFICATE))
                        .withPrivateKey("file:" + own.resolve(CertificateAuthority.KEY)),
                PemSslStoreDetails.forCertificate("file:" + trusted.resolve(CertificateAuthority.AUTHORITY))));
    }

    private static NodeProperties properties() {
        return new Binder(new MapConfigurationPropertySource(Map.of(
                        "quorate.cluster", "test",
                        "quorate.node", "n1",
                        "quorate.data-dir", "unused",
                        "quorate.peers[0].name", "n1",
                        "quorate.peers[0].host", "127.0.0.1",
                        "quorate.peers[0].raft-port", "1",
                        "quorate.peers[0].channel-port", "2",
                        "quorate.tls.bundle", "nodes")))
                .bind("quorate", NodeProperties.class)
                .get();
    }
}
