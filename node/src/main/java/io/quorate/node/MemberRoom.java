// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.node.config.NodeProperties;
import io.quorate.node.join.Join;
import io.quorate.node.member.FlowControl;
import io.quorate.node.member.MemberDesk;
import io.quorate.node.member.Participation;
import io.quorate.node.member.Standing;
import io.quorate.node.thread.NodeLoop;
import java.io.IOException;

/** Where the node stands among the members, and how it becomes one of them. */
record MemberRoom(Standing standing, FlowControl flow, MemberDesk desk, Join join) {
    /** @param participation how the node takes part in the order; the joining decides that */
    static MemberRoom open(
            Base base, ServerRoom beside, NodeLoop loop, Participation participation, Told told, Opened opened)
            throws IOException {
        NodeProperties properties = base.properties();
        Home home = base.home();
        Network network = base.network();
        FlowControl flow = new FlowControl(properties, beside.server(), network.members()::present);
        Standing standing = new Standing(
                properties,
                home.directoryId(),
                home.stores(),
                base.stream(),
                base.counters().progress(),
                loop,
                base.order(),
                beside.server(),
                participation,
                network.members(),
                network.admitted(),
                network.configured()::lives,
                beside.copy()::notGiven,
                beside.copy()::mayKeep,
                beside.copy()::isPending,
                beside.runsEvents(),
                flow);
        base.stream().servers(network.members());
        MemberDesk desk = new MemberDesk(
                properties.node(),
                base.stream(),
                base.order(),
                standing::membership,
                standing::status,
                network.members(),
                network.questions(),
                network.channels());
        desk.register(network.answers());
        Join join = opened.add(new Join(
                properties,
                new Join.Own(
                        network.configured(),
                        home.directoryId(),
                        home.incarnation(),
                        home.stores(),
                        base.stream(),
                        base.order(),
                        participation),
                new Join.Others(
                        network.members(), network.admitted(), desk, network.questions(), network.channels(), standing),
                beside.server(),
                beside.copy(),
                base.counters().progress(),
                loop::state,
                base.counters().joins(),
                told.events(),
                told.faults()));
        return new MemberRoom(standing, flow, desk, join);
    }
}
