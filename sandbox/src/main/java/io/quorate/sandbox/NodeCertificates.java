// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import io.quorate.cli.CertificateAuthority;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;

/** The certificates by which a sandbox's nodes know one another, in a directory beside theirs. */
final class NodeCertificates {
    private static final String DIRECTORY = "certs";
    private static final Duration VALID_FOR = Duration.ofDays(3650);

    private NodeCertificates() {}

    /** Makes those that there aren't yet. */
    static void make(Path sandbox, String cluster, List<String> nodes) {
        Path certs = sandbox.resolve(DIRECTORY);
        try {
            CertificateAuthority authority = CertificateAuthority.existsIn(certs)
                    ? CertificateAuthority.open(certs, Clock.systemUTC())
                    : CertificateAuthority.create(certs, cluster, Clock.systemUTC());
            for (String node : nodes) {
                if (!Files.exists(certs.resolve(node))) {
                    authority.issue(node, VALID_FOR);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write to " + certs, e);
        }
    }

    /** Where those of a node are. */
    static Path of(Path sandbox, String node) {
        return sandbox.resolve(DIRECTORY).resolve(node);
    }
}
