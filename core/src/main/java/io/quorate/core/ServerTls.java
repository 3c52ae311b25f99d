// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How connections to the MySQL server are encrypted, and by what the server is known. Every connection of the service
 * is made by this one value: those of JDBC, and the binlog's.
 *
 * @param isLocal whether the server is on loopback, where nobody comes between
 * @param trust the authorities that may have signed the server's certificate; null for those of the JVM
 * @param keys this service's own certificate and key; null for none
 */
public record ServerTls(Mode mode, boolean isLocal, Store trust, Store keys) {
    /** On loopback, without TLS. */
    public static final ServerTls LOOPBACK = new ServerTls(Mode.DISABLED, true, null, null);

    /** As MySQL's own {@code --ssl-mode}. */
    public enum Mode {
        DISABLED,
        /** Encrypted, to whoever answers. */
        REQUIRED,
        /** To a server whose certificate a known authority has signed. */
        VERIFY_CA,
        /** And whose certificate is for the name by which it was called. */
        VERIFY_IDENTITY;

        public boolean verifies() {
            return this == VERIFY_CA || this == VERIFY_IDENTITY;
        }
    }

    /**
     * A file of certificates or keys, in the form PKCS #12. It is read again for each connection.
     *
     * @param password of the file
     */
    public record Store(String file, String password) {
        static final String TYPE = "PKCS12";

        /** Without the password. */
        @Override
        public String toString() {
            return file;
        }
    }

    /**
     * The same as properties of MySQL's driver. Its server may be asked for the key with which a password is encrypted
     * only where nobody can answer in its place; with TLS there is no need to ask.
     */
    public Map<String, String> driverProperties() {
        Map<String, String> properties = new LinkedHashMap<>();
        properties.put("sslMode", mode.name());
        properties.put("allowPublicKeyRetrieval", Boolean.toString(isLocal && mode == Mode.DISABLED));
        if (trust != null && mode.verifies()) {
            properties.put("trustCertificateKeyStoreUrl", "file:" + trust.file());
            properties.put("trustCertificateKeyStoreType", Store.TYPE);
            properties.put("trustCertificateKeyStorePassword", trust.password());
            properties.put("fallbackToSystemTrustStore", "false");
        }
        if (keys != null && mode != Mode.DISABLED) {
            properties.put("clientCertificateKeyStoreUrl", "file:" + keys.file());
            properties.put("clientCertificateKeyStoreType", Store.TYPE);
            properties.put("clientCertificateKeyStorePassword", keys.password());
        }
        return properties;
    }
}
