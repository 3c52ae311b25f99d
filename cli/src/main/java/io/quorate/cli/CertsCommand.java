// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code quorate certs}: the certificates by which nodes prove to one another who they are. */
@Command(
        name = "certs",
        description = "Makes the certificates by which a cluster's nodes know one another (quorate.tls.bundle).",
        subcommands = {
            CertsCommand.Init.class,
            CertsCommand.Issue.class,
            CertsCommand.Renew.class,
            CertsCommand.Show.class
        },
        mixinStandardHelpOptions = true)
final class CertsCommand {
    /** Where the authority is. */
    static final class Place {
        @Option(
                names = "--authority",
                paramLabel = "D",
                description = "directory of the authority; ./certs by default",
                defaultValue = "certs")
        private Path directory;

        Path directory() {
            if (directory.toString().isEmpty()) {
                throw new CommandException("--authority: the name of a directory");
            }
            return directory;
        }

        CertificateAuthority open() throws IOException {
            return CertificateAuthority.open(directory(), Clock.systemUTC());
        }
    }

    /** Makes an authority. */
    @Command(
            name = "init",
            description = "Makes the cluster's authority. Whoever has its key can make nodes of the cluster: keep it"
                    + " where no node is.",
            mixinStandardHelpOptions = true)
    static final class Init implements Callable<Integer> {
        @Spec
        private CommandSpec spec;

        @Mixin
        private Place place;

        @Option(names = "--cluster", paramLabel = "NAME", description = "quorate by default", defaultValue = "quorate")
        private String cluster;

        @Override
        public Integer call() {
            Path directory = place.directory();
            try {
                CertificateAuthority.create(directory, cluster, Clock.systemUTC());
            } catch (IOException e) {
                throw notMade("an authority in " + directory, e);
            }
            spec.commandLine().getOut().println("made " + directory.resolve(CertificateAuthority.AUTHORITY));
            return 0;
        }
    }

    /** With the file, and what is wrong with it. */
    private static UncheckedIOException notMade(String what, IOException e) {
        return new UncheckedIOException(what + " can't be made, because of a file or directory", e);
    }

    /** What is done for some nodes. */
    abstract static class OfNodes implements Callable<Integer> {
        @Spec
        private CommandSpec spec;

        @Mixin
        private Place place;

        @Option(
                names = "--days",
                paramLabel = "N",
                description = "how long it is valid; 365 by default",
                defaultValue = "365")
        private int days;

        @Parameters(paramLabel = "NODE", arity = "1..*", description = "the node's name, quorate.node")
        private List<String> nodes;

        abstract Path make(CertificateAuthority authority, String node, Duration validity) throws IOException;

        @Override
        public Integer call() {
            if (days < 1) {
                throw new CommandException("--days: 1 or more");
            }
            nodes.forEach(CertificateAuthority::requireName);
            List<String> left = new ArrayList<>(nodes);
            try {
                CertificateAuthority authority = place.open();
                for (String node : nodes) {
                    Path made = make(authority, node, Duration.ofDays(days)).resolve(CertificateAuthority.CERTIFICATE);
                    spec.commandLine()
                            .getOut()
                            .println("made " + made + ", valid until "
                                    + CertificateAuthority.read(made)
                                            .getNotAfter()
                                            .toInstant());
                    left.remove(node);
                }
            } catch (CommandException e) {
                throw left.size() < nodes.size()
                        ? new CommandException(e.getMessage() + ". Not done: " + String.join(", ", left))
                        : e;
            } catch (IOException e) {
                throw notMade("certificates of " + String.join(", ", left), e);
            }
            return 0;
        }
    }

    /** Makes keys and certificates. */
    @Command(
            name = "issue",
            description = "Makes a key and a certificate for each node, in a directory of its name that belongs on its"
                    + " host. A node that is no member yet also has to be admitted (quorate admit).",
            mixinStandardHelpOptions = true)
    static final class Issue extends OfNodes {
        @Override
        Path make(CertificateAuthority authority, String node, Duration validity) throws IOException {
            return authority.issue(node, validity);
        }
    }

    /** Makes certificates for the keys that there are. */
    @Command(
            name = "renew",
            description = "Makes a new certificate for the key that a node has. Copy node.crt to its host: the service"
                    + " takes it while it runs (reload-on-update).",
            mixinStandardHelpOptions = true)
    static final class Renew extends OfNodes {
        @Override
        Path make(CertificateAuthority authority, String node, Duration validity) throws IOException {
            return authority.renew(node, validity);
        }
    }

    /** Shows certificates. */
    @Command(
            name = "show",
            description = "Shows whose a certificate is and how long it is valid.",
            mixinStandardHelpOptions = true)
    static final class Show implements Callable<Integer> {
        private static final String FORMAT = "%-28s %-20s %-26s %-22s %s%n";

        @Spec
        private CommandSpec spec;

        @Parameters(
                paramLabel = "FILE",
                arity = "0..*",
                description = "certificates (PEM), or directories of them; ./certs by default")
        private List<Path> files = List.of(Path.of("certs"));

        @Override
        public Integer call() throws GeneralSecurityException {
            PrintWriter out = spec.commandLine().getOut();
            PrintWriter err = spec.commandLine().getErr();
            boolean all = true;
            out.printf(FORMAT, "file", "node", "by", "until", "SHA-256");
            for (Path file : files) {
                try {
                    for (Path each : certificates(file)) {
                        all &= print(out, err, each);
                    }
                } catch (IOException e) {
                    err.println("quorate: " + file + " can't be read: " + e.getMessage());
                    all = false;
                }
            }
            return all ? 0 : 1;
        }

        private static List<Path> certificates(Path file) throws IOException {
            if (!Files.isDirectory(file)) {
                return List.of(file);
            }
            try (Stream<Path> below = Files.walk(file, 2)) {
                return below.filter(path -> path.toString().endsWith(".crt"))
                        .sorted()
                        .toList();
            }
        }

        /** False when there is none in the file that can be shown. */
        private static boolean print(PrintWriter out, PrintWriter err, Path file)
                throws IOException, GeneralSecurityException {
            List<X509Certificate> all;
            try {
                all = CertificateAuthority.readAll(file);
            } catch (CommandException e) {
                err.println("quorate: " + e.getMessage());
                return false;
            }
            for (X509Certificate certificate : all) {
                byte[] digest = MessageDigest.getInstance("SHA-256").digest(certificate.getEncoded());
                out.printf(
                        FORMAT,
                        file,
                        certificate.getSubjectX500Principal().getName().replaceFirst("^CN=", ""),
                        certificate.getIssuerX500Principal().getName().replaceFirst("^CN=", ""),
                        certificate.getNotAfter().toInstant(),
                        HexFormat.of().formatHex(digest, 0, 8));
            }
            return true;
        }
    }
}
