// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.core.NodeEvent;
import io.quorate.node.member.MemberReport;
import io.quorate.node.order.CacheForecast;
import io.quorate.node.server.ApplyProgress;
import io.quorate.node.thread.MonotonicClock;
import io.quorate.transport.RatisTotalOrder;
import java.util.function.Consumer;

/** What has to be done again and again. Each of its methods is always called on the same thread. */
final class Upkeep {
    private final Base base;
    private final ServerRoom beside;
    private final MemberRoom members;
    private final CacheForecast forecast;
    private final Consumer<NodeEvent> events;
    private boolean gave;

    Upkeep(Base base, ServerRoom beside, MemberRoom members, CacheForecast forecast, Consumer<NodeEvent> events) {
        this.base = base;
        this.beside = beside;
        this.members = members;
        this.forecast = forecast;
        this.events = events;
    }

    /** Returns how far the node is. On the loop, so it waits for nothing. */
    NodeEvent.Progress look() {
        ApplyProgress progress = base.counters().progress();
        if (!beside.server().exists()) {
            progress.startFrom(base.stream().lastOrdered());
        }
        return new NodeEvent.Progress(
                members.standing().leaderOrdered(), progress.lastApplied(), MonotonicClock.millis());
    }

    /** Called with every report to the others. */
    void eachReport(MemberReport report) {
        members.flow().look(report);
        members.join().tell();
        Network network = base.network();
        RatisTotalOrder part = base.order().running();
        if (part != null) {
            part.members().forEach(m -> network.members().generation(m.name(), m.generation()));
        }
        network.members().keep();
        forecast.look(MonotonicClock.millis(), members.standing().absent());
        base.home().rights().look(MonotonicClock.millis());
        boolean gives = !network.donor().running().isEmpty();
        if (gives != gave) {
            gave = gives;
            events.accept(new NodeEvent.Donating(gives));
        }
    }
}
