// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import io.quorate.core.answer.ClusterAnswer;
import io.quorate.core.answer.NodeStatus;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code quorate status}: the sentence that matters, then the members. */
@Command(
        name = "status",
        description = {
            "Says in a sentence how the cluster stands, and then who its members are and what each waits for. Any node"
                    + " can be asked.",
            "Exit status 0: all is well; 1: clients can write, and something is missing or behind; 2: clients can't"
                    + " write; 3: no node answers."
        },
        mixinStandardHelpOptions = true)
final class StatusCommand implements Callable<Integer> {
    static final int NO_ANSWER = 3;
    static final String TO_TOP_AND_CLEAR = "\u001b[H\u001b[2J";

    @Spec
    private CommandSpec spec;

    @Mixin
    private NodeAddress nodes;

    @Option(
            names = "--watch",
            arity = "0..1",
            fallbackValue = "2",
            defaultValue = "0",
            paramLabel = "SECONDS",
            description = "looks again and again, every two seconds or as often as is said")
    private int watch;

    @Option(names = "--count", paramLabel = "N", description = "with --watch: looks N times")
    private int count = Integer.MAX_VALUE;

    @Override
    public Integer call() throws InterruptedException {
        if (watch < 0 || count < 1) {
            throw new ParameterException(spec.commandLine(), "--watch and --count: 1 or more");
        }
        boolean onTerminal = watch > 0 && Ansi.AUTO.enabled();
        PrintWriter out = spec.commandLine().getOut();
        int status = look(onTerminal);
        for (int looks = 1; watch > 0 && looks < count && !Terminal.isGone(out); looks++) {
            TimeUnit.SECONDS.sleep(watch);
            status = look(onTerminal);
        }
        return status;
    }

    private int look(boolean onTerminal) {
        PrintWriter out = spec.commandLine().getOut();
        String before = onTerminal ? TO_TOP_AND_CLEAR : "";
        try {
            return AskedMembers.show(nodes, out, before, asked -> {
                MembersTable.print(out, asked.answer());
                printReasons(out, asked.node());
            });
        } catch (CommandException e) {
            out.print(before);
            out.flush();
            spec.commandLine().getErr().println("quorate: " + e.getMessage());
            return NO_ANSWER;
        }
    }

    /** Why those that aren't SYNCED aren't; each says so itself. */
    private static void printReasons(PrintWriter out, AskedNode node) {
        ClusterAnswer answer;
        try {
            answer = Answers.read(node.askState("/actuator/cluster"), ClusterAnswer.class);
        } catch (UncheckedIOException | CommandException e) {
            return; // The table says what matters.
        }
        for (NodeStatus each : answer.nodes()) {
            String why = each.reason().isEmpty() ? each.slowed() : each.reason();
            if (!why.isEmpty() && !each.state().equals(NodeStatus.UNREACHABLE)) {
                out.println(each.name() + ": " + why);
            }
        }
    }
}
