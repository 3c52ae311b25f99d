// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.node.config.NodeProperties;
import io.quorate.transport.tls.PeerTls;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.SignatureException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.ssl.NoSuchSslBundleException;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;

/**
 * How this node proves to the others who it is: by a bundle of Spring Boot's, of which it always uses what is there
 * now. Where there is none, all nodes have to be on loopback, unless the configuration says that it may be otherwise.
 */
final class Certificates {
    private static final Logger log = LoggerFactory.getLogger(Certificates.class);

    /** What a bundle holds at a time. */
    private record Present(PeerTls.Credentials credentials, X509Certificate certificate) {}

    private final String node;
    private final AtomicReference<@Nullable Present> present = new AtomicReference<>();

    private Certificates(String node) {
        this.node = node;
    }

    /**
     * The certificates that the configuration names.
     *
     * @throws QuorateException CONFIGURATION where there are none and would have to be, or where they are those of
     *     another node
     */
    static Certificates of(NodeProperties properties, SslBundles bundles) {
        Certificates certificates = new Certificates(properties.node());
        String name = properties.tls().bundle();
        if (name.isEmpty()) {
            requireNone(properties);
            return certificates;
        }
        try {
            SslBundle bundle = bundles.getBundle(name);
            certificates.present.set(certificates.read(bundle));
            bundles.addBundleUpdateHandler(name, certificates::renewed);
        } catch (NoSuchSslBundleException e) {
            throw refusal("there is no spring.ssl.bundle." + name, e);
        } catch (GeneralSecurityException | RuntimeException e) {
            throw refusal("the bundle " + name + " can't be used: " + e.getMessage(), e);
        }
        log.info("{}", certificates.describe());
        return certificates;
    }

    private static QuorateException refusal(String why, Exception cause) {
        return new QuorateException(ErrorCode.CONFIGURATION, "quorate.tls.bundle: " + why, cause);
    }

    private static void requireNone(NodeProperties properties) {
        if (!properties.isOpen()) {
            return;
        }
        if (!properties.insecure()) {
            throw new QuorateException(
                    ErrorCode.CONFIGURATION,
                    "quorate.tls.bundle is missing, and not all of quorate.peers are on loopback: whoever reaches this"
                            + " node's ports could read and write everything. Make certificates (quorate certs init,"
                            + " quorate certs issue) and name their bundle; or set quorate.insecure=true where nobody"
                            + " else can reach these ports");
        }
        log.warn("quorate.insecure=true: whoever reaches this node's ports can read and write everything, in the whole"
                + " cluster");
    }

    /** How nodes prove to one another who they are. */
    PeerTls tls() {
        return present.get() == null ? PeerTls.OFF : PeerTls.of(() -> now().credentials);
    }

    /** Those that the bundle's options name, the best first; none for those of the JVM. */
    private static List<String> ciphers(SslBundle bundle, SSLContext context) throws GeneralSecurityException {
        String[] named = bundle.getOptions().getCiphers();
        if (named == null) {
            return List.of();
        }
        List<String> known = List.of(context.getSupportedSSLParameters().getCipherSuites());
        for (String cipher : named) {
            if (!known.contains(cipher)) {
                throw new GeneralSecurityException("options.ciphers: this JVM doesn't know " + cipher);
            }
        }
        return List.of(named);
    }

    /** When this node's certificate expires; null without one. */
    @Nullable
    Instant expires() {
        Present now = present.get();
        return now == null ? null : now.certificate.getNotAfter().toInstant();
    }

    private Present now() {
        Present now = present.get();
        if (now == null) {
            throw new IllegalStateException("without certificates");
        }
        return now;
    }

    private String describe() {
        X509Certificate certificate = now().certificate;
        return "This node is " + certificate.getSubjectX500Principal() + " to the others, by "
                + certificate.getIssuerX500Principal() + ", until "
                + certificate.getNotAfter().toInstant();
    }

    private void renewed(SslBundle bundle) {
        try {
            present.set(read(bundle));
            log.info("New certificates. {}", describe());
        } catch (GeneralSecurityException | RuntimeException e) {
            log.error("The new certificates can't be used, the former ones still are: {}", e.getMessage());
        }
    }

