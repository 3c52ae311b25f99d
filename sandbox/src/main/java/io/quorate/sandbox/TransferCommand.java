// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code quorate transfer}: what nodes receive from one another to come back. */
@Command(
        name = "transfer",
        description =
                "What nodes receive from one another to come back: how much is done, how fast, how long still; holding it up.",
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

    @Command(description = "Of the node named, or of all that run in the sandbox.", mixinStandardHelpOptions = true)
    int show() {
        for (String host : nodes.all()) {
            String body = nodes.ask(host, PATH);
            if (nodes.json()) {
                spec.commandLine().getOut().println(body);
            } else {
                print(JsonMapper.shared().readTree(body));
            }
        }
        return 0;
    }

    @Command(
            description = "Has a full copy by stream wait, once the pieces under way are here.",
            mixinStandardHelpOptions = true)
    int pause() {
        return change(Map.of("action", "pause"));
    }

    @Command(description = "Lets it go on.", mixinStandardHelpOptions = true)
    int resume() {
        return change(Map.of("action", "resume"));
    }

    @Command(description = "Limits a full copy, until the service ends.", mixinStandardHelpOptions = true)
    int throttle(
            @Parameters(paramLabel = "BYTES", description = "a second, of rows; 0 for as much as there is")
                    long bytesPerSecond) {
        return change(Map.of("action", "throttle", "bytesPerSecond", Long.toString(bytesPerSecond)));
    }

    @Command(
            description = "Gives up a full copy that isn't necessary, as long as the server has its own data.",
            mixinStandardHelpOptions = true)
    int cancel() {
        return change(Map.of("action", "cancel"));
    }

    /** Of the node named, or the only one that receives a copy. */
    private int change(Map<String, String> what) {
        for (String host : nodes.all()) {
            if (JsonMapper.shared()
                    .readTree(nodes.ask(host, PATH))
                    .path("copying")
                    .isObject()) {
                NodeAddress.post(host, PATH, what);
                return 0;
            }
        }
        throw new SandboxException("no node receives a full copy; quorate transfer show");
    }

    private void print(JsonNode answer) {
        var out = spec.commandLine().getOut();
        String reason = answer.path("reason").asString("");
        out.printf(
                "%s %s%s%n",
                answer.path("node").asString(), answer.path("state").asString(), reason.isEmpty() ? "" : ": " + reason);
        JsonNode receiving = answer.path("receiving");
        if (receiving.isObject()) {
            out.printf(
                    "  receives %s: %d done, %d to do, %d MB, %d/s, %s%n",
                    receiving.path("phase").asString(),
                    receiving.path("done").asLong(),
                    receiving.path("toDo").asLong(),
                    receiving.path("bytes").asLong() >> 20,
                    receiving.path("perSecond").asLong(),
                    eta(receiving.path("etaMillis").asLong(-1)));
        }
        JsonNode copying = answer.path("copying");
        if (copying.isObject()) {
            out.printf(
                    "  copies the server of %s by %s: %s, %d MB done, %d MB to do, %d MB/s, %s%n",
                    answer.path("copyFrom").asString(),
                    answer.path("method").asString("a method to be chosen").toLowerCase(Locale.ROOT),
                    copying.path("stage").asString(),
                    copying.path("bytes").asLong() >> 20,
                    copying.path("toDo").asLong() >> 20,
                    copying.path("perSecond").asLong() >> 20,
                    eta(copying.path("etaMillis").asLong(-1)));
        }
        for (JsonNode given : answer.path("giving")) {
            out.printf(
                    "  gives %s seqnos %d to %d, is at %d%n",
                    given.path("joiner").asString(),
                    given.path("from").asLong(),
                    given.path("to").asLong(),
                    given.path("next").asLong());
        }
    }

    private static String eta(long millis) {
        return millis < 0 ? "no telling how long" : millis / 1000 + " s left";
    }
}
