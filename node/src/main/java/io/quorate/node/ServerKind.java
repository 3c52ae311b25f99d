// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.core.NodeMachine;
import io.quorate.node.audit.AuditSource;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.conflict.Explainer;
import io.quorate.node.conflict.ServerKeyExplainer;
import io.quorate.node.copy.Copying;
import io.quorate.node.copy.GivenCopies;
import io.quorate.node.definition.Asking;
import io.quorate.node.definition.Definitions;
import io.quorate.node.definition.Fences;
import io.quorate.node.scheduler.EventScheduler;
import io.quorate.node.server.LinkSignals;
import io.quorate.node.server.NodeIdentity;
import io.quorate.node.server.Server;
import io.quorate.node.server.ServerAccess;
import io.quorate.node.server.ServerLink;
import io.quorate.node.server.ServerSession;
import io.quorate.node.server.ServerTlsFiles;
import io.quorate.node.server.UnsafeTables;
import io.quorate.transport.TransportSettings;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.springframework.boot.ssl.SslBundles;

/** A node beside a MySQL server. */
final class ServerKind implements NodeKind {
    private final NodeProperties properties;
    private final ServerAccess access;

    private ServerKind(NodeProperties properties, ServerAccess access) {
        this.properties = properties;
        this.access = access;
    }

    static ServerKind of(NodeProperties properties, SslBundles bundles, Opened opened) {
        ServerAccess access = opened.add(new ServerAccess(properties, ServerTlsFiles.of(properties, bundles)));
        ServerLink.checkNow(access, properties.sst());
        return new ServerKind(properties, access);
    }

    @Override
    public NodeMachine machine() {
        return new NodeMachine(
                properties.apply().syncedLagMax(),
                properties.order().silenceMax().toMillis());
    }

    @Override
    public Explainer explainer(Supplier<UUID> self, Opened opened) {
        return opened.add(new ServerKeyExplainer(access, self));
    }

    @Override
    public ServerRoom open(Base base, BooleanSupplier synced, Told told, Opened opened) {
        LinkSignals signals = new LinkSignals();
        ServerSession.Ports ports = ports(base, told);
        Supplier<ServerSession> sessions = () -> new ServerSession(ports, access, signals);
        Copying copy = new Copying(
                new Copying.Ports(
                        properties,
                        ports.incarnation(),
                        ports.cache(),
                        base.stream(),
                        base.order(),
                        base.counters().joins()),
                sessions,
                access,
                signals,
                new Copying.Donors(
                        base.network().members()::present,
                        base.network().questions(),
                        base.network().json()),
                told.copying());
        ServerLink link =
                opened.add(new ServerLink(properties, access, sessions, signals, copy, told.events(), told.faults()));
        EventScheduler scheduler = opened.add(new EventScheduler(
                properties.node(),
                access,
                () -> copy.isPending() || NodeIdentity.isKnown(properties),
                synced,
                base.network().members()::present,
                told.faults()));
        return new ServerRoom(link, copy, answer(base, synced, link, copy), scheduler::isOn);
    }

    private ServerSession.Ports ports(Base base, Told told) {
        return new ServerSession.Ports(
                properties,
                base.home().incarnation().toString(),
                base.home().stores().cache(),
                base.stream(),
                base.order(),
                base.counters().progress(),
                base.counters().keyless(),
                new UnsafeTables(),
                base.counters().refusals(),
                base.counters().acks(),
                base.traces(),
                System.nanoTime(),
                told.events(),
                told.faults());
    }

    @Override
    public Definitions openDefinitions(
            Base base, ServerRoom beside, MemberRoom members, BooleanSupplier synced, Told told, Opened opened) {
        Network network = base.network();
        Fences fences = opened.add(new Fences(
                new Fences.Ports(
                        access,
                        beside.server(),
                        base.stream(),
                        base.order(),
                        base.counters().progress(),
                        base.counters().refusals(),
                        synced),
                properties.ddl().fenceMax(),
                told.faults()));
        fences.register(network.answers());
        Asking asking = new Asking(
                properties.node(),
                () -> members.standing().members().stream()
                        .map(TransportSettings.Peer::name)
                        .toList(),
                members.standing()::report,
                network.members(),
                network.questions(),
                properties.ddl().fenceMax());
        return opened.add(new Definitions(
                new Definitions.Ports(
                        properties.node(),
                        access,
                        base.stream(),
                        base.home().stores().cache(),
                        base.order(),
                        asking,
                        synced),
                told.faults()));
    }

    /** Registers the answers to what other nodes ask about the server: full copies, audits and repairs. */
    private GivenCopies answer(Base base, BooleanSupplier synced, Server server, Copying copy) {
        Network network = base.network();
        GivenCopies given = GivenCopies.open(
                properties,
                access,
                server::session,
                base.stream(),
                base.counters().progress(),
                synced,
                copy,
                network.answers());
        new AuditSource(
                        properties,
                        access,
                        server::session,
                        base.stream(),
                        base.counters().progress(),
                        synced,
                        network.questions(),
                        network.json())
                .register(network.answers());
        return given;
    }
}
