// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import java.io.PrintWriter;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code quorate top}: the page's curves in a terminal. */
@Command(
        name = "top",
        description = {
            "Draws how much is ordered and applied, and how far each member is behind, second after second, until"
                    + " Ctrl-C. Any node can be asked.",
            "Exit status: as with \"status\", of the last look."
        },
        mixinStandardHelpOptions = true)
final class TopCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Mixin
    private NodeAddress nodes;

    @Option(
            names = "--every",
            defaultValue = "1",
            paramLabel = "SECONDS",
            description = "looks that often; 1 by default")
    private int every;

    @Option(names = "--count", paramLabel = "N", description = "looks N times")
    private int count = Integer.MAX_VALUE;

    private final Curves curves = Curves.forTerminal();

    @Override
    public Integer call() throws InterruptedException {
        if (every < 1 || count < 1) {
            throw new ParameterException(spec.commandLine(), "--every and --count: 1 or more");
        }
        PrintWriter out = spec.commandLine().getOut();
        int status = look();
        for (int looks = 1; looks < count && !Terminal.isGone(out); looks++) {
            TimeUnit.SECONDS.sleep(every);
            status = look();
        }
        return status;
    }

    private int look() {
        PrintWriter out = spec.commandLine().getOut();
        String before = Ansi.AUTO.enabled() ? StatusCommand.TO_TOP_AND_CLEAR : "";
        try {
            return AskedMembers.show(nodes, out, before, asked -> {
                curves.add(asked.answer());
                curves.print(out);
            });
        } catch (CommandException e) {
            spec.commandLine().getErr().println("quorate: " + e.getMessage());
            return StatusCommand.NO_ANSWER;
        }
    }
}
