// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import com.github.shyiko.mysql.binlog.BinaryLogClient;
import com.github.shyiko.mysql.binlog.network.SSLMode;
import com.github.shyiko.mysql.binlog.network.SSLSocketFactory;
import io.quorate.core.ServerTls;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/**
 * TLS of the binlog connection where the server's certificate is checked. The client compares the certificate with the
 * name that a reverse lookup gives for the server's address; here it is compared with the name that the configuration
 * has, during the handshake, as for HTTPS (RFC 2818).
 */
final class BinlogTls implements SSLSocketFactory {
    private static final String TYPE = "PKCS12";

    private final String host;
    private final ServerTls tls;

    private BinlogTls(String host, ServerTls tls) {
        this.host = host;
        this.tls = tls;
    }

    /** Has a client that isn't connected yet check its server. */
    static void apply(CaptureSettings settings, BinaryLogClient client) {
        if (settings.tls().mode().verifies()) {
            client.setSSLMode(SSLMode.VERIFY_CA);
            client.setSslSocketFactory(new BinlogTls(settings.host(), settings.tls()));
        }
    }

    @Override
    public SSLSocket createSocket(Socket plain) throws SocketException {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(keys(), trust(), null);
            SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket(plain, host, plain.getPort(), true);
            if (tls.mode() == ServerTls.Mode.VERIFY_IDENTITY) {
                SSLParameters parameters = socket.getSSLParameters();
                parameters.setEndpointIdentificationAlgorithm("HTTPS");
                socket.setSSLParameters(parameters);
            }
            return socket;
        } catch (IOException | GeneralSecurityException e) {
            SocketException failure = new SocketException("no TLS to the server: " + e.getMessage());
            failure.initCause(e);
            throw failure;
        }
    }

    private TrustManager[] trust() throws IOException, GeneralSecurityException {
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(read(tls.trust()));
        return factory.getTrustManagers();
    }

    private KeyManager[] keys() throws IOException, GeneralSecurityException {
        if (tls.keys() == null) {
            return null;
        }
        KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        factory.init(read(tls.keys()), tls.keys().password().toCharArray());
        return factory.getKeyManagers();
    }

    private static KeyStore read(ServerTls.Store store) throws IOException, GeneralSecurityException {
        if (store == null) {
            return null;
        }
        KeyStore read = KeyStore.getInstance(TYPE);
        try (InputStream in = Files.newInputStream(Path.of(store.file()))) {
            read.load(in, store.password().toCharArray());
        }
        return read;
    }
}
