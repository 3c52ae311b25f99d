// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import io.quorate.core.answer.ClusterHealth;
import io.quorate.core.answer.MembersAnswer;
import java.io.UncheckedIOException;

/**
 * What the first node that answers says of the members.
 *
 * @param node that answered
 * @param body as it came
 */
record AskedMembers(AskedNode node, String body, MembersAnswer answer) {
    /** @throws CommandException why the first of the nodes doesn't answer, when none does */
    static AskedMembers of(NodeAddress nodes) {
        String refusal = null;
        for (AskedNode node : nodes.all()) {
            try {
                String body = node.ask(Membership.PATH);
                return new AskedMembers(node, body, Answers.read(body, MembersAnswer.class));
            } catch (UncheckedIOException | CommandException e) {
                refusal = refusal == null ? e.getMessage() : refusal;
            }
        }
        throw new CommandException(refusal);
    }

    ClusterHealth health() {
        return answer.health() == null
                ? ClusterHealth.of(answer.node(), answer.leader(), answer.members())
                : answer.health();
    }
}
