// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import io.quorate.cli.CertificateAuthority;
import java.nio.file.Path;
import java.util.Map;
import tools.jackson.databind.json.JsonMapper;

/** Writes one node's {@code application.yaml}, as docs/configuration.md describes it. */
final class NodeConfiguration {
    /**
     * The sandbox's services run without the JVM's second compiler, which alone makes AES fast: at most 42 MB/s, and
     * 176 MB/s with ChaCha20.
     */
    private static final String CIPHERS = "[TLS_CHACHA20_POLY1305_SHA256, TLS_AES_128_GCM_SHA256]";

    /** Java options of the services, rather than a key of their configuration. */
    static final String JVM = "quorate.jvm";

    /** In the node's directory; the service starts mysqld with it after a full copy. */
    static final String START_SCRIPT = "start-mysqld";

    private static final JsonMapper JSON = new JsonMapper();

    private NodeConfiguration() {}

    /**
     * @param node from 1
     * @param sandbox the directory of all nodes
     * @param data where the service keeps its files
     */
    static String yaml(SandboxSettings settings, int node, Path sandbox, Path data) {
        NodePorts own = NodePorts.of(settings.basePort(), node);
        StringBuilder yaml = new StringBuilder(1000);
        yaml.append("server:\n  address: ")
                .append(settings.place(node).host())
                .append("\n  port: ")
                .append(own.http())
                .append('\n');
        appendCertificates(yaml, NodeCertificates.of(sandbox, name(node)));
        yaml.append("quorate:\n  cluster: ").append(quoted(settings.cluster())).append('\n');
        yaml.append("  node: ").append(name(node)).append('\n');
        yaml.append("  data-dir: ").append(quoted(data.toString())).append('\n');
        yaml.append("  http:\n    probe-port: ").append(own.probe()).append('\n');
        boolean arbitrator = settings.arbitrators().contains(node);
        if (arbitrator) {
            yaml.append("  arbitrator: true\n");
        } else {
            yaml.append("  mysql:\n    host: 127.0.0.1\n    port: ")
                    .append(own.mysql())
                    .append('\n');
            yaml.append("    user: ").append(Accounts.SERVICE_USER).append('\n');
            yaml.append("    password: ").append(Accounts.SERVICE_PASSWORD).append('\n');
            yaml.append("    start-command: ")
                    .append(quoted("sh '"
                            + data.resolveSibling(START_SCRIPT).toString().replace("'", "'\\''") + "'"))
                    .append('\n');
        }
        yaml.append("  tls:\n    bundle: nodes\n");
        yaml.append("  peers:\n");
        for (int i : settings.numbers()) {
            NodePorts peer = NodePorts.of(settings.basePort(), i);
            String host = settings.place(i).host();
            yaml.append(String.format(
                    "    - {name: %s, host: %s, raft-port: %d, channel-port: %d, http: \"%s:%d\"}%n",
                    name(i), host, peer.raft(), peer.channel(), host, peer.http()));
        }
        appendSet(yaml, settings, arbitrator);
        return yaml.toString();
    }

    private static void appendCertificates(StringBuilder yaml, Path own) {
        yaml.append("spring:\n  ssl:\n    bundle:\n      pem:\n        nodes:\n          reload-on-update: true\n");
        yaml.append("          options:\n            ciphers: ").append(CIPHERS).append('\n');
        yaml.append("          keystore:\n            certificate: ")
                .append(file(own, CertificateAuthority.CERTIFICATE))
                .append("\n            private-key: ")
                .append(file(own, CertificateAuthority.KEY))
                .append("\n          truststore:\n            certificate: ")
                .append(file(own, CertificateAuthority.AUTHORITY))
                .append('\n');
    }

    private static String file(Path directory, String name) {
        return quoted("file:" + directory.resolve(name));
    }

    /** A second YAML document, so that its flat keys replace those of the first one. */
    private static void appendSet(StringBuilder yaml, SandboxSettings settings, boolean arbitrator) {
        StringBuilder more = new StringBuilder();
        for (Map.Entry<String, String> entry : settings.set().entrySet()) {
            String key = entry.getKey();
            boolean ofServer = key.startsWith("mysql.") || (arbitrator && key.startsWith("quorate.mysql."));
            if (!ofServer && !key.equals(JVM)) {
                more.append(quoted(key))
                        .append(": ")
                        .append(quoted(entry.getValue()))
                        .append('\n');
            }
        }
        if (!more.isEmpty()) {
            yaml.append("---\n").append(more);
        }
    }

    static String name(int node) {
        return "n" + node;
    }

    /** A JSON string is a double-quoted YAML scalar. */
    private static String quoted(String value) {
        return JSON.writeValueAsString(value);
    }
}
