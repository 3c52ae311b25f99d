// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.core.ServerTls;
import io.quorate.node.config.NodeProperties;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Collections;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.ssl.NoSuchSslBundleException;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;

/**
 * The SSL bundle of connections to the server, written to files: MySQL's driver takes no other form. They are in the
 * data directory, which nobody else can read; their password keeps nobody out. When the bundle is reloaded they are
 * written anew, and connections from then on use that.
 */
public final class ServerTlsFiles {
    /** The directory in the data directory. */
    public static final String DIRECTORY = "mysql-tls";

    private static final Logger log = LoggerFactory.getLogger(ServerTlsFiles.class);
    private static final String TYPE = "PKCS12";
    private static final String PASSWORD = "quorate";

    private final Path directory;

    private ServerTlsFiles(Path directory) {
        this.directory = directory;
    }

    /**
     * How the configuration wants connections to be encrypted.
     *
     * @throws QuorateException {@link ErrorCode#CONFIGURATION} when there is no such bundle, or it can't be used
     */
    public static ServerTls of(NodeProperties properties, SslBundles bundles) {
        NodeProperties.MySql mysql = properties.mysql();
        String name = mysql.tls().bundle();
        if (name.isEmpty() || mysql.tlsMode() == ServerTls.Mode.DISABLED) {
            return new ServerTls(mysql.tlsMode(), mysql.isLoopback(), null, null);
        }
        ServerTlsFiles files = new ServerTlsFiles(properties.dataDir().resolve(DIRECTORY));
        try {
            ServerTls tls = files.write(mysql, bundles.getBundle(name));
            bundles.addBundleUpdateHandler(name, bundle -> files.writeAgain(mysql, name, bundle));
            return tls;
        } catch (NoSuchSslBundleException e) {
            throw new QuorateException(
                    ErrorCode.CONFIGURATION,
                    "quorate.mysql.tls.bundle names " + name + ", but there is no spring.ssl.bundle.pem." + name
                            + " and no spring.ssl.bundle.jks." + name,
                    e);
        } catch (IOException | GeneralSecurityException | IllegalStateException e) {
            throw new QuorateException(
                    ErrorCode.CONFIGURATION, "the SSL bundle " + name + " can't be used: " + e.getMessage(), e);
        }
    }

    private void writeAgain(NodeProperties.MySql mysql, String name, SslBundle bundle) {
        try {
            write(mysql, bundle);
            log.info("the SSL bundle {} was reloaded; new connections to the server use it", name);
        } catch (IOException | GeneralSecurityException | IllegalStateException e) {
            log.warn("the SSL bundle {} was reloaded, but can't be used, so the one before is: {}", name, e.toString());
        }
    }

    private ServerTls write(NodeProperties.MySql mysql, SslBundle bundle) throws IOException, GeneralSecurityException {
        Files.createDirectories(directory);
        KeyStore trust = bundle.getStores().getTrustStore();
        KeyStore keys = bundle.getStores().getKeyStore();
        return new ServerTls(
                mysql.tlsMode(),
                mysql.isLoopback(),
                trust == null ? null : store("trust.p12", certificates(trust)),
                keys == null ? null : store("keys.p12", keys(keys, bundle)));
    }

    private static KeyStore certificates(KeyStore from) throws IOException, GeneralSecurityException {
        KeyStore copy = empty();
        for (String alias : Collections.list(from.aliases())) {
            if (from.isCertificateEntry(alias)) {
                copy.setCertificateEntry(alias, from.getCertificate(alias));
            }
        }
        return copy;
    }

    private static KeyStore keys(KeyStore from, SslBundle bundle) throws IOException, GeneralSecurityException {
        String one = bundle.getKey().getAlias();
        String secret = bundle.getKey().getPassword() != null
                ? bundle.getKey().getPassword()
                : bundle.getStores().getKeyStorePassword();
        KeyStore copy = empty();
        for (String alias : Collections.list(from.aliases())) {
            if (from.isKeyEntry(alias) && (one == null || one.equals(alias))) {
                copy.setKeyEntry(
                        alias,
                        from.getKey(alias, secret == null ? null : secret.toCharArray()),
                        PASSWORD.toCharArray(),
                        from.getCertificateChain(alias));
            }
        }
        return copy;
    }

    private static KeyStore empty() throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance(TYPE);
        store.load(null, null);
        return store;
    }

    /** Somebody may read the one before at this moment. */
    private ServerTls.Store store(String name, KeyStore content) throws IOException, GeneralSecurityException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        content.store(bytes, PASSWORD.toCharArray());
        Path aside = directory.resolve(name + ".new");
        Files.deleteIfExists(aside);
        boolean posix = aside.getFileSystem().supportedFileAttributeViews().contains("posix");
        Files.createFile(
                aside,
                posix
                        ? new FileAttribute<?>[] {
                            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
                        }
                        : new FileAttribute<?>[0]);
        Files.write(aside, bytes.toByteArray());
        Path file = directory.resolve(name);
        Files.move(aside, file, StandardCopyOption.ATOMIC_MOVE);
        return new ServerTls.Store(file.toAbsolutePath().toString(), PASSWORD);
    }
}
