// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import java.io.IOException;
import java.io.Reader;
import java.io.StringWriter;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Date;
import java.util.List;
import java.util.regex.Pattern;
import javax.security.auth.x500.X500Principal;
import org.bouncycastle.asn1.pkcs.PrivateKeyInfo;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.ExtendedKeyUsage;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.asn1.x509.KeyUsage;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.openssl.PEMParser;
import org.bouncycastle.openssl.jcajce.JcaPEMKeyConverter;
import org.bouncycastle.openssl.jcajce.JcaPEMWriter;
import org.bouncycastle.openssl.jcajce.JcaPKCS8Generator;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

/**
 * A cluster's own authority, which gives its nodes certificates: in a directory, its certificate and key ({@code
 * ca.crt}, {@code ca.key}), and for each node a directory of the node's name with what belongs on its host: {@code
 * node.crt}, {@code node.key} and {@code ca.crt}. Keys are of elliptic curves (P-256); all files are PEM.
 *
 * <p>The authority's key is needed only for this, and best kept where no node is.
 */
public final class CertificateAuthority {
    public static final String CERTIFICATE = "node.crt";
    public static final String KEY = "node.key";
    public static final String AUTHORITY = "ca.crt";

    private static final String AUTHORITY_KEY = "ca.key";
    private static final Duration AUTHORITY_FOR = Duration.ofDays(3650);
    private static final Pattern NODE = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,62}");
    private static final int SERIAL_BITS = 120;

    private final Path directory;
    private final InstantSource clock;
    private final X509Certificate certificate;
    private final PrivateKey key;

    private CertificateAuthority(Path directory, InstantSource clock, X509Certificate certificate, PrivateKey key) {
        this.directory = directory;
        this.clock = clock;
        this.certificate = certificate;
        this.key = key;
    }

    /**
     * Makes an authority.
     *
     * @param name for people, the cluster's for instance
     * @throws CommandException when there is one already
     */
    public static CertificateAuthority create(Path directory, String name, InstantSource clock) throws IOException {
        if (!NODE.matcher(name).matches()) {
            throw new CommandException("the name of a cluster has letters, digits, dots, dashes and underscores");
        }
        if (existsIn(directory)) {
            throw new CommandException(directory + " has an authority already; its nodes would trust no other one");
        }
        if (Files.exists(directory.resolve(AUTHORITY))) {
            throw new CommandException(directory + " has " + AUTHORITY + " without " + AUTHORITY_KEY + ": bring the key"
                    + " back from where it is kept, or delete " + AUTHORITY + " to begin with a new authority");
        }
        createPrivate(directory);
        KeyPair pair = newKeys();
        X500Principal subject = new X500Principal("CN=" + name + " authority");
        X509v3CertificateBuilder made = new JcaX509v3CertificateBuilder(
                subject,
                serial(),
                now(clock),
                Date.from(clock.instant().plus(AUTHORITY_FOR)),
                subject,
                pair.getPublic());
        made.addExtension(Extension.basicConstraints, true, new BasicConstraints(0));
        made.addExtension(Extension.keyUsage, true, new KeyUsage(KeyUsage.keyCertSign | KeyUsage.cRLSign));
        X509Certificate certificate = sign(made, pair.getPrivate());
        write(directory.resolve(AUTHORITY), pem(certificate));
        writePrivate(directory.resolve(AUTHORITY_KEY), pem(pair.getPrivate()));
        return new CertificateAuthority(directory, clock, certificate, pair.getPrivate());
    }

    public static boolean existsIn(Path directory) {
        return Files.exists(directory.resolve(AUTHORITY_KEY));
    }

    /** @throws CommandException when there is none, or none that can sign anything */
    public static CertificateAuthority open(Path directory, InstantSource clock) throws IOException {
        if (!existsIn(directory)) {
            throw new CommandException("there is no authority in " + directory + "; make one with quorate certs init");
        }
        Path file = directory.resolve(AUTHORITY);
        List<X509Certificate> all = readAll(file);
        PrivateKey key = readKey(directory.resolve(AUTHORITY_KEY));
        for (X509Certificate certificate : all) {
            CertificateAuthority authority = new CertificateAuthority(directory, clock, certificate, key);
            if (authority.hasOwnKey()) {
                if (certificate.getBasicConstraints() < 0) {
                    throw new CommandException(file + " isn't the certificate of an authority: it may not sign others");
                }
                authority.requireValid();
                return authority;
            }
        }
        throw new CommandException(
                directory.resolve(AUTHORITY_KEY) + " isn't the key of " + file + "; no node would trust what it signs");
    }

    private boolean hasOwnKey() {
        try {
            certify("itself", certificate.getPublicKey(), Duration.ZERO).verify(certificate.getPublicKey());
            return true;
        } catch (GeneralSecurityException | IOException | IllegalArgumentException e) {
            return false;
        }
    }

    private void requireValid() {
        if (!clock.instant().isBefore(until())) {
            throw new CommandException("the authority in " + directory + " was valid until " + until()
                    + ". Make another one in another directory; nodes take both while ca.crt on their hosts has both"
                    + " certificates, one after the other");
        }
    }

    /** Until when the authority is valid, and so at most what it signs. */
    private Instant until() {
        return certificate.getNotAfter().toInstant();
    }

    /**
     * Gives a node a new key and a certificate, which is valid no longer than the authority.
     *
     * @return the directory with what belongs on its host
     */
    public Path issue(String node, Duration validity) throws IOException {
        requireName(node);
        Path own = directory.resolve(node);
        // Without a certificate it is what an attempt that broke off has left.
        if (Files.exists(own.resolve(KEY)) && Files.exists(own.resolve(CERTIFICATE))) {
            throw new CommandException(own + " has a key and a certificate already; quorate certs renew " + node
                    + " gives it a new certificate for the same key");
        }
        createPrivate(own);
        KeyPair pair = newKeys();
        writePrivate(own.resolve(KEY), pem(pair.getPrivate()));
        // All that are in there: while an authority is replaced, nodes trust both.
        write(own.resolve(AUTHORITY), Files.readString(directory.resolve(AUTHORITY)));
        write(own.resolve(CERTIFICATE), pem(certify(node, pair.getPublic(), validity)));
        return own;
    }

    /**
     * Gives a node a new certificate for the key it has. Only one file changes, so that whoever reads it while nodes
     * run has a certificate and a key that belong together.
     */
    public Path renew(String node, Duration validity) throws IOException {
        requireName(node);
        Path own = directory.resolve(node);
        if (!Files.exists(own.resolve(CERTIFICATE))) {
            throw new CommandException("there is no certificate of " + node + " in " + directory
                    + "; make one with quorate certs issue " + node);
        }
        X509Certificate former = read(own.resolve(CERTIFICATE));
        if (!former.getSubjectX500Principal().getName().equals("CN=" + node)) {
            throw new CommandException(own.resolve(CERTIFICATE) + " isn't that of " + node + ", but of "
                    + former.getSubjectX500Principal());
        }
        write(own.resolve(CERTIFICATE), pem(certify(node, former.getPublicKey(), validity)));
        return own;
    }

    /** @throws CommandException when no node can have that name */
    static void requireName(String node) {
        if (!NODE.matcher(node).matches() || node.equals(AUTHORITY) || node.equals(AUTHORITY_KEY)) {
            throw new CommandException(node + " can't be the name of a node: letters, digits, dots, dashes,"
                    + " underscores, and 63 of them at most; not " + AUTHORITY + " and " + AUTHORITY_KEY);
        }
    }

    /** Reads a certificate, the first one of the file. */
    public static X509Certificate read(Path file) throws IOException {
        return readAll(file).get(0);
    }

    /** Reads all certificates of a file, which are one at least. */
    static List<X509Certificate> readAll(Path file) throws IOException {
        try (var in = Files.newInputStream(file)) {
            List<X509Certificate> all = CertificateFactory.getInstance("X.509").generateCertificates(in).stream()
                    .map(X509Certificate.class::cast)
                    .toList();
            if (all.isEmpty()) {
                throw new CommandException(file + " has no certificate");
            }
            return all;
        } catch (NoSuchFileException e) {
            throw new CommandException("there is no " + file);
        } catch (GeneralSecurityException e) {
            throw new CommandException(file + " is no certificate: " + e.getMessage());
        }
    }

    private X509Certificate certify(String node, PublicKey of, Duration validity) throws IOException {
        X509v3CertificateBuilder made = new JcaX509v3CertificateBuilder(
                certificate, serial(), now(clock), end(validity), new X500Principal("CN=" + node), of);
        made.addExtension(Extension.basicConstraints, true, new BasicConstraints(false));
        made.addExtension(Extension.keyUsage, true, new KeyUsage(KeyUsage.digitalSignature));
        KeyPurposeId[] bothEnds = {KeyPurposeId.id_kp_serverAuth, KeyPurposeId.id_kp_clientAuth};
        made.addExtension(Extension.extendedKeyUsage, false, new ExtendedKeyUsage(bothEnds));
        return sign(made, key);
    }

    private static X509Certificate sign(X509v3CertificateBuilder made, PrivateKey by) throws IOException {
        try {
            return new JcaX509CertificateConverter()
                    .getCertificate(made.build(new JcaContentSignerBuilder(signature(by)).build(by)));
        } catch (OperatorCreationException | GeneralSecurityException e) {
            throw new IOException("a certificate can't be made: " + e.getMessage(), e);
        }
    }

    /** Of the kind that goes with a key; an authority that wasn't made by this class may have another one. */
    private static String signature(PrivateKey by) {
        return switch (by.getAlgorithm()) {
            case "RSA" -> "SHA256withRSA";
            case "EdDSA", "Ed25519" -> "Ed25519";
            default -> "SHA256withECDSA";
        };
    }

    private static KeyPair newKeys() throws IOException {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"));
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new IOException("keys can't be made: " + e.getMessage(), e);
        }
    }

    private static BigInteger serial() {
        return new BigInteger(SERIAL_BITS, new SecureRandom()).add(BigInteger.ONE);
    }

    private static Date now(InstantSource clock) {
        return Date.from(clock.instant());
    }

    private Date end(Duration after) {
        Instant end = clock.instant().plus(after);
        return Date.from(end.isBefore(until()) ? end : until());
    }

    private static PrivateKey readKey(Path file) throws IOException {
        try (Reader in = Files.newBufferedReader(file);
                PEMParser pem = new PEMParser(in)) {
            if (pem.readObject() instanceof PrivateKeyInfo key) {
                return new JcaPEMKeyConverter().getPrivateKey(key);
            }
            throw noKey(file);
        } catch (FileSystemException e) {
            throw e;
        } catch (IOException | IllegalArgumentException e) {
            // Cut short, or no PEM at all.
            throw noKey(file);
        }
    }

    private static CommandException noKey(Path file) {
        return new CommandException(file + " is no private key (PKCS #8, PEM, without a password)");
    }

    private static String pem(Object what) throws IOException {
        StringWriter text = new StringWriter();
        try (JcaPEMWriter pem = new JcaPEMWriter(text)) {
            pem.writeObject(what instanceof PrivateKey key ? new JcaPKCS8Generator(key, null) : what);
        }
        return text.toString();
    }

    private static void createPrivate(Path directory) throws IOException {
        if (!Files.exists(directory)) {
            Files.createDirectories(directory, owner(directory, "rwx------"));
        }
    }

    private static void writePrivate(Path file, String text) throws IOException {
        Path aside = file.resolveSibling(file.getFileName() + ".new");
        Files.deleteIfExists(aside);
        Files.createFile(aside, owner(file, "rw-------"));
        Files.writeString(aside, text, StandardCharsets.US_ASCII);
        Files.move(aside, file, StandardCopyOption.ATOMIC_MOVE);
    }

    private static void write(Path file, String text) throws IOException {
        Path aside = file.resolveSibling(file.getFileName() + ".new");
        Files.writeString(aside, text);
        Files.move(aside, file, StandardCopyOption.ATOMIC_MOVE);
    }

    private static FileAttribute<?>[] owner(Path file, String rights) {
        return file.getFileSystem().supportedFileAttributeViews().contains("posix")
                ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(rights))}
                : new FileAttribute<?>[0];
    }
}
