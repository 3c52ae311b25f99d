// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import io.quorate.core.LogPosition;
import io.quorate.core.answer.RecoveryAnswer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.util.Comparator;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code quorate recover}. */
@Command(
        name = "recover",
        description = "When a majority is lost for good: shows what would be lost with it, and goes on without it.",
        mixinStandardHelpOptions = true)
final class RecoverCommand implements Callable<Integer> {
    private static final String PATH = "/actuator/recovery";
    /** Compared as in votes: a later term counts more than a longer log. */
    private static final Comparator<LogPosition> BY_TERM_AND_INDEX =
            Comparator.comparingLong(LogPosition::term).thenComparingLong(LogPosition::index);

    @Spec
    private CommandSpec spec;

    @Mixin
    private NodeAddress node;

    @Option(
            names = "--force-primary",
            description = "makes this node go on alone, in a new life of the cluster; the others are shut out until"
                    + " they have taken over that life")
    private boolean force;

    @Option(names = "--yes", description = "doesn't ask")
    private boolean yes;

    @Override
    public Integer call() throws InterruptedException {
        PrintWriter out = spec.commandLine().getOut();
        AskedNode address = furthest();
        String body = address.ask(PATH);
        RecoveryAnswer answer = Answers.read(body, RecoveryAnswer.class);
        if (node.json()) {
            out.println(body);
        } else {
            print(out, answer);
        }
        if (!force) {
            return 0;
        }
        if (!yes && !isConfirmed(out, answer.cluster())) {
            out.println("nothing was changed");
            return 1;
        }
        address.post(PATH, Map.of("action", "force", "cluster", answer.cluster()));
        out.println("done; nodes that come back take over what this one holds, or say why they can't");
        if (!node.json()) {
            out.println(AskedMembers.sentenceOf(address));
        }
        return 0;
    }

    /** Of the nodes that answer, the one whose log goes furthest. */
    private AskedNode furthest() {
        Map<AskedNode, RecoveryAnswer> answers = node.answers(PATH, RecoveryAnswer.class);
        return answers.entrySet().stream()
                .max(Comparator.comparing(answer -> logEnd(answer.getValue()), BY_TERM_AND_INDEX))
                .orElseThrow()
                .getKey();
    }

    private static LogPosition logEnd(RecoveryAnswer answer) {
        String[] end = answer.logEnd().split(":", 2);
        return end.length < 2 ? LogPosition.START : new LogPosition(Long.parseLong(end[0]), Long.parseLong(end[1]));
    }

    private static void print(PrintWriter out, RecoveryAnswer r) {
        out.printf(
                "%s of cluster %s, in its life %s: %s%n",
                r.node(),
                r.cluster(),
                r.life(),
                r.majority() ? "there is a majority, nothing has to be forced" : "no majority");
        out.printf("It holds the order up to seqno %d%s. All of that stays.%n", r.ordered(), unconfirmed(r));
        r.missing().forEach(m -> out.printf("%s is missing%s%n", m.name(), heard(m)));
        r.present().forEach(name -> out.printf("%s is here%s%n", name, r.majority() ? "" : ", and joins by itself"));
        long beyond = r.furthestHeard() - r.ordered();
        if (beyond > 0) {
            out.printf("LOST at least: %d writesets that a missing node had and this one lacks.%n", beyond);
        }
        if (!r.majority()) {
            out.println("LOST besides: whatever the missing nodes ordered or committed after they were heard last."
                    + " That can't be"
                    + " told from here. If one of them can be started again, start it instead.");
        }
        out.flush();
    }

    private static String unconfirmed(RecoveryAnswer r) {
        if (r.unconfirmedEntries() == null || r.unconfirmedEntries() == 0) {
            return "";
        }
        return ", and " + r.unconfirmedEntries() + " entries after it that no majority has confirmed to it";
    }

    private static String heard(RecoveryAnswer.Missing m) {
        if (m.ordered() == null) {
            return ", and was not heard of since this node started";
        }
        return ": heard " + m.heardSecondsAgo() + " s ago, at seqno " + m.ordered();
    }

    private static boolean isConfirmed(PrintWriter out, String cluster) {
        out.printf("Type the cluster's name (%s) to go on without the missing nodes: ", cluster);
        out.flush();
        try {
            String answer = new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset())).readLine();
            return cluster.equals(answer == null ? null : answer.strip());
        } catch (IOException e) {
            return false;
        }
    }
}
