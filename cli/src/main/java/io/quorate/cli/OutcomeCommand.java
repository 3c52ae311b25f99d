// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import io.quorate.core.answer.OutcomeAnswer;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code quorate outcome}: what became of a transaction. */
@Command(
        name = "outcome",
        description = {
            "What became of a transaction whose client lost the connection before the answer. Any node can be asked;"
                    + " the log of the transaction's own node names the GTID.",
            "Exit status 0: ordered, it stays; 1: undone; 2: not known yet."
        },
        mixinStandardHelpOptions = true)
final class OutcomeCommand implements Callable<Integer> {
    private static final Pattern GTID =
            Pattern.compile("\\p{XDigit}{8}(-\\p{XDigit}{4}){3}-\\p{XDigit}{12}:[0-9]{1,19}");

    @Spec
    private CommandSpec spec;

    @Mixin
    private NodeAddress nodes;

    @Parameters(paramLabel = "GTID", description = "SERVER-UUID:NUMBER")
    private String gtid;

    @Override
    public Integer call() {
        if (!GTID.matcher(gtid.strip()).matches()) {
            boolean tagged = gtid.strip().matches("[\\p{XDigit}-]{36}:[a-zA-Z_]\\w*:[0-9]+");
            throw new ParameterException(
                    spec.commandLine(),
                    tagged
                            ? gtid + " is a tagged GTID, which is never ordered (QRT-2012 in docs/errors.md)"
                            : gtid + " is no GTID: SERVER-UUID:NUMBER");
        }
        String text = nodes.first().ask("/actuator/outcome/" + gtid.strip());
        OutcomeAnswer answer = Answers.read(text, OutcomeAnswer.class);
        spec.commandLine().getOut().println(nodes.json() ? text : answer.outcome() + ": " + answer.says());
        return answer.outcome().ordinal();
    }
}