    private Present read(SslBundle bundle) throws GeneralSecurityException {
        KeyStore keys = store("keystore", bundle.getStores()::getKeyStore);
        store("truststore", bundle.getStores()::getTrustStore);
        String alias = own(keys);
        X509Certificate certificate = (X509Certificate) keys.getCertificate(alias);
        String name = PeerTls.name(certificate.getSubjectX500Principal());
        if (name == null) {
            throw new GeneralSecurityException("the certificate is that of " + certificate.getSubjectX500Principal()
                    + ", without the CN that has to be the node's name");
        }
        if (!node.equals(name)) {
            throw new GeneralSecurityException("the certificate is that of " + name + ", and this node is " + node);
        }
        requireValidNow(certificate);
        if (keys.getKey(alias, password(bundle)) instanceof PrivateKey key && !isOf(key, certificate.getPublicKey())) {
            throw new GeneralSecurityException(
                    "the private key isn't that of the certificate; both come from one quorate certs issue " + node);
        }
        SSLContext context = bundle.createSslContext();
        PeerTls.Credentials credentials = new PeerTls.Credentials(context, ciphers(bundle, context));
        try {
            PeerTls.of(() -> credentials).requireOwnTrust();
        } catch (SSLException e) {
            throw new GeneralSecurityException(
                    "the certificate, by " + certificate.getIssuerX500Principal()
                            + ", is none that this node would take from another one: are key store and trust store of"
                            + " the same authority? " + e.getMessage(),
                    e);
        }
        return new Present(credentials, certificate);
    }

    /** @param part of the bundle, as the configuration names it: the message is about a file that it doesn't name */
    private static @Nullable KeyStore store(String part, Supplier<KeyStore> store) throws GeneralSecurityException {
        try {
            return store.get();
        } catch (RuntimeException e) {
            throw new GeneralSecurityException("its " + part + ": " + BundleAnalyzer.why(e), e);
        }
    }

    private void requireValidNow(X509Certificate certificate) throws GeneralSecurityException {
        try {
            certificate.checkValidity();
        } catch (CertificateExpiredException e) {
            throw new GeneralSecurityException(
                    "the certificate was valid until "
                            + certificate.getNotAfter().toInstant() + "; make a new one with quorate certs renew "
                            + node,
                    e);
        } catch (CertificateNotYetValidException e) {
            throw new GeneralSecurityException(
                    "the certificate is valid from "
                            + certificate.getNotBefore().toInstant() + " on; is this host's clock right?",
                    e);
        }
    }

    /** Whether that is the key of the other one; true too for kinds of keys that aren't known here. */
    private static boolean isOf(PrivateKey key, PublicKey other) throws GeneralSecurityException {
        String algorithm =
                switch (key.getAlgorithm()) {
                    case "EC" -> "SHA256withECDSA";
                    case "RSA" -> "SHA256withRSA";
                    case "EdDSA" -> "EdDSA";
                    default -> null;
                };
        if (algorithm == null) {
            return true;
        }
        if (!key.getAlgorithm().equals(other.getAlgorithm())) {
            return false;
        }
        byte[] something = {1, 2, 3};
        Signature signature = Signature.getInstance(algorithm);
        signature.initSign(key);
        signature.update(something);
        byte[] signed = signature.sign();
        signature.initVerify(other);
        signature.update(something);
        try {
            return signature.verify(signed);
        } catch (SignatureException e) {
            return false; // Of another curve or length.
        }
    }

    private static char[] password(SslBundle bundle) {
        String password = bundle.getKey().getPassword();
        if (password == null) {
            password = bundle.getStores().getKeyStorePassword();
        }
        return password == null ? new char[0] : password.toCharArray();
    }

    /** Where the store has the node's key and certificate. */
    private static String own(@Nullable KeyStore keys) throws GeneralSecurityException {
        List<String> aliases = keys == null ? List.of() : Collections.list(keys.aliases());
        for (String alias : aliases) {
            if (keys.isKeyEntry(alias) && keys.getCertificate(alias) instanceof X509Certificate) {
                return alias;
            }
        }
        throw new GeneralSecurityException("it has no private key with a certificate");
    }
}
