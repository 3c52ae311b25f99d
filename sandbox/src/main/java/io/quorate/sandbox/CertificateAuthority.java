// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/** An authority of a trial's own, which signs certificates for servers. The JDK's keytool makes both. */
public final class CertificateAuthority {
    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final String PASSWORD = "for-trials";
    private static final int LINE = 64;

    private final Path directory;

    /** A certificate and its key, in files of form PEM. */
    public record Issued(Path certificate, Path key) {}

    /** @param directory where it keeps its files; must be empty */
    public CertificateAuthority(Path directory) {
        this.directory = directory.toAbsolutePath();
        makeKeys("ca", "authority of a trial", "-ext", "bc:c");
        keytool("-exportcert", "-rfc", "-alias", "ca", "-file", certificate().toString());
    }

    /** Its own certificate, in a file of form PEM. */
    public Path certificate() {
        return directory.resolve("ca.pem");
    }

    /**
     * Signs a certificate.
     *
     * @param name of the files
     * @param names for whom it is, as keytool takes them: {@code dns:localhost}, {@code ip:127.0.0.1}
     */
    public Issued issue(String name, String names) {
        Path request = directory.resolve(name + ".csr");
        Path certificate = directory.resolve(name + ".pem");
        makeKeys(name, name);
        keytool("-certreq", "-alias", name, "-file", request.toString());
        keytool(
                "-gencert",
                "-rfc",
                "-alias",
                "ca",
                "-infile",
                request.toString(),
                "-outfile",
                certificate.toString(),
                "-ext",
                "san=" + names);
        return new Issued(certificate, writeKey(name));
    }

    private void makeKeys(String alias, String name, String... more) {
        List<String> arguments = new ArrayList<>(List.of(
                "-genkeypair", "-alias", alias, "-dname", "CN=" + name, "-keyalg", "EC", "-groupname", "secp256r1"));
        arguments.addAll(List.of(more));
        keytool(arguments.toArray(String[]::new));
    }

    private Path writeKey(String name) {
        Path file = directory.resolve(name + ".key");
        try (InputStream in = Files.newInputStream(store())) {
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(in, PASSWORD.toCharArray());
            byte[] key = store.getKey(name, PASSWORD.toCharArray()).getEncoded();
            String text = Base64.getMimeEncoder(LINE, new byte[] {'\n'}).encodeToString(key);
            PrivateFiles.write(file, "-----BEGIN PRIVATE KEY-----\n" + text + "\n-----END PRIVATE KEY-----\n");
            return file;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (GeneralSecurityException e) {
            throw new SandboxException("the key of " + name + " can't be read", e);
        }
    }

    private Path store() {
        return directory.resolve("keys.p12");
    }

    private void keytool(String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(), "-J-XX:TieredStopAtLevel=1"));
        command.addAll(List.of(arguments));
        command.addAll(List.of("-keystore", store().toString(), "-storetype", "PKCS12", "-storepass", PASSWORD));
        Command.Result result = Command.run(LIMIT, command);
        if (!result.ok()) {
            throw new SandboxException("keytool " + arguments[0] + " failed:\n" + result.tail(5));
        }
    }
}
