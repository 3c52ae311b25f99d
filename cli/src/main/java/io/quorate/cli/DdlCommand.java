// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import io.quorate.core.answer.DefinitionAnswer;
import io.quorate.core.answer.DefinitionOutcome;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code quorate ddl}: has definitions ordered first, and run at their place on every node. */
@Command(
        name = "ddl",
        description = {
            "Has a definition (CREATE, ALTER, DROP, RENAME, TRUNCATE) ordered first, and then run at its place on"
                    + " every node. One that fails fails everywhere alike. Where rows may not fit it, clients of all"
                    + " nodes can't write for a moment (error 1290).",
            "The account needs all privileges of the service's; its password is taken from QUORATE_MYSQL_PASSWORD.",
            "Exit code 0 when all statements have run, 1 when one has not: nothing has happened by that one, and those"
                    + " after it were not tried. 3 when that isn't known."
        },
        mixinStandardHelpOptions = true)
final class DdlCommand implements Callable<Integer> {
    private static final String PATH = "/actuator/definition";
    private static final int UNKNOWN = 3;
    private static final long LOOK_MILLIS = 100;
    /** For a node whose service is started anew. */
    private static final int SILENCE_MAX = 300;

    @Spec
    private CommandSpec spec;

    @Mixin
    private NodeAddress nodes;

    @Option(names = "--schema", paramLabel = "S", description = "the default schema")
    private String schema;

    @Option(
            names = "--user",
            paramLabel = "U",
            defaultValue = "root",
            description = "of the node's server; default: ${DEFAULT-VALUE}")
    private String user;

    @ArgGroup(multiplicity = "1")
    private Source source;

    /** Where the statements are. */
    static final class Source {
        @Parameters(paramLabel = "STATEMENT", description = "one statement")
        private String statement;

        @Option(
                names = "-f",
                paramLabel = "FILE",
                description = "statements that are run one after the other, up to the first that fails")
        private Path file;
    }

    @Override
    public Integer call() throws InterruptedException {
        List<StatementSplitter.Piece> pieces = pieces();
        AskedNode host = nodes.first();
        for (int i = 0; i < pieces.size(); i++) {
            int code = run(host, pieces.get(i).text());
            if (code != 0) {
                if (source.file != null) {
                    spec.commandLine()
                            .getErr()
                            .printf(
                                    "%s:%d: stopped here; %d of %d statements are done%n",
                                    source.file, pieces.get(i).line(), i, pieces.size());
                }
                return code;
            }
        }
        return 0;
    }

    private List<StatementSplitter.Piece> pieces() {
        if (source.file == null) {
            return List.of(new StatementSplitter.Piece(source.statement, 1));
        }
        try {
            return StatementSplitter.split(Files.readString(source.file));
        } catch (IOException e) {
            throw new CommandException(source.file + " can't be read: " + e);
        }
    }

    private int run(AskedNode host, String statement) throws InterruptedException {
        Map<String, String> what = new HashMap<>(Map.of("statement", statement, "user", user));
        what.put("password", Objects.requireNonNullElse(System.getenv("QUORATE_MYSQL_PASSWORD"), ""));
        if (schema != null) {
            what.put("schema", schema);
        }
        long number;
        try {
            number =
                    Answers.read(host.post(PATH, what), DefinitionOutcome.class).number();
        } catch (CommandException e) {
            spec.commandLine().getErr().println(e.getMessage());
            return 1;
        }
        DefinitionAnswer answer = await(host, number);
        if (answer == null) {
            spec.commandLine()
                    .getErr()
                    .println("the node at " + host + " doesn't say what has become of it: it may have run, or still"
                            + " run, on all nodes, or on none; look at the tables");
            return UNKNOWN;
        }
        print(answer);
        return switch (answer.outcome()) {
            case RAN -> 0;
            case REFUSED, NOT_ORDERED -> 1;
            case UNKNOWN -> UNKNOWN;
        };
    }

    /** Null when the node is gone, or its service was started anew. */
    private static DefinitionAnswer await(AskedNode host, long number) throws InterruptedException {
        for (int silent = 0; silent < SILENCE_MAX; ) {
            try {
                DefinitionAnswer answer = host.ask(PATH, DefinitionAnswer.class);
                if (answer.number() != number) {
                    return null;
                }
                if (answer.known()) {
                    return answer;
                }
                silent = 0;
            } catch (UncheckedIOException e) {
                silent++;
            }
            Thread.sleep(LOOK_MILLIS);
        }
        return null;
    }

    private void print(DefinitionAnswer answer) {
        PrintWriter out = spec.commandLine().getOut();
        if (nodes.json()) {
            out.println(Answers.write(answer));
            return;
        }
        String said = answer.message() == null ? "" : ": " + answer.message();
        switch (answer.outcome()) {
            case RAN -> {
                out.printf(
                        "%s%n  ordered at seqno %d, run on %s%n",
                        answer.statement(), answer.seqno(), String.join(" ", answer.ran()));
                if (!answer.behind().isEmpty()) {
                    out.println("  still behind: "
                            + answer.behind().entrySet().stream()
                                    .map(e -> e.getKey() + " (" + e.getValue() + ")")
                                    .collect(Collectors.joining(", ")));
                }
            }
            case REFUSED ->
                out.printf(
                        "%s%n  refused by the servers%s%n  nothing has happened on any node (seqno %d is void)%n",
                        answer.statement(), said, answer.seqno());
            case NOT_ORDERED ->
                out.printf("%s%n  not ordered%s%n  nothing has happened on any node%n", answer.statement(), said);
            case UNKNOWN -> out.printf("%s%n  the outcome isn't known%s%n", answer.statement(), said);
        }
    }
}
