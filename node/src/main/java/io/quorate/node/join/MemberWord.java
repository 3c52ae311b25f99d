// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.join;

import io.quorate.node.member.Members;
import io.quorate.node.member.Membership;
import io.quorate.transport.AdmissionPlan;
import io.quorate.transport.Lives;
import io.quorate.transport.TransportSettings.Peer;
import java.util.Collection;
import java.util.List;

/** What a node's answer says about who is a member, in the form that {@link AdmissionPlan} needs. */
record MemberWord(Membership answer) implements AdmissionPlan.Word {
    static List<MemberWord> all(Collection<Membership> answers) {
        return answers.stream().map(MemberWord::new).toList();
    }

    @Override
    public String node() {
        return answer.node();
    }

    @Override
    public boolean knowsLeader() {
        return answer.leader() != null;
    }

    @Override
    public List<Peer> members() {
        return answer.members();
    }

    @Override
    public Lives lives() {
        return answer.lives();
    }

    @Override
    public int generationOf(String name) {
        return Members.generation(answer.directories(), name);
    }

    @Override
    public String directoryOf(Peer member) {
        return Members.directory(answer.directories(), member);
    }

    @Override
    public boolean hasServer() {
        return answer.report().mysql() != null;
    }

    @Override
    public AdmissionPlan.Holds holds() {
        return answer.holds();
    }
}
