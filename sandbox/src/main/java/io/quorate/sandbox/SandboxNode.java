// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import io.quorate.cli.AskedNode;
import io.quorate.cli.CommandException;
import io.quorate.cli.Draining;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/** One node of a local cluster: a mysqld and the service beside it; an arbitrator has no mysqld. */
public final class SandboxNode {
    private static final Duration DRAIN_LIMIT = Duration.ofSeconds(10);

    private final MySqlSeries beside;
    private final int number;
    private final NodePorts ports;
    private final Place place;
    private final MySqlServer mysql;
    private final NodeService service;
    private final boolean arbitrator;
    private final Path directory;

    SandboxNode(SandboxSettings settings, int number, Path directory) {
        this.number = number;
        this.beside = settings.mysql();
        this.directory = directory;
        this.ports = NodePorts.of(settings.basePort(), number);
        this.place = settings.place(number);
        this.arbitrator = settings.arbitrators().contains(number);
        this.service = new NodeService(settings, number, directory);
        this.mysql = MySqlServer.builder()
                .series(settings.mysql().of(number))
                .directory(directory)
                .detached(true)
                .port(ports.mysql())
                .place(place)
                .serverId(number)
                .options(options(settings, number))
                .build();
    }

    private static Map<String, String> options(SandboxSettings settings, int number) {
        Map<String, String> options = new LinkedHashMap<>();
        // For all nodes that may ever be added: a later change would need a restart of every server.
        options.put("auto-increment-increment", Integer.toString(SandboxSettings.NODES_MAX));
        options.put("auto-increment-offset", Integer.toString(number));
        // The service opens the server for writes when its node is SYNCED.
        options.put("read-only", "ON");
        // Rights on all schemas except some: see Accounts.
        options.put("partial-revokes", "ON");
        // So that `app` may create triggers and functions although there is a binlog.
        options.put("log-bin-trust-function-creators", "ON");
        settings.ofKind("mysql.").forEach((name, value) -> options.put(name.replace('_', '-'), value));
        return options;
    }

    /** {@code n1}, {@code n2} and so on. */
    public String name() {
        return NodeConfiguration.name(number);
    }

    /** From 1. */
    public int number() {
        return number;
    }

    public NodePorts ports() {
        return ports;
    }

    /** The address at which its ports are. */
    public String host() {
        return place.host();
    }

    /** Its service, with the token that is in its directory. */
    public AskedNode asked() {
        return AskedNode.local(place.host() + ":" + ports.http(), service.tokenFile());
    }

    /** Whether it has a mysqld. */
    public boolean hasServer() {
        return !arbitrator;
    }

    boolean isServerDown() {
        return hasServer() && !mysql.isAlive();
    }

    /** The server, which is never started for an arbitrator. */
    public MySqlServer mysql() {
        return mysql;
    }

    NodeService service() {
        return service;
    }

    public boolean isServiceAlive() {
        return service.isAlive();
    }

    /** The log of the service. */
    public Path serviceLog() {
        return service.log();
    }

    /** The service's process id while it runs. */
    public OptionalLong servicePid() {
        return service.process().stream().mapToLong(OwnedProcess::pid).findFirst();
    }

    /** What the service says about itself; empty when it doesn't answer. */
    public Optional<NodeReport> report() {
        return service.isAlive() ? NodeReport.ask(asked()) : Optional.empty();
    }

    /** Empties its server of clients if its service runs. If that can't do it, the server is stopped all the same. */
    void drain() {
        if (hasServer() && service.isAlive()) {
            try {
                Draining.drain(asked(), DRAIN_LIMIT, true);
            } catch (CommandException | UncheckedIOException e) {
                // It doesn't answer, or the order doesn't: it can't do anything for its clients.
            }
        }
    }

    /** Deletes all that its server and its service hold. Neither runs. */
    void deleteData() {
        try {
            CacheDirectory.deleteTree(mysql.dataDirectory());
            CacheDirectory.deleteTree(service.dataDirectory());
        } catch (IOException e) {
            throw new UncheckedIOException("cannot delete the data of " + name(), e);
        }
    }

    /** Starts the server, with its accounts; the service comes after it. */
    void startMySql() {
        if (hasServer()) {
            mysql.start();
            Accounts.create(mysql, beside);
            mysql.writeStartScript(directory.resolve(NodeConfiguration.START_SCRIPT));
        }
    }
}
