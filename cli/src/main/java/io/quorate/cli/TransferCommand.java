// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import io.quorate.core.answer.TransferAnswer;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code quorate transfer}: what nodes receive from one another in order to come back. */
@Command(
        name = "transfer",
        description = "Shows what nodes receive from one another to come back: how much is done, how fast, how long"
                + " it will take. Also pauses and limits full copies.",
        mixinStandardHelpOptions = true)
final class TransferCommand implements Runnable {
    private static final String PATH = "/actuator/transfer";

    @Spec
    private CommandSpec spec;

    @Mixin
    private NodeAddress nodes;

    @Override
    public void run() {
        show();
    }

    @Command(
            description = "Shows the transfers of the node named, or of all running nodes of the sandbox.",
            mixinStandardHelpOptions = true)
    int show() {
        PrintWriter out = spec.commandLine().getOut();
        int code = 0;
        for (AskedNode host : nodes.all()) {
            try {
                String body = host.askState(PATH);
                if (nodes.json()) {
                    out.println(body);
                } else {
                    print(out, Answers.read(body, TransferAnswer.class));
                }
            } catch (UncheckedIOException | CommandException e) {
                out.flush();
                spec.commandLine().getErr().println("quorate: " + e.getMessage());
                code = 1;
            }
        }
        return code;
    }

    @Command(
            description = "Pauses a full copy by stream, once the pieces in flight are here.",
            mixinStandardHelpOptions = true)
    int pause() {
        return change(Map.of("action", "pause"), "pauses once the pieces in flight are here; quorate transfer resume");
    }

    @Command(description = "Lets it go on.", mixinStandardHelpOptions = true)
    int resume() {
        return change(Map.of("action", "resume"), "goes on");
    }

    @Command(description = "Limits a full copy, until the service ends.", mixinStandardHelpOptions = true)
    int throttle(
            @Parameters(paramLabel = "BYTES", description = "bytes of rows per second; 0 for no limit")
                    long bytesPerSecond) {
        return change(
                Map.of("action", "throttle", "bytesPerSecond", Long.toString(bytesPerSecond)),
                bytesPerSecond == 0 ? "has no limit any more" : "gets " + bytesPerSecond + " bytes a second at most");
    }

    @Command(
            description = "Gives up a full copy that isn't necessary, as long as the server has its own data.",
            mixinStandardHelpOptions = true)
    int cancel() {
        return change(Map.of("action", "cancel"), "is given up");
    }

    /** Changes the copy of the node named, or of the only one that receives one. */
    private int change(Map<String, String> what, String done) {
        for (Map.Entry<AskedNode, TransferAnswer> each :
                nodes.answers(PATH, TransferAnswer.class).entrySet()) {
            if (each.getValue().copying() != null) {
                String body = each.getKey().post(PATH, what);
                spec.commandLine()
                        .getOut()
                        .println(
                                nodes.json()
                                        ? body
                                        : "the copy of " + each.getValue().node() + " " + done);
                return 0;
            }
        }
        throw new CommandException("no node receives a full copy; quorate transfer show");
    }

    private static void print(PrintWriter out, TransferAnswer answer) {
        out.printf("%s %s%s%n", answer.node(), answer.state(), answer.reason().isEmpty() ? "" : ": " + answer.reason());
        TransferAnswer.Receiving receiving = answer.receiving();
        if (receiving != null) {
            out.printf(
                    "  receives %s: %d done, %d to do, %d MB, %d/s, %s%n",
                    receiving.phase(),
                    receiving.done(),
                    receiving.toDo(),
                    receiving.bytes() >> 20,
                    receiving.perSecond(),
                    eta(receiving.etaMillis()));
        }
        TransferAnswer.Copying copying = answer.copying();
        if (copying != null) {
            out.printf(
                    "  copies the server of %s by %s: %s, %d MB done, %d MB to do, %d MB/s, %s%n",
                    answer.copyFrom() == null ? "" : answer.copyFrom(),
                    answer.method() == null
                            ? "a method to be chosen"
                            : answer.method().toLowerCase(Locale.ROOT),
                    copying.stage(),
                    copying.bytes() >> 20,
                    copying.toDo() >> 20,
                    copying.perSecond() >> 20,
                    eta(copying.etaMillis()));
        }
        for (TransferAnswer.Given given : answer.giving()) {
            out.printf(
                    "  gives %s seqnos %d to %d, is at %d%n", given.joiner(), given.from(), given.to(), given.next());
        }
    }

    private static String eta(long millis) {
        return millis < 0 ? "no telling how long" : millis / 1000 + " s left";
    }
}
