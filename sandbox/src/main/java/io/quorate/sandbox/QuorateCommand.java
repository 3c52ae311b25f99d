// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import io.quorate.cli.CommandException;
import io.quorate.cli.OperatorCommands;
import java.io.UncheckedIOException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The {@code quorate} command: the commands of this module and the operators' commands. Exit codes: 0 done, 1 failed
 * (the reason is on standard error), 2 wrong usage.
 */
@Command(
        name = "quorate",
        description = "Multi-writer replication for unmodified MySQL servers.",
        mixinStandardHelpOptions = true,
        versionProvider = QuorateCommand.Version.class,
        subcommands = {DemoCommand.class, SandboxCommand.class, SuiteCommand.class},
        footer = {
            "",
            "From the source tree also: quorate simulate [--seeds N] [--from S]",
            "  runs the cluster simulation, a failure is printed with its seed and a short history"
        })
public final class QuorateCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    private QuorateCommand() {}

    /** The version of the jar. */
    static final class Version implements CommandLine.IVersionProvider {
        @Override
        public String[] getVersion() {
            String version = QuorateCommand.class.getPackage().getImplementationVersion();
            return new String[] {"quorate " + (version == null ? "(not from a jar)" : version)};
        }
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "which command?");
    }

    public static void main(String[] arguments) {
        System.exit(commandLine().execute(arguments));
    }

    static CommandLine commandLine() {
        return OperatorCommands.added(new QuorateCommand(), new RunningSandbox())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExecutionExceptionHandler((failure, command, parsed) -> failed(failure, command));
    }

    /** A failure that a user can act upon is one message; anything else is a bug, and its trace belongs in a report. */
    private static int failed(Exception failure, CommandLine command) {
        boolean expected = failure instanceof CommandException || failure instanceof UncheckedIOException;
        if (expected && System.getenv("QUORATE_DEBUG") == null) {
            command.getErr().println("quorate: " + failure.getMessage());
            if (failure.getCause() != null) {
                command.getErr().println("  caused by: " + failure.getCause());
            }
            for (Throwable other : failure.getSuppressed()) {
                command.getErr().println("quorate: " + other.getMessage());
            }
        } else {
            failure.printStackTrace(command.getErr());
        }
        boolean usage = failure instanceof CommandException known && known.isUsage();
        return usage ? CommandLine.ExitCode.USAGE : CommandLine.ExitCode.SOFTWARE;
    }
}
