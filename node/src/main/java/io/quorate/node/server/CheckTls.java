// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.core.ServerTls;
import io.quorate.node.config.NodeProperties;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.util.Collection;
import java.util.Locale;
import java.util.UUID;

/**
 * TLS for a check of a server, where there is no service's configuration yet.
 *
 * @param file of the authorities, deleted at the end; null for those of the JVM
 */
record CheckTls(ServerTls tls, Path file) implements AutoCloseable {
    /**
     * @param mode as {@code quorate.mysql.tls.mode}
     * @param ca a file of certificates (PEM); empty for none
     * @throws IllegalArgumentException when there is no such mode
     */
    static CheckTls of(String host, String mode, String ca) throws IOException, GeneralSecurityException {
        boolean local = NodeProperties.isLoopback(host);
        ServerTls.Mode chosen = mode(mode, local);
        if (ca.isEmpty()) {
            return new CheckTls(new ServerTls(chosen, local, null, null), null);
        }
        String password = UUID.randomUUID().toString();
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        int number = 0;
        for (Certificate each : certificates(Path.of(ca))) {
            store.setCertificateEntry("ca" + number++, each);
        }
        Path file = Files.createTempFile("quorate-ca", ".p12");
        try (OutputStream out = Files.newOutputStream(file)) {
            store.store(out, password.toCharArray());
        }
        return new CheckTls(new ServerTls(chosen, local, new ServerTls.Store(file.toString(), password), null), file);
    }

    private static Collection<? extends Certificate> certificates(Path file)
            throws IOException, GeneralSecurityException {
        if (!Files.isRegularFile(file)) {
            throw new IllegalArgumentException("--ca: there is no file " + file);
        }
        try (InputStream in = Files.newInputStream(file)) {
            Collection<? extends Certificate> all =
                    CertificateFactory.getInstance("X.509").generateCertificates(in);
            if (all.isEmpty()) {
                throw new IllegalArgumentException("--ca: " + file + " has no certificate (PEM)");
            }
            return all;
        } catch (CertificateException e) {
            throw new IllegalArgumentException("--ca: " + file + " has no certificates (PEM): " + e.getMessage(), e);
        }
    }

    private static ServerTls.Mode mode(String mode, boolean local) {
        if (mode.equals("auto")) {
            return local ? ServerTls.Mode.DISABLED : ServerTls.Mode.VERIFY_IDENTITY;
        }
        try {
            return ServerTls.Mode.valueOf(mode.toUpperCase(Locale.ROOT).replace('-', '_'));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "TLS is auto, verify-identity, verify-ca, required or disabled, not " + mode, e);
        }
    }

    @Override
    public void close() throws IOException {
        if (file != null) {
            Files.deleteIfExists(file);
        }
    }
}
