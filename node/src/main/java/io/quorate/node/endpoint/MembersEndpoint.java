// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.endpoint;

import io.quorate.core.FlowReport;
import io.quorate.core.QuorateException;
import io.quorate.core.answer.ClusterHealth;
import io.quorate.core.answer.MembersAnswer;
import io.quorate.core.answer.MixedVersions;
import io.quorate.core.answer.Outcome;
import io.quorate.core.answer.SameNumbers;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.join.Join;
import io.quorate.node.member.Admitted;
import io.quorate.node.member.MemberDesk;
import io.quorate.node.member.MemberQuestion;
import io.quorate.node.member.MemberReport;
import io.quorate.node.member.Members;
import io.quorate.node.member.Membership;
import io.quorate.node.member.Standing;
import io.quorate.node.order.CacheForecast;
import io.quorate.transport.TransportSettings.Peer;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.stereotype.Component;

/**
 * {@code /actuator/members}: who is a member, where each member is, and how far; a POST takes a member out or asks for
 * this node to become one. Also in JMX.
 */
@Component
@Endpoint(id = "members")
class MembersEndpoint {
    /** Time to make its first copy of everything. */
    private static final Duration ADMITTED_FOR = Duration.ofDays(2);

    /** Actions about another node than this one. */
    private static final Set<String> OF_A_MEMBER = Set.of("admit", "leave", "lead");

    private final Standing standing;
    private final Members members;
    private final Admitted admitted;
    private final CacheForecast forecast;
    private final Join join;
    private final MemberDesk desk;

    MembersEndpoint(
            Standing standing, Members members, Admitted admitted, CacheForecast forecast, Join join, MemberDesk desk) {
        this.standing = standing;
        this.members = members;
        this.admitted = admitted;
        this.forecast = forecast;
        this.join = join;
        this.desk = desk;
    }

    @ReadOperation
    MembersAnswer members() {
        Membership known = standing.membership();
        Map<String, Members.Heard> heard = members.all();
        List<MembersAnswer.Member> list = known.members().stream()
                .map(member -> member(member, known, heard.get(member.name())))
                .toList();
        List<String> others = heard.keySet().stream()
                .filter(name -> known.member(name) == null)
                .sorted()
                .toList();
        List<String> advice =
                new ArrayList<>(MixedVersions.advice(list, MembersAnswer.Member::name, MembersAnswer.Member::version));
        advice.addAll(SameNumbers.advice(autoIncrements(known, heard)));
        return new MembersAnswer(
                standing.isHeldByChange()
                        ? ClusterHealth.changing(list)
                        : ClusterHealth.of(known.node(), known.leader(), list, standing.cutOff()),
                known.node(),
                known.leader(),
                list,
                others,
                advice);
    }

    /** Of the members that are present, and have a server. */
    private static Map<String, String> autoIncrements(Membership known, Map<String, Members.Heard> heard) {
        Map<String, String> all = new TreeMap<>();
        for (Peer member : known.members()) {
            Members.Heard last = heard.get(member.name());
            MemberReport report = member.name().equals(known.node())
                    ? known.report()
                    : last == null || !last.isFresh() ? null : last.report();
            if (report != null && report.autoIncrement() != null) {
                all.put(member.name(), report.autoIncrement());
            }
        }
        return all;
    }

    /** @param last what was heard from the member last; null when nothing was */
    private MembersAnswer.Member member(Peer member, Membership known, Members.@Nullable Heard last) {
        boolean self = member.name().equals(known.node());
        boolean present = self || (last != null && last.isFresh());
        MemberReport said = self ? known.report() : last == null ? null : last.report();
        // How far it was, and what it waited for, is over; where it is found is not.
        MemberReport report = present ? said : null;
        Long absentSeconds = self || last == null ? null : Long.valueOf(present ? 0 : last.ageSeconds());
        FlowReport flow = report == null ? null : report.flow();
        return new MembersAnswer.Member(
                member.name(),
                member.host() + ":" + member.raftPort(),
                member.generation(),
                member.name().equals(known.leader()),
                report != null ? report.state() : MembersAnswer.Member.ABSENT,
                absentSeconds,
                forecast.returns().get(member.name()),
                report == null ? null : report.ordered(),
                report == null ? null : report.applied(),
                report == null ? null : report.orderedPerSecond(),
                report == null ? null : report.appliedPerSecond(),
                report == null ? null : report.queue(),
                report == null ? null : report.cause(),
                report == null ? null : report.waitingCommits(),
                report == null ? null : report.waitingMillis(),
                report == null ? null : report.runsEvents(),
                report != null && report.desynced(),
                report != null && Boolean.TRUE.equals(report.drained()),
                flow == null ? null : flow.lagMillis(),
                flow == null ? null : flow.slowedFor(),
                flow != null && flow.leftBehind(),
                said == null ? null : said.mysql(),
                said == null ? null : said.version(),
                said == null ? null : said.http());
    }

    /**
     * @param action {@code admit}: lets a node ask to be a member, once; {@code leave}: takes a member out; {@code
     *     lead}: has a member lead; {@code join}: this node asks to become a member again; {@code desync}: the others
     *     are not to wait for this node; {@code resync}: they may wait for it again
     * @param member for admit, leave and lead: name of the node
     * @param force for leave: also where nobody could write afterwards
     */
    @WriteOperation
    Outcome change(String action, @Nullable String member, @Nullable Boolean force) {
        if (member == null && OF_A_MEMBER.contains(action)) {
            return Outcome.of("which node? " + action + " wants its name, as member");
        }
        String refusal;
        try {
            refusal = switch (action) {
                case "join" -> {
                    join.join();
                    yield null;
                }
                case "admit" -> admit(member);
                case "leave" -> byLeader(new MemberQuestion.Leave(member, Boolean.TRUE.equals(force)));
                case "lead" -> byLeader(new MemberQuestion.Lead(member));
                case "desync", "resync" -> {
                    standing.desynced(action.equals("desync"));
                    yield null;
                }
                default -> "an action is admit, join, leave, lead, desync or resync, not " + action;
            };
        } catch (QuorateException e) {
            // Without the advice of its code, which is about configuration keys.
            refusal = e.detail();
        }
        return Outcome.of(refusal);
    }

    private @Nullable String admit(String node) {
        if (!NodeProperties.isName(node)) {
            return "a node's name has 1 to 63 letters, digits, dots, dashes and underscores";
        }
        try {
            admitted.admit(List.of(node), ADMITTED_FOR);
            return null;
        } catch (IOException e) {
            return e.getMessage();
        }
    }

    private String byLeader(MemberQuestion.Change change) {
        Membership known = standing.membership();
        if (known.member(change.name()) == null) {
            return change.name() + " is no member";
        }
        return desk.byLeader(change, known.members());
    }
}
