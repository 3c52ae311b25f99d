// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class CertificateAuthorityTest {
    private static final Duration YEAR = Duration.ofDays(365);
    private static final InstantSource CLOCK = InstantSource.system();

    @TempDir
    Path directory;

    private CertificateAuthority authority;

    @BeforeEach
    void create() throws IOException {
        authority = CertificateAuthority.create(directory, "shop", CLOCK);
    }

    private static void assertRefused(ThrowingCallable what, String why) {
        assertThatThrownBy(what).isInstanceOf(CommandException.class).hasMessageContaining(why);
    }

    @Test
    void signsWhatItsOwnCertificateVerifies() throws Exception {
        Path own = CertificateAuthority.open(directory, CLOCK).issue("n1", YEAR);
        X509Certificate certificate = CertificateAuthority.read(own.resolve(CertificateAuthority.CERTIFICATE));
        certificate.verify(CertificateAuthority.read(directory.resolve(CertificateAuthority.AUTHORITY))
                .getPublicKey());
        assertThat(certificate.getSubjectX500Principal().getName()).isEqualTo("CN=n1");
        byte[] key = Files.readAllBytes(own.resolve(CertificateAuthority.KEY));
        authority.renew("n1", YEAR);
        assertThat(Files.readAllBytes(own.resolve(CertificateAuthority.KEY))).isEqualTo(key);
        assertThat(CertificateAuthority.read(own.resolve(CertificateAuthority.CERTIFICATE))
                        .getPublicKey())
                .isEqualTo(certificate.getPublicKey());
    }

    @Test
    void nothingItSignsIsValidForLongerThanItself() throws IOException {
        Instant end = CertificateAuthority.read(directory.resolve(CertificateAuthority.AUTHORITY))
                .getNotAfter()
                .toInstant();
        for (Duration validity : new Duration[] {Duration.ofDays(4000), Duration.ofDays(Integer.MAX_VALUE)}) {
            Path own = authority.issue("n" + validity.toDays(), validity);
            assertThat(CertificateAuthority.read(own.resolve(CertificateAuthority.CERTIFICATE))
                            .getNotAfter())
                    .isEqualTo(end);
        }
        assertRefused(
                () -> CertificateAuthority.open(directory, InstantSource.fixed(end.plusSeconds(1))),
                "was valid until " + end);
    }

    @Test
    void whatBrokeOffCanBeDoneAgain() throws IOException {
        Path own = authority.issue("n1", YEAR);
        assertRefused(() -> authority.issue("n1", YEAR), "quorate certs renew n1");
        Files.delete(own.resolve(CertificateAuthority.CERTIFICATE));
        assertRefused(() -> authority.renew("n1", YEAR), "quorate certs issue n1");
        authority.issue("n1", YEAR);
        assertThat(own.resolve(CertificateAuthority.CERTIFICATE)).exists();
    }

    /** Its key may be kept elsewhere, and nodes trust its certificate. */
    @Test
    void aCertificateWithoutItsKeyIsNotReplaced() throws IOException {
        assertRefused(() -> CertificateAuthority.create(directory, "shop", CLOCK), "has an authority already");
        Files.delete(directory.resolve("ca.key"));
        assertRefused(() -> CertificateAuthority.create(directory, "shop", CLOCK), "bring the key back");
    }

    @Test
    void filesThatDontBelongTogetherAreNamed() throws IOException {
        Path other = directory.resolve("other");
        CertificateAuthority.create(other, "shop", CLOCK);
        Files.copy(other.resolve("ca.key"), directory.resolve("ca.key"), StandardCopyOption.REPLACE_EXISTING);
        assertRefused(() -> CertificateAuthority.open(directory, CLOCK), "isn't the key of");
        Files.writeString(
                directory.resolve("ca.key"), "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n");
        assertRefused(() -> CertificateAuthority.open(directory, CLOCK), "is no private key");
        Files.delete(directory.resolve("ca.crt"));
        assertRefused(() -> CertificateAuthority.open(directory, CLOCK), "there is no " + directory.resolve("ca.crt"));
    }

    /** Nodes trust both authorities while one takes the other's place. */
    @Test
    void bothAuthoritiesGoToTheHostsWhileOneTakesTheOthersPlace() throws Exception {
        Path next = directory.resolve("next");
        CertificateAuthority.create(next, "next", CLOCK);
        String both = Files.readString(directory.resolve("ca.crt")) + Files.readString(next.resolve("ca.crt"));
        Files.writeString(next.resolve("ca.crt"), both);
        Path own = CertificateAuthority.open(next, CLOCK).issue("n1", YEAR);
        assertThat(own.resolve("ca.crt")).hasContent(both);
        CertificateAuthority.read(own.resolve("node.crt"))
                .verify(CertificateAuthority.readAll(next.resolve("ca.crt"))
                        .get(1)
                        .getPublicKey());
    }

    @Test
    void aNodesCertificateIsNoAuthority() throws IOException {
        Path own = authority.issue("n1", YEAR);
        Files.copy(own.resolve("node.crt"), own.resolve("ca.crt"), StandardCopyOption.REPLACE_EXISTING);
        Files.copy(own.resolve("node.key"), own.resolve("ca.key"));
        assertRefused(() -> CertificateAuthority.open(own, CLOCK), "isn't the certificate of an authority");
    }

    @Test
    void noNodeGetsACertificateForAnothersKeyAndNoneIsCalledLikeAFile() throws IOException {
        Path other = authority.issue("n2", YEAR);
        Path own = authority.issue("n1", YEAR);
        Files.copy(other.resolve("node.crt"), own.resolve("node.crt"), StandardCopyOption.REPLACE_EXISTING);
        assertRefused(() -> authority.renew("n1", YEAR), "isn't that of n1, but of CN=n2");
        assertRefused(() -> authority.issue("ca.key", YEAR), "can't be the name of a node");
    }

    @Test
    void aKeyThatIsCutShortIsNamed() throws IOException {
        Path file = directory.resolve("ca.key");
        String key = Files.readString(file);
        Files.writeString(file, key.substring(0, key.length() / 2));
        assertRefused(() -> CertificateAuthority.open(directory, CLOCK), file + " is no private key");
        Files.writeString(file, "");
        assertRefused(() -> CertificateAuthority.open(directory, CLOCK), file + " is no private key");
    }
}
