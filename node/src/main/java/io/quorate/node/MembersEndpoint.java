// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.core.QuorateException;
import io.quorate.transport.TransportSettings.Peer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.stereotype.Component;

/** {@code /actuator/members}: who is a member, where, and how far; a POST takes one out or asks to be one. Also in JMX. */
@Component
@Endpoint(id = "members")
class MembersEndpoint {
    private final Node node;

    MembersEndpoint(Node node) {
        this.node = node;
    }

    @ReadOperation
    Map<String, Object> members() {
        MemberRequest.Answer known = node.membership();
        Map<String, Members.Heard> heard = node.members().all();
        List<Map<String, Object>> list = new ArrayList<>();
        for (Peer member : known.members()) {
            boolean self = member.name().equals(known.node());
            Members.Heard last = heard.get(member.name());
            MemberReport report = self ? known.report() : last == null ? null : last.report();
            Map<String, Object> line = new LinkedHashMap<>();
            line.put("name", member.name());
            line.put("address", member.host() + ":" + member.raftPort());
            line.put("generation", member.generation());
            line.put("leader", member.name().equals(known.leader()));
            line.put("state", self || (last != null && last.isFresh()) ? report.state() : "ABSENT");
            line.put("absentSeconds", self || last == null ? null : last.isFresh() ? 0 : last.ageSeconds());
            line.put("canReturnForSeconds", node.forecast().returns().get(member.name()));
            line.put("ordered", report == null ? null : report.ordered());
            line.put("applied", report == null ? null : report.applied());
            line.put("orderedPerSecond", report == null ? null : report.orderedPerSecond());
            line.put("appliedPerSecond", report == null ? null : report.appliedPerSecond());
            line.put("queue", report == null ? null : report.queue());
            line.put("cause", report == null ? null : report.cause());
            line.put("desynced", report != null && report.desynced());
            line.put("mysql", report == null ? null : report.mysql());
            line.put("http", report == null ? null : report.http());
            list.add(line);
        }
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("node", known.node());
        answer.put("leader", known.leader());
        answer.put("members", list);
        answer.put(
                "others",
                new TreeSet<>(heard.keySet().stream()
                        .filter(name -> known.member(name) == null)
                        .toList()));
        return answer;
    }

    /**
     * @param action {@code leave}: takes a member out; {@code join}: this node asks to be one again; {@code desync}:
     *     nobody is to wait for this node, {@code resync}: they may again
     * @param member whom, of leave
     */
    @WriteOperation
    Map<String, Object> change(String action, @org.jspecify.annotations.Nullable String member) {
        String refusal;
        try {
            refusal = switch (action) {
                case "join" -> {
                    node.admission().join();
                    yield null;
                }
                case "leave" -> leave(String.valueOf(member));
                case "desync", "resync" -> {
                    node.desynced(action.equals("desync"));
                    yield null;
                }
                default -> "an action is join, leave, desync or resync, not " + action;
            };
        } catch (QuorateException e) {
            refusal = e.getMessage();
        }
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("done", refusal == null);
        answer.put("refusal", refusal);
        return answer;
    }

    private String leave(String member) {
        MemberRequest.Answer known = node.membership();
        if (known.member(member) == null) {
            return member + " is no member";
        }
        MemberRequest request = new MemberRequest(MemberRequest.What.LEAVE, new Peer(member, "-", 0, 0), null);
        return node.desk().byLeader(request, known.members());
    }
}
