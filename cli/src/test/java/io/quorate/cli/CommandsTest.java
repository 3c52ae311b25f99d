// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;

@Timeout(60)
class CommandsTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private final FakeNode n1 = new FakeNode();
    private final FakeNode n2 = new FakeNode();
    private final Map<String, String> environment = new HashMap<>();
    /** Nodes that are asked before n1. */
    private final List<AskedNode> before = new ArrayList<>();

    @TempDir
    private Path directory;

    /** Two nodes of this machine; the first has its token in a file. */
    private final LocalNodes local = new LocalNodes() {
        @Override
        public List<AskedNode> running(Path any) {
            List<AskedNode> all = new ArrayList<>(before);
            all.add(AskedNode.local(n1.address(), n1Token()));
            all.add(new AskedNode(n2.address(), Credentials.NONE));
            return all;
        }

        @Override
        public Optional<AskedNode> at(Path any, String address) {
            return running(any).stream()
                    .filter(node -> node.address().equals(address) && address.equals(n1.address()))
                    .findFirst();
        }
    };

    private Path n1Token() {
        return directory.resolve("n1.token");
    }

    private Path file(String name, String content) throws IOException {
        return Files.writeString(directory.resolve(name), content);
    }

    @Command(name = "test")
    private static final class Root {}

    @AfterEach
    void close() {
        n1.close();
        n2.close();
    }

    private int run(String... arguments) {
        return run(out, arguments);
    }

    private int run(Writer to, String... arguments) {
        return OperatorCommands.added(new Root(), local, environment)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExecutionExceptionHandler((failure, command, parsed) -> {
                    command.getErr().println(failure.getMessage());
                    return 1;
                })
                .setOut(new PrintWriter(to, true))
                .setErr(new PrintWriter(err, true))
                .execute(arguments);
    }

    private String printed() {
        return out.toString().replace(System.lineSeparator(), "\n");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "status",
                "top",
                "completion",
                "doctor",
                "members",
                "join",
                "leave",
                "lead",
                "desync",
                "resync",
                "recover",
                "transfer",
                "audit",
                "heal",
                "ddl",
                "conflicts",
                "check",
                "log"
            })
    void everyCommandHasHelp(String command) {
        assertThat(run(command, "--help")).isZero();
        assertThat(printed()).contains("Usage: test " + command);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "leave",
                "lead",
                "conflicts show",
                "log",
                "log dump",
                "check",
                "heal",
                "members -o xml",
                "transfer throttle x",
                "outcome x",
                "outcome 3e11fa47-71ca-11e1-9e33-c80aa9429562:tag:1",
                "status --watch=-1",
                "top --every=0"
            })
    void exitsWithTwoOnWrongUsage(String line) {
        assertThat(run(line.split(" "))).isEqualTo(CommandLine.ExitCode.USAGE);
    }

    @Test
    void asksTheNodeThatIsNamed() {
        n2.answers("members", "{\"members\":[{\"name\":\"n9\"}]}");
        assertThat(run("members", "--http", n2.address())).isZero();
        assertThat(printed()).contains("n9");
    }

    @Test
    void printsAnAnswerInJsonAsItCame() {
        n1.answers("members", "{\"new\":[1, 2], \"members\":[]}");
        assertThat(run("members", "-o", "json")).isZero();
        assertThat(printed()).isEqualTo("{\"new\":[1, 2], \"members\":[]}\n");
    }

    @Test
    void showsMembersWithWhatKeepsThemBehindAndHowLongTheyCanStillReturn() {
        n1.answers("members", """
                {"node":"n1","leader":"n1","members":[
                {"name":"n1","address":"h1:1","leader":true,"state":"SYNCED","ordered":12,"applied":11,
                 "appliedPerSecond":3,"queue":1,"cause":"one big transaction","desynced":true,"drained":true,
                 "lagMillis":750,"slowedFor":"n5","waitingCommits":3,"waitingMillis":12400},
                {"name":"n2","address":"h2:1","state":"ABSENT","canReturnForSeconds":130,"ordered":null},
                {"name":"n3","address":"h3:1","state":"ABSENT","canReturnForSeconds":0,"waitingCommits":5,
                 "waitingMillis":999},
                {"name":"n4","address":"h4:1","state":"ABSENT","canReturnForSeconds":-1},
                {"name":"n5","address":"h5:1","state":"SYNCED","lagMillis":12000,"leftBehind":true}]}""");
        assertThat(run("members")).isZero();
        assertThat(printed()).isEqualTo("""
                member   address                state           ordered    applied applied/s    queue    behind
                n1*      h1:1                   SYNCED               12         11         3        1    750 ms \
                drained desynced
                         one big transaction
                         its clients are slowed for n5
                         3 commits wait for their verdict, the first for 12 s
                n2       h2:1                   ABSENT                -          -         -        -         -
                         can come back by a transfer for 2 min more, at the present rate
                n3       h3:1                   ABSENT                -          -         -        -         -
                         is away for too long: it needs a full copy
                n4       h4:1                   ABSENT                -          -         -        -         -
                         can come back by a transfer: nothing is being written
                n5       h5:1                   SYNCED                -          -         -        -  12000 ms
                         was too far behind for too long: nobody waits for it until it is level
                * leads
                """);
    }

    private static String members(String n1, String n2, String n3) {
        return """
                {"node":"n1","leader":"n1","members":[{"name":"n1","state":"%s"},{"name":"n2","state":"%s"},
                {"name":"n3","state":"%s"}]}""".formatted(n1, n2, n3);
    }

    @Test
    void asksAnotherNodeWhereTheFirstDoesNotAnswer() {
        n1.close();
        n2.answers("cluster/self", "{\"name\":\"n2\"}");
        n2.answers("outcome/3E11FA47-71CA-11E1-9E33-C80AA9429562:7", "{\"outcome\":\"ORDERED\",\"says\":\"it is\"}");
        assertThat(run("outcome", "3E11FA47-71CA-11E1-9E33-C80AA9429562:7")).isZero();
        assertThat(printed()).contains("ORDERED: it is");
    }

    @Test
    void showsNoTableBeforeThereIsACluster() {
        n1.answers("members", "{\"node\":\"n1\",\"members\":[]}");
        assertThat(run("members", "--http", n1.address())).isZero();
        assertThat(printed()).isEmpty();
        assertThat(run("status", "--http", n1.address())).isEqualTo(1);
        assertThat(printed()).startsWith("n1 is in no cluster yet").doesNotContain("leads");
    }

    @Test
    void saysForHowLongAMemberMayBeAwayAsFarAsOneCanKnow() {
        n1.answers(
                "members",
                "{\"node\":\"n1\",\"leader\":\"n1\",\"members\":["
                        + "{\"name\":\"n1\",\"state\":\"SYNCED\",\"leader\":true},"
                        + "{\"name\":\"n2\",\"state\":\"ABSENT\",\"canReturnForSeconds\":178956780},"
                        + "{\"name\":\"n3\",\"state\":\"ABSENT\",\"canReturnForSeconds\":300000},"
                        + "{\"name\":\"n4\",\"state\":\"ABSENT\",\"canReturnForSeconds\":7100}]}");
        run("members");
        assertThat(printed()).contains("for over 60 days more", "for 3 days more", "for 118 min more");
    }

    @Test
    void anAuditIsFoundAtTheNodeThatHasDoneIt() {
        n1.answers("audit", "{\"node\":\"n1\",\"waitsFor\":\"\"}");
        n1.answers(
                "cluster",
                "{\"node\":\"n1\",\"nodes\":[{\"name\":\"n1\"},{\"name\":\"n2\",\"http\":\"" + n2.address() + "\"}]}");
        n2.answers(
                "audit",
                "{\"node\":\"n2\",\"waitsFor\":\"\",\"audit\":{\"started\":\"2026-11-29T20:00:00Z\",\"ended\":"
                        + "\"2026-11-29T20:01:00Z\",\"nodes\":[\"n1\",\"n2\"],\"tables\":3,"
                        + "\"tablesDone\":3,\"rows\":17}}");
        assertThat(run("audit", "status", "--http", n1.address())).isZero();
        assertThat(printed()).contains("by n2: 17 rows of 3 of 3 tables");
    }

    @Test
    void aNodeThatKnowsNoLeaderIsBelievedOnlyWhereNoOtherOneDoes() {
        String alone = members("OPEN", "ABSENT", "ABSENT").replace("\"leader\":\"n1\"", "\"leader\":null");
        n1.answers("members", alone);
        n2.answers(
                "members",
                members("ABSENT", "SYNCED", "SYNCED").replace("\"n1\",\"leader\":\"n1\"", "\"n2\",\"leader\":\"n3\""));
        assertThat(run("status")).isEqualTo(1);
        assertThat(printed()).startsWith("2 of 3 members are up, but n1 is away");
        n2.answers("members", alone);
        assertThat(run("status")).isEqualTo(2);
        assertThat(printed()).contains("NOBODY CAN WRITE");
    }

    @Test
    void saysInASentenceHowTheClusterStandsAndTellsScriptsByItsExitStatus() {
        n1.answers("members", members("SYNCED", "SYNCED", "SYNCED"));
        assertThat(run("status")).isZero();
        assertThat(printed()).startsWith("All 3 members are up; the cluster can bear the loss of ONE more.\n\nmember");
        n1.answers("members", members("SYNCED", "JOINER", "SYNCED"));
        n1.answers("cluster", """
                {"nodes":[{"name":"n1"},{"name":"n2","state":"JOINER","reason":"receiving what it missed, 12 s left"}]}
                """);
        assertThat(run("status")).isEqualTo(1);
        assertThat(printed()).contains("but n2 is JOINER", "n2: receiving what it missed, 12 s left");
        n1.answers("members", members("NON_PRIMARY", "ABSENT", "ABSENT"));
        assertThat(run("status")).isEqualTo(2);
        assertThat(printed()).contains("NOBODY CAN WRITE: 2 of 3 members have to take part in the order");
    }

    @Test
    void asksAnotherNodeForTheStatusWhereOneDoesNotAnswer() {
        n2.answers("members", "{\"health\":{\"level\":\"OK\",\"sentence\":\"as the node says\"}}");
        assertThat(run("status")).isZero();
        assertThat(printed()).startsWith("as the node says\n");
        n2.wants("a-token");
        assertThat(run("status")).isEqualTo(3);
        assertThat(err.toString()).contains("has nothing at /actuator/members");
    }

    /** A process that is stopped still takes connections: the system does that for it. */
    @ParameterizedTest
    @ValueSource(strings = {"status", "doctor", "transfer show"})
    void doesNotWaitLongForANodeThatIsFrozenAndAsksTheOthers(String line) throws IOException {
        n1.answers("members", members("SYNCED", "SYNCED", "SYNCED"));
        for (FakeNode each : List.of(n1, n2)) {
            each.answers("transfer", "{\"node\":\"answers\",\"state\":\"SYNCED\",\"giving\":[]}");
            each.answers("audit", "{}");
        }
        try (ServerSocket frozen = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            before.add(new AskedNode("127.0.0.1:" + frozen.getLocalPort(), Credentials.NONE));
            assertTimeout(Duration.ofSeconds(20), () -> run(line.split(" ")));
        }
        assertThat(printed() + err).containsAnyOf("n3", "answers", "no audit", "is frozen");
    }

    @Test
    void saysThatTheReportCantBeWritten() {
        n2.answers("cluster", "{\"node\":\"n2\"}").answers("members", "{}").answers("audit", "{}");
        n2.answers("prometheus", "quorate_primary 1.0\n");
        String absent = directory.resolve("absent/report.zip").toString();
        assertThat(run("doctor", "--http", n2.address(), "--report", absent)).isEqualTo(1);
        assertThat(err.toString()).contains("the report can't be written to " + absent);
    }

    @Test
    void saysThatSomethingElseAnswersThere() {
        n2.type("text/html").answers("members", "<html>");
        assertThat(run("status", "--http", n2.address())).isEqualTo(3);
        assertThat(err.toString()).contains("is no node of Quorate's (it sends text/html)", "--http");
    }

    /** As "quorate top | head" does. */
    @ParameterizedTest
    @ValueSource(strings = {"top", "status --watch=1"})
    void endsWhenNobodyReadsItAnyMore(String line) {
        n1.answers("members", members("SYNCED", "SYNCED", "SYNCED"));
        Writer gone = new Writer() {
            @Override
            public void write(char[] text, int from, int count) throws IOException {
                throw new IOException("Broken pipe");
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        assertTimeoutPreemptively(Duration.ofSeconds(20), () -> run(gone, line.split(" ")));
    }

    @Test
    void drawsCurvesAsLongAsItIsTold() {
        n1.answers("members", members("SYNCED", "SYNCED", "SYNCED"));
        assertThat(run("top", "--count=2")).isZero();
        assertThat(printed()).contains("All 3 members are up", "cluster      ordered/s", "n3           applied/s");
        assertThat(printed().split("\\* leads", -1)).hasSize(3);
        n1.answers("members", members("NON_PRIMARY", "ABSENT", "ABSENT"));
        assertThat(run("top", "--count=1")).isEqualTo(2);
    }

    /** What it prints is a script that bash takes, with the commands' own options in it. */
    @Test
    void completesItsCommandsInAShell() throws IOException, InterruptedException {
        assertThat(run("completion")).isZero();
        assertThat(printed()).contains("complete -F _complete_test", "--token-file");
        Path script = file("completion", printed());
        assertThat(new ProcessBuilder("bash", "-n", script.toString())
                        .inheritIO()
                        .start()
                        .waitFor())
                .isZero();
    }

    @Test
    void watchesTheStatusAsLongAsItIsTold() {
        n1.answers("members", members("SYNCED", "SYNCED", "SYNCED"));
        assertThat(run("status", "--watch=1", "--count=2")).isZero();
        assertThat(printed().split("All 3 members are up", -1)).hasSize(3);
    }

    @Test
    void tellsWhyANodeRefusesInItsOwnWords() {
        n1.refuses("members", "n9 is no member");
        n1.answers("members", members("SYNCED", "SYNCED", "SYNCED"));
        assertThat(run("leave", "n9")).isEqualTo(1);
        assertThat(err.toString()).contains("n9 is no member");
        assertThat(n1.posted()).singleElement().asString().contains("\"leave\"", "\"n9\"", "\"force\":\"false\"");
        assertThat(run("leave", "n2", "--force")).isEqualTo(1);
        assertThat(n1.posted().get(1)).contains("\"n2\"", "\"force\":\"true\"");
        assertThat(printed()).as("what is").contains("the members are n1", "All 3 members are up");
    }

    @Test
    void hasAMemberLead() {
        n1.answers("members", members("SYNCED", "SYNCED", "SYNCED").replace("leader\":\"n1", "leader\":\"n2"));
        assertThat(run("lead", "n2")).isZero();
        assertThat(n1.posted()).singleElement().asString().contains("\"lead\"", "\"n2\"");
    }

    @Test
    void drainsANodeAndSaysWhatIsStillOpenAtTheLimit() {
        Draining.drain(local.running(null).get(0), Duration.ofSeconds(7), false);
        assertThat(n1.posted()).singleElement().asString().contains("\"seconds\":\"7\"", "\"force\":\"false\"");
        n1.refuses("drain", "not everything is decided");
        assertThatThrownBy(() -> Draining.drain(local.running(null).get(0), Duration.ofSeconds(7), false))
                .isInstanceOf(CommandException.class)
                .hasMessage("not everything is decided");
        assertThat(run("drain", "--http", n1.address())).isEqualTo(1);
        assertThat(err.toString()).contains("not everything is decided");
    }

    @ParameterizedTest
    @ValueSource(strings = {"desync", "resync"})
    void hasANodeChangeItsMembership(String action) {
        assertThat(run(action)).isEqualTo(1);
        assertThat(err.toString()).contains("which node?");
        assertThat(run(action, "--http", n1.address())).isZero();
        assertThat(n1.posted()).containsExactly("{\"action\":\"" + action + "\"}");
    }

    @Test
    void saysWhetherANodeThatWasToldToJoinIsIn() {
        String self = "{\"name\":\"n1\",\"state\":\"%s\",\"primaryComponent\":%s,\"reason\":\"%s\"}";
        n1.answers("cluster/self", self.formatted("JOINER", false, "n2: nobody has admitted it"));
        n1.answers("members", "{\"node\":\"n1\",\"members\":[]}");
        assertThat(run("join", "--wait=0", "--http", n1.address())).isEqualTo(2);
        assertThat(printed()).contains("n1 asks, and is NO MEMBER YET: it is JOINER, n2: nobody has admitted it");
        n1.answers("cluster/self", self.formatted("SYNCED", true, ""));
        n1.answers("members", members("SYNCED", "SYNCED", "SYNCED"));
        assertThat(run("join", "--http", n1.address())).isZero();
        assertThat(printed()).endsWith("n1 is a member and SYNCED\n");
        assertThat(n1.posted()).containsExactly("{\"action\":\"join\"}", "{\"action\":\"join\"}");
    }

    @Test
    void hasTheTokenOfANodeOnThisMachineFromItsOwnFile() throws Exception {
        n1.wants("of-n1-itself");
        file("n1.token", "of-n1-itself\n");
        environment.put("QUORATE_TOKEN", "of-another-cluster");
        assertThat(run("desync", "--http", n1.address())).isZero();
        assertThat(run("drain", "--http", n1.address())).isZero();
        assertThat(n1.posted()).hasSize(2);
    }

    @Test
    void takesTheTokenOfTheFileThatIsNamedOrOfTheEnvironment() throws Exception {
        n2.wants("t0ken-of-n2");
        String named = file("token", "t0ken-of-n2\n").toString();
        assertThat(run("heal", "--http", n2.address(), "--token-file", named, "s.t"))
                .isZero();
        environment.put("QUORATE_TOKEN", "t0ken-of-n2");
        assertThat(run("heal", "--http", n2.address(), "s.t")).isZero();
        assertThat(n2.posted()).hasSize(2);
    }

    @Test
    void saysHowToCallANodeThatWantsItsTokenAndShowsNone() {
        n2.wants("right-token");
        assertThat(run("resync", "--http", n2.address())).isEqualTo(1);
        assertThat(err.toString()).contains("wants its token", "http.token", "--token-file", "QUORATE_TOKEN");
        environment.put("QUORATE_TOKEN", "wrong-token");
        assertThat(run("resync", "--http", n2.address())).isEqualTo(1);
        assertThat(err.toString())
                .contains("doesn't take this token (from QUORATE_TOKEN)")
                .doesNotContain("wrong-token");
        assertThat(n2.posted()).isEmpty();
    }

    @Test
    void refusesATokenFileThatIsAbsentOrHasNoToken() throws Exception {
        String absent = directory.resolve("absent").toString();
        assertThat(run("members", "--token-file", absent)).isEqualTo(1);
        assertThat(err.toString()).contains(absent, "can't be read");
        String wrong = file("wrong", "two words\n").toString();
        assertThat(run("members", "--token-file", wrong)).isEqualTo(1);
        assertThat(err.toString()).contains(wrong + " has no token").doesNotContain("two words");
    }

    @Test
    void saysThatNoNodeAnswers() {
        n1.close();
        assertThat(run("members")).isEqualTo(1);
        assertThat(err.toString()).contains("no node answers at " + n1.address());
    }

    @Test
    void showsWhatEveryNodeReceivesAndGives() {
        n1.answers("transfer", """
                {"node":"n1","state":"JOINER","reason":"receiving","giving":[],
                "receiving":{"phase":"WRITESETS","donors":["n2"],"done":10,"toDo":20,"bytes":3145728,"perSecond":5,\
                "etaMillis":4000},
                "copying":{"stage":"FILE COPY","bytes":1048576,"toDo":2097152,"perSecond":0,"etaMillis":-1},
                "method":null,"copyFrom":"n2","hence":"unknown"}""");
        n2.answers("transfer", """
                {"node":"n2","state":"SYNCED","giving":[{"joiner":"n1","from":1,"to":9,"next":4}]}""");
        assertThat(run("transfer", "show")).isZero();
        assertThat(printed()).isEqualTo("""
                n1 JOINER: receiving
                  receives WRITESETS: 10 done, 20 to do, 3 MB, 5/s, 4 s left
                  copies the server of n2 by a method to be chosen: FILE COPY, 1 MB done, 2 MB to do, 0 MB/s, no \
                telling how long
                n2 SYNCED
                  gives n1 seqnos 1 to 9, is at 4
                """);
    }

    @Test
    void holdsUpTheCopyOfWhoeverReceivesOne() {
        n1.answers("transfer", "{\"node\":\"n1\",\"copying\":null}");
        n2.answers("transfer", "{\"node\":\"n2\",\"copying\":{\"bytes\":1}}");
        assertThat(run("transfer", "pause")).isZero();
        assertThat(n1.posted()).isEmpty();
        assertThat(n2.posted()).containsExactly("{\"action\":\"pause\"}");
        assertThat(printed()).contains("the copy of n2 pauses");
    }

    @Test
    void saysThatNoNodeReceivesACopy() {
        n1.answers("transfer", "{}");
        n2.answers("transfer", "{}");
        assertThat(run("transfer", "resume")).isEqualTo(1);
        assertThat(err.toString()).contains("no node receives a full copy");
    }

    @Test
    void listsConflicts() {
        n1.answers("conflicts?limit=20", """
                {"node":"n1","mismatches":[{"at":"noon","what":"{a=1}"}],"conflicts":[
                {"seqno":9,"verdict":"CONFLICT","met":[{"table":"s.t","key":"PRIMARY","values":{"id":"7","n":null}}],
                 "loser":"u:4","committed":"now","winner":"v:1","undone":"undone here"},
                {"seqno":8,"verdict":"CONFLICT","met":[],"loser":"u:3","committed":"now","winner":"v:1",\
                "undone":"undone here"},
                {"seqno":7,"verdict":"TOO_OLD","loser":"u:2","committed":"now","winner":null,"undone":"never applied \
                here"}]}""");
        assertThat(run("conflicts", "list")).isZero();
        assertThat(printed()).isEqualTo("""
                noon  held something else than the order said: {a=1}
                9  now  u:4 lost against v:1 on s.t PRIMARY (id=7, n=NULL)  undone here
                8  now  u:3 lost against v:1 on keys that its rows don't show  undone here
                7  now  u:2 lost (TOO_OLD)  never applied here
                """);
    }

    @Test
    void showsBothTransactionsOfAConflict() {
        n1.answers("conflicts/9", """
                {"seqno":9,"verdict":"BUILT_ON_FAILED","met":[{"table":"s.t","key":"PRIMARY","values":{"id":"7"}}],\
                "undone":"undone here",
                "loser":{"seqno":9,"gtid":"u:4","committed":"now","session":3,"account":"app@h","rowCount":1,\
                "statement":null,
                 "rows":[{"table":"s.t","before":null,"after":{"id":"7","n":null}}]},
                "winner":{"seqno":8,"gtid":"v:1","committed":"then","session":4,"account":null,"rowCount":0,\
                "statement":"DROP TABLE t"}}""");
        assertThat(run("conflicts", "show", "9")).isZero();
        assertThat(printed()).isEqualTo("""
                seqno 9: BUILT_ON_FAILED, undone here
                both wrote s.t PRIMARY (id=7)
                lost: u:4, seqno 9, committed now by session 3 (app@h), 1 rows
                  s.t  (none) -> (id=7, n=NULL)
                was built on: v:1, seqno 8, committed then by session 4, 0 rows
                  DROP TABLE t
                """);
    }

    @Test
    void saysThatNothingHasLostThere() {
        assertThat(run("conflicts", "show", "1")).isEqualTo(1);
        assertThat(err.toString()).contains("no transaction has lost at seqno 1", "quorate conflicts");
    }

    /** A row can't clear the screen, or turn the rest of a line around. */
    @Test
    void showsWhatRowsHaveWithoutObeyingIt() {
        n1.answers("conflicts/9", """
                {"seqno":9,"verdict":"CONFLICT","met":[],"undone":"undone here",
                "loser":{"seqno":9,"gtid":"u:4","committed":"now","session":3,"rowCount":1,
                 "rows":[{"table":"s.t","before":null,
                          "after":{"v":"\\u001b[2J\\u202ea\\nb\\\\c ü"}}]},"winner":null}""");
        assertThat(run("conflicts", "show", "9")).isZero();
        assertThat(printed()).contains("(none) -> (v=\\u001b[2J\\u202ea\\nb\\c ü)");
    }

    private static final String DIFFERENCES = """
            "differences":[
            {"table":"s.t","identity":"7","versions":{"n1":"aa","n2":"aa","n3":"bb"},"right":"aa","outcome":null,
             "rows":{"n1":{"id":"7","v":"x"},"n2":{"id":"7","v":"x"},"n3":{"id":"7","v":null}}},
            {"table":"s.t","identity":"8","versions":{"n1":"cc","n2":"absent"},"right":null,"outcome":"left alone",\
            "rows":{}},
            {"table":"s.u","identity":null,"versions":{"n1":"(a int)","n2":"(b int)"},"right":null,"rows":{},\
            "outcome":null}]""";

    private void audited(FakeNode node, String started, String ended) {
        node.answers(
                "audit",
                "{\"node\":\"n2\",\"waitsFor\":\"n3\",\"audit\":{\"started\":\"" + started + "\",\"ended\":" + ended
                        + ",\"table\":\"s.t\",\"nodes\":[\"n1\",\"n2\"],\"tables\":4,\"tablesDone\":3,"
                        + "\"rows\":10,\"rowsToDo\":30,"
                        + "\"left\":{\"s.x\":\"no key\"},\"missed\":{\"n3\":2},\"found\":4," + DIFFERENCES + "}}");
    }

    @Test
    void tellsOfTheLatestAuditAndFailsWhereRowsDiffer() {
        audited(n1, "2026-01-01", "\"2026-01-02\"");
        audited(n2, "2026-02-01", "null");
        assertThat(run("audit", "status")).isEqualTo(1);
        assertThat(printed()).isEqualTo("""
                running, begun 2026-02-01 by n2: 10 rows of 3 of 4 tables compared on n1, n2
                  is at s.t, about 20 rows to do
                  waits: n3
                  not audited: s.x, no key
                  n3 could not be asked for 2 stretches; audit again when it is SYNCED
                  4 differences: quorate audit show
                """);
    }

    private void defined(String outcome, String message) {
        n1.outcome("definition", "{\"number\":4,\"done\":true,\"refusal\":null}")
                .answers(
                        "definition",
                        "{\"node\":\"n1\",\"number\":4,\"statement\":\"DROP TABLE t\",\"phase\":\"done\",\"outcome\":\""
                                + outcome + "\",\"seqno\":7,\"ran\":[\"n1\",\"n2\"],\"behind\":{\"n3\":\"it is away\"},"
                                + "\"message\":" + message + "}");
    }

    @Test
    void tellsWhereADefinitionHasRun() {
        defined("RAN", "null");
        assertThat(run("ddl", "--schema", "d", "DROP TABLE t")).isZero();
        assertThat(printed()).isEqualTo("""
                DROP TABLE t
                  ordered at seqno 7, run on n1 n2
                  still behind: n3 (it is away)
                """);
        assertThat(n1.posted().get(0))
                .contains("\"schema\":\"d\"", "\"statement\":\"DROP TABLE t\"", "\"user\":\"root\"");
    }

    @Test
    void stopsAtTheFirstDefinitionOfAFileThatFails(@TempDir Path directory) throws IOException {
        Path file = Files.writeString(directory.resolve("x.sql"), "CREATE TABLE a (i INT);\nDROP TABLE t;");
        defined("REFUSED", "\"error 1051\"");
        assertThat(run("ddl", "-f", file.toString())).isEqualTo(1);
        assertThat(printed()).contains("refused by the servers: error 1051", "nothing has happened on any node");
        assertThat(err.toString()).contains("x.sql:1: stopped here; 0 of 2 statements are done");
        assertThat(n1.posted()).hasSize(1);
    }

    @Test
    void saysThatNobodyKnowsWhenTheNodeHasForgottenTheDefinition() {
        defined("RAN", "null");
        n1.outcome("definition", "{\"number\":5,\"done\":true}");
        assertThat(run("ddl", "DROP TABLE t")).isEqualTo(3);
        n1.refuses("definition", "QRT-3013 no");
        assertThat(run("ddl", "DROP TABLE t")).isEqualTo(1);
        assertThat(err.toString()).contains("look at the tables", "QRT-3013 no");
    }

    @Test
    void tellsThatNoAuditWasDone() {
        n1.answers("audit", "{\"audit\":null}");
        n2.answers("audit", "{}");
        assertThat(run("audit")).isZero();
        assertThat(printed()).isEqualTo("no audit was done; quorate audit start\n");
    }

    @Test
    void showsDifferencesWithTheOddNodeAndColumnsMarked() {
        audited(n1, "2026-01-01", "\"2026-01-02\"");
        n2.answers("audit", "{}");
        assertThat(run("audit", "show")).isZero();
        assertThat(printed()).isEqualTo("""
                s.t: odd is n3
                  n1: id=7, *v=x
                  n2: id=7, *v=x
                  n3: id=7, *v=NULL
                s.t: no majority has the same row; left alone
                  n1: cc
                  n2: no such row
                table s.u differs
                  n1: (a int)
                  n2: (b int)
                and 1 more
                """);
    }

    @Test
    void saysHowRowsWouldBePutRight() {
        audited(n1, "2026-01-01", "\"2026-01-02\"");
        n2.answers("audit", "{}");
        String answer = "{\"done\":true,\"differences\":[{\"table\":\"s.t\",\"identity\":\"7\",\"outcome\":\"n3 would"
                + " be repaired\"},"
                + "{\"table\":\"s.u\",\"identity\":null,\"outcome\":\"left alone\"}]}";
        n1.outcome("audit", answer);
        assertThat(run("audit", "repair", "--trust", "n2")).isZero();
        assertThat(printed()).isEqualTo("""
                s.t 7: n3 would be repaired
                s.u (the table): left alone
                nothing was changed; --apply does it
                """);
        assertThat(n1.posted())
                .singleElement()
                .asString()
                .contains("\"action\":\"repair\"", "\"apply\":\"false\"", "\"trusted\":\"n2\"");
        out.getBuffer().setLength(0);
        assertThat(run("audit", "repair", "--apply", "-o", "json")).isZero();
        assertThat(printed()).isEqualTo(answer + "\n");
    }

    private static String recovery(String node, String logEnd) {
        return "{\"node\":\"" + node
                + "\",\"cluster\":\"shop\",\"life\":\"0f9c\",\"majority\":false,\"ordered\":12,\"logEnd\":\""
                + logEnd + "\",\"unconfirmedEntries\":2,\"furthestHeard\":14,\"present\":[\"n5\"],\"missing\":["
                + "{\"name\":\"n3\",\"heardSecondsAgo\":30,\"ordered\":14},"
                + "{\"name\":\"n4\",\"heardSecondsAgo\":null,\"ordered\":null}]}";
    }

    /** A later term outweighs a longer log. */
    @Test
    void saysWhatWouldBeLostWithoutTheMajorityByWhoseLogGoesFurthest() {
        n1.answers("recovery", recovery("n1", "3:99"));
        n2.answers("recovery", recovery("n2", "4:17"));
        assertThat(run("recover")).isZero();
        assertThat(printed()).isEqualTo("""
                n2 of cluster shop, in its life 0f9c: no majority
                It holds the order up to seqno 12, and 2 entries after it that no majority has confirmed to it. All \
                of that stays.
                n3 is missing: heard 30 s ago, at seqno 14
                n4 is missing, and was not heard of since this node started
                n5 is here, and joins by itself
                LOST at least: 2 writesets that a missing node had and this one lacks.
                LOST besides: whatever the missing nodes ordered or committed after they were heard last. That can't be\
                 told from here. If one of them can be started again, start it instead.
                """);
        assertThat(n1.posted()).isEmpty();
        assertThat(n2.posted()).isEmpty();
    }

    @Test
    void hasThatNodeGoOnAloneWhenToldTo() {
        n1.answers("recovery", recovery("n1", "4:16"));
        n2.answers("recovery", recovery("n2", "4:17"));
        n2.answers(
                "members", "{\"node\":\"n2\",\"leader\":\"n2\",\"members\":[{\"name\":\"n2\",\"state\":\"SYNCED\"}]}");
        assertThat(run("recover", "--force-primary", "--yes")).isZero();
        assertThat(printed())
                .endsWith("done; nodes that come back take over what this one holds, or say why they can't\n"
                        + "The only member is up; there is no other that could go on without it.\n");
        assertThat(n1.posted()).isEmpty();
        assertThat(n2.posted()).singleElement().asString().contains("\"action\":\"force\"", "\"cluster\":\"shop\"");
    }

    @ParameterizedTest
    @ValueSource(strings = {"evil:99999", "http://", "a b:1", "ftp://n1:8080", "n1:8080:8081"})
    void whatIsNoAddressIsSaidToBeNone(String address) {
        assertThat(run("members", "--http", address)).isEqualTo(1);
        assertThat(err.toString()).contains(address + " is no address of a node: HOST:PORT");
    }

    @Test
    void certificatesAreMadeForAllNodesOrItSaysForWhichNot() throws IOException {
        Path certs = directory.resolve("certs");
        assertThat(run("certs", "init", "--authority", certs.toString())).isZero();
        assertThat(run("certs", "issue", "--authority", certs.toString(), "n1", "n/2"))
                .isEqualTo(1);
        assertThat(certs.resolve("n1")).doesNotExist();
        assertThat(run("certs", "issue", "--authority", certs.toString(), "n1", "n3"))
                .isZero();
        assertThat(printed()).contains("made " + certs.resolve("n1").resolve("node.crt") + ", valid until ");
        assertThat(run("certs", "renew", "--authority", certs.toString(), "n1", "n2", "n3"))
                .isEqualTo(1);
        assertThat(err.toString()).contains("Not done: n2, n3");
        assertThat(run("certs", "issue", "--authority", file("taken", "").toString(), "n1"))
                .isEqualTo(1);
        assertThat(run(
                        "certs",
                        "init",
                        "--authority",
                        file("taken", "").resolve("x").toString()))
                .isEqualTo(1);
        assertThat(err.toString()).contains("can't be made, because of a file or directory");
    }

    private static FakeNode healthy(FakeNode node, String name, String others) {
        return node.answers(
                        "cluster",
                        "{\"cluster\":\"shop\",\"node\":\"" + name + "\",\"state\":\"SYNCED\",\"nodes\":[" + others
                                + "]}")
                .answers("members", "{\"health\":{\"level\":\"OK\",\"sentence\":\"All is well.\"},\"members\":[]}")
                .answers("audit", "{\"node\":\"" + name + "\"}")
                .answers("transfer", "{}")
                .answers("health", "{\"status\":\"UP\"}")
                .answers("prometheus", "quorate_capture_connected 1.0\n");
    }

    @Test
    void theDoctorAsksAllThatTheNodeNamedKnows() {
        healthy(n1, "n1", "{\"name\":\"n2\",\"http\":\"" + n2.address() + "\"}");
        healthy(n2, "n2", "");
        assertThat(run("doctor", "--http", n1.address())).isZero();
        assertThat(printed()).isEqualTo("Nothing looks wrong with 2 nodes of cluster shop.\n");
        n2.answers("prometheus", "quorate_capture_connected 0.0\n# TYPE x y\nquorate_tls_expires_seconds 86400.0\n");
        assertThat(run("doctor", "--http", n1.address())).isEqualTo(1);
        assertThat(printed())
                .contains(
                        "- n2 is SYNCED and doesn't read its server's binlog",
                        "- n2: its certificate expires in 1 days");
        n2.close();
        assertThat(run("doctor", "--http", n1.address())).isEqualTo(1);
        assertThat(printed()).contains("no answer: " + n2.address());
        n1.close();
        assertThat(run("doctor", "--http", n1.address())).isEqualTo(3);
    }

    @Test
    void whatTheDoctorKeepsHasNoRows() throws IOException {
        healthy(n1, "n1", "")
                .answers(
                        "audit",
                        "{\"node\":\"n1\",\"audit\":{\"started\":\"now\",\"found\":1,\"from\":\"secret\","
                                + "\"differences\":"
                                + "[{\"table\":\"s.t\",\"identity\":\"secret\",\"versions\":{\"n1\":\"secret\"},"
                                + "\"rows\":{\"n1\":{\"id\":\"secret\"}}}]}}");
        healthy(n2, "n2", "");
        Path report = directory.resolve("report.zip");
        assertThat(run("doctor", "--report", report.toString())).isEqualTo(1);
        assertThat(printed()).contains("the audit that n1 did found 1 rows or tables that differ");
        Map<String, String> files = new HashMap<>();
        try (ZipFile zip = new ZipFile(report.toFile())) {
            for (ZipEntry entry : zip.stream().toList()) {
                files.put(
                        entry.getName(), new String(zip.getInputStream(entry).readAllBytes(), StandardCharsets.UTF_8));
            }
        }
        assertThat(files).containsKeys("quorate/findings.txt", "quorate/n1/prometheus.txt", "quorate/n2/members.json");
        assertThat(files.get("quorate/n1/audit.json")).contains("s.t");
        assertThat(files.values()).noneMatch(content -> content.contains("secret"));
        assertThat(run("doctor", "--report", report.toString())).isEqualTo(1);
        assertThat(err.toString()).contains("is there already");
    }
}
