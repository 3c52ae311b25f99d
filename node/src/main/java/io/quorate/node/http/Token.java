// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.http;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.node.config.NodeProperties;
import io.quorate.transport.DurableFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The token of this node: whoever knows it may do everything that can be done over HTTP. It is in a file, or in the
 * environment; without either, the node draws one at its first start and keeps it in its data directory. Only its
 * digest is kept in memory.
 */
public final class Token {
    /** In the data directory. */
    static final String FILE = "http.token";
    /** In the environment. */
    static final String VARIABLE = "QUORATE_TOKEN";

    static final int CHARACTERS_MIN = 16;

    private static final Logger log = LoggerFactory.getLogger(Token.class);
    /** As many bits as the digest has. */
    private static final int RANDOM_BYTES = 32;

    private static final int CHARACTERS_MAX = 1024;

    private final byte[] digest;

    private Token(String token, String from) {
        // As a password of HTTP basic it must survive every client, so no blanks and nothing but ASCII.
        if (!token.matches("[\\x21-\\x7e]{" + CHARACTERS_MIN + "," + CHARACTERS_MAX + "}")) {
            throw new QuorateException(
                    ErrorCode.CONFIGURATION,
                    from + " has no usable token: " + CHARACTERS_MIN + " to " + CHARACTERS_MAX
                            + " characters of ASCII without blanks are needed, as \"openssl rand -hex 32\" makes them");
        }
        this.digest = digest(token);
    }

    /**
     * The token of the node with this configuration. The data directory must be there, and this node's alone.
     *
     * @param environment of the process
     */
    public static Token of(NodeProperties properties, Map<String, String> environment) {
        Path named = properties.http().tokenFile();
        String given = environment.getOrDefault(VARIABLE, "").strip();
        if (named != null && !given.isEmpty()) {
            throw new QuorateException(
                    ErrorCode.CONFIGURATION,
                    "there are two tokens, in " + VARIABLE + " and in the file of quorate.http.token-file, " + named
                            + "; leave out one of them");
        }
        if (!given.isEmpty()) {
            return new Token(given, VARIABLE);
        }
        Path file = named != null ? named : properties.dataDir().resolve(FILE);
        try {
            if (named == null && !Files.exists(file)) {
                DurableFile.writePrivate(file, drawn() + "\n");
                log.info("the token for HTTP is in {}; whoever changes something over HTTP must know it", file);
            }
            warnIfOthersRead(file);
            // Whatever is no ASCII is refused as no token, not as something that can't be read.
            return new Token(Files.readString(file, StandardCharsets.ISO_8859_1).strip(), file.toString());
        } catch (IOException e) {
            throw new QuorateException(
                    ErrorCode.CONFIGURATION, "the token for HTTP in " + file + " can't be read: " + e, e);
        }
    }

    private static String drawn() {
        byte[] random = new byte[RANDOM_BYTES];
        new SecureRandom().nextBytes(random);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(random);
    }

    /** It isn't refused: secrets that an orchestrator mounts are readable for all in their container. */
    private static void warnIfOthersRead(Path file) throws IOException {
        if (!file.getFileSystem().supportedFileAttributeViews().contains("posix")) {
            return;
        }
        Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(file);
        if (permissions.contains(PosixFilePermission.OTHERS_READ)) {
            log.warn("everybody on this host can read the token for HTTP: chmod 600 {}", file);
        }
    }

    /** Whether that is it. How long this takes doesn't depend on how much of it is right. */
    boolean is(String said) {
        return MessageDigest.isEqual(digest, digest(said));
    }

    private static byte[] digest(String token) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
