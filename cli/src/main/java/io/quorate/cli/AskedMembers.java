// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import io.quorate.core.answer.ClusterHealth;
import io.quorate.core.answer.MembersAnswer;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * What a node says of the members: the first one that knows who leads, since one without a majority knows only of
 * itself, and otherwise the first that answers.
 *
 * @param node that answered
 * @param body as it came
 */
record AskedMembers(AskedNode node, String body, MembersAnswer answer) {
    private static final int LOOKS = 40;
    private static final int LOOK_MILLIS = 250;

    /** @throws CommandException why the first of the nodes doesn't answer, when none does */
    static AskedMembers of(NodeAddress nodes) {
        String refusal = null;
        AskedMembers alone = null;
        for (AskedNode node : nodes.all()) {
            try {
                AskedMembers asked = of(node);
                if (asked.answer.leader() != null) {
                    return asked;
                }
                alone = alone == null ? asked : alone;
            } catch (UncheckedIOException | CommandException e) {
                refusal = refusal == null ? e.getMessage() : refusal;
            }
        }
        if (alone == null) {
            throw new CommandException(refusal);
        }
        return alone;
    }

    /**
     * Asks, and prints the sentence that matters with what belongs to it, or the answer as it came for those who want
     * JSON.
     *
     * @param before printed before that
     * @param rest prints what comes after the sentence
     * @return the command's exit status
     * @throws CommandException as {@link #of}
     */
    static int show(NodeAddress nodes, PrintWriter out, String before, Consumer<AskedMembers> rest) {
        AskedMembers asked = of(nodes);
        out.print(before);
        if (nodes.json()) {
            out.println(asked.body);
        } else {
            out.println(asked.sentence());
            out.println();
            rest.accept(asked);
        }
        out.flush();
        return asked.health().level().ordinal();
    }

    /** How the cluster stands, as that node sees it, once it has made up its mind after a change. */
    static String sentenceOf(AskedNode node) throws InterruptedException {
        AskedMembers asked = of(node);
        for (int look = 0; asked.answer.leader() == null && look < LOOKS; look++) {
            TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
            asked = of(node);
        }
        return asked.sentence();
    }

    private static AskedMembers of(AskedNode node) {
        String body = node.askState(Membership.PATH);
        return new AskedMembers(node, body, Answers.read(body, MembersAnswer.class));
    }

    /** How the cluster stands. */
    String sentence() {
        return health().sentence();
    }

    private ClusterHealth health() {
        return answer.health() == null
                ? ClusterHealth.of(answer.node(), answer.leader(), answer.members())
                : answer.health();
    }
}
