// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code quorate completion}: what a shell needs to complete commands and options. */
@Command(
        name = "completion",
        description = {
            "Prints a script that has bash or zsh complete the commands and their options:",
            "  source <(quorate completion)"
        },
        mixinStandardHelpOptions = true)
final class CompletionCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        String name = spec.root().name();
        spec.commandLine().getOut().print(AutoComplete.bash(name, spec.root().commandLine()));
        spec.commandLine().getOut().flush();
        return 0;
    }
}
