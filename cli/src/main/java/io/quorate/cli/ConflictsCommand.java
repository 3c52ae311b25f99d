// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import io.quorate.core.answer.ConflictAnswer;
import io.quorate.core.answer.ConflictAnswer.Met;
import io.quorate.core.answer.ConflictAnswer.Transaction;
import io.quorate.core.answer.ConflictsAnswer;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code quorate conflicts}: a node's journal of transactions that lost. */
@Command(
        name = "conflicts",
        description = "Transactions that lost against another: on which rows, against which one, undone or not.",
        mixinStandardHelpOptions = true)
final class ConflictsCommand implements Runnable {
    private static final String PATH = "/actuator/conflicts";

    @Spec
    private CommandSpec spec;

    @Mixin
    private NodeAddress node;

    @Override
    public void run() {
        list(20);
    }

    @Command(description = "The latest, newest first.", mixinStandardHelpOptions = true)
    int list(
            @Option(names = "--limit", paramLabel = "N", defaultValue = "20", description = "how many (default: 20)")
                    int limit) {
        String body = node.first().ask(PATH + "?limit=" + limit);
        PrintWriter out = spec.commandLine().getOut();
        if (node.json()) {
            out.println(body);
            return 0;
        }
        ConflictsAnswer.Brief answer = Answers.read(body, ConflictsAnswer.Brief.class);
        answer.mismatches()
                .forEach(m -> out.printf(
                        "%s  held something else than the order said: %s%n", m.at(), Printable.of(m.what())));
        for (ConflictsAnswer.Line c : answer.conflicts()) {
            String against =
                    c.winner() == null ? "(" + c.verdict() + ")" : "against " + c.winner() + " on " + met(c.met());
            out.printf("%d  %s  %s lost %s  %s%n", c.seqno(), c.committed(), c.loser(), against, c.undone());
        }
        if (answer.conflicts().isEmpty()) {
            spec.commandLine().getErr().println("no transaction has lost");
        }
        return 0;
    }

    @Command(description = "Shows one conflict: both transactions with their rows.", mixinStandardHelpOptions = true)
    int show(@Parameters(paramLabel = "SEQNO", description = "as list shows it") long seqno) {
        String body;
        try {
            body = node.first().ask(PATH + "/" + seqno);
        } catch (NotThereException e) {
            throw new CommandException("no transaction has lost at seqno " + seqno
                    + ", as far as the node asked remembers; quorate conflicts lists those that have");
        }
        PrintWriter out = spec.commandLine().getOut();
        if (node.json()) {
            out.println(body);
            return 0;
        }
        ConflictAnswer c = Answers.read(body, ConflictAnswer.class);
        out.printf("seqno %d: %s, %s%n", seqno, c.verdict(), c.undone());
        if (!c.met().isEmpty()) {
            out.printf("both wrote %s%n", met(c.met()));
        }
        if (c.loser() != null) {
            print(out, "lost", c.loser());
        }
        if (c.winner() != null) {
            print(out, c.verdict().equals("CONFLICT") ? "won" : "was built on", c.winner());
        }
        return 0;
    }

    private static void print(PrintWriter out, String role, Transaction t) {
        out.printf(
                "%s: %s, seqno %d, committed %s by session %d%s, %d rows%n",
                role,
                t.gtid(),
                t.seqno(),
                t.committed(),
                t.session(),
                t.account() == null ? "" : " (" + t.account() + ")",
                t.rowCount());
        if (t.statement() != null) {
            out.printf("  %s%n", Printable.of(t.statement()));
        }
        t.rows().forEach(row -> out.printf("  %s  %s -> %s%n", row.table(), values(row.before()), values(row.after())));
    }

    private static String met(List<Met> met) {
        return met.isEmpty()
                ? "keys that its rows don't show"
                : met.stream()
                        .map(m -> m.table() + " " + m.key() + " " + values(m.values()))
                        .collect(Collectors.joining(", "));
    }

    private static String values(Map<String, String> values) {
        if (values == null) {
            return "(none)";
        }
        return values.entrySet().stream()
                .map(e -> e.getKey() + "=" + Printable.value(e.getValue()))
                .collect(Collectors.joining(", ", "(", ")"));
    }
}
