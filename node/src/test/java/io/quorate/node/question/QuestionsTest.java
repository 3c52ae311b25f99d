// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.question;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.fuzz.Fuzz;
import io.quorate.transport.PeerChannels;
import io.quorate.transport.TransportSettings;
import io.quorate.transport.TransportSettings.Peer;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

@Timeout(60)
class QuestionsTest {
    sealed interface Greeting<A> extends Question<A> {}

    @Question.Name("test.hello")
    record Hello(String to, List<String> from, @Nullable String title) implements Greeting<Reply> {}

    record Reply(String text) {}

    @Question.Name("test.many")
    record Many(int count) implements Greeting<Reply>, StreamedQuestion<Reply> {}

    record Nameless() implements Question<Reply> {}

    private static final Hello HELLO = new Hello("n2", List.of("n1"), null);

    private final JsonMapper json = JsonMapper.builder().build();
    private final Answers answers = new Answers(json, peer -> true);
    private final Questions questions =
            new Questions("n1", new Answers(json, peer -> true), (node, request) -> serve(request), json);

    private ByteArrayInputStream serve(byte[] request) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        answers.serve("n1", request, out);
        return new ByteArrayInputStream(out.toByteArray());
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    /** A peer that gives this answer to every question. */
    private Questions saying(byte[] answer) {
        return new Questions("n1", answers, (node, request) -> new ByteArrayInputStream(answer), json);
    }

    private static void assertMalformed(Throwable e, String why) {
        assertThat(e).isInstanceOfSatisfying(QuorateException.class, refusal -> {
            assertThat(refusal.code()).isEqualTo(ErrorCode.MALFORMED_MESSAGE);
            assertThat(refusal.detail()).contains(why);
        });
    }

    @Test
    void aQuestionIsItsNameAndItsJson() {
        assertThat(new QuestionCodec(json).encode(HELLO))
                .isEqualTo(bytes("Q\12test.hello{\"to\":\"n2\",\"from\":[\"n1\"],\"title\":null}"));
    }

    @Test
    void aQuestionThatNobodyAnswersIsRefusedByItsName() {
        assertMalformed(
                catchThrowable(() -> questions.ask("n2", HELLO)), "this node doesn't know the question test.hello");
        assertMalformed(
                catchThrowable(() -> questions.open("n2", new Many(1))),
                "this node doesn't know the question test.many");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "\0\0\0",
                "Q",
                "Q\0",
                "Q\0{}",
                "Q\12test",
                "Q\377test.hello{}",
                "Q\12test hello{}",
                "Q\12test.hello",
                "Q\12test.hello{",
                "Q\12test.hello[]",
                "Q\12test.hello7",
                "Q\12test.hellonull",
                "Q\12test.hello{}",
                "Q\12test.hello{\"to\":\"n2\"}",
                "Q\12test.hello{\"to\":null,\"from\":[]}",
                "Q\12test.hello{\"to\":\"n2\",\"from\":7}",
                "Q\12test.hello{\"to\":\"n2\",\"from\":[]}{}"
            })
    void whatIsNoWholeQuestionIsRefused(String request) {
        answers.on(Hello.class, hello -> new Reply(hello.to()));
        assertMalformed(catchThrowable(() -> serve(bytes(request))), "");
    }

    @Test
    void whateverComesIsAnsweredOrRefused() throws IOException {
        answers.on(Hello.class, hello -> new Reply(hello.to()));
        byte[] whole = new QuestionCodec(json).encode(HELLO);
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int i = 0; i < 2_000; i++) {
            byte[] request = whole.clone();
            for (int j = random.nextInt(4); j >= 0; j--) {
                request[random.nextInt(request.length)] = (byte) random.nextInt();
            }
            try {
                assertThat(serve(request).available()).isPositive();
            } catch (QuorateException e) {
                assertThat(e.code()).as("seed " + seed).isEqualTo(ErrorCode.MALFORMED_MESSAGE);
            }
        }
    }

    @Test
    void fieldsThatOnlyANewerNodeKnowsAreIgnored() throws IOException {
        answers.on(Hello.class, hello -> new Reply(hello.to()));
        assertThat(serve(bytes("Q\12test.hello{\"to\":\"n2\",\"from\":[],\"when\":1}"))
                        .readAllBytes())
                .isEqualTo(bytes("{\"text\":\"n2\"}"));
    }

    @Test
    void aQuestionThatIsTooLongIsNeitherAskedNorRead() {
        answers.on(Hello.class, hello -> new Reply("short"));
        Hello longest = new Hello("x".repeat(QuestionCodec.QUESTION_BYTES_MAX), List.of(), null);
        assertMalformed(catchThrowable(() -> questions.ask("n2", longest)), "at most");
        byte[] request = new byte[QuestionCodec.QUESTION_BYTES_MAX + 1];
        request[0] = QuestionCodec.MARK;
        assertMalformed(catchThrowable(() -> serve(request)), "at most");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "null", "{", "[]", "{}{}", "7"})
    void anAnswerOfAnotherFormIsRefused(String answer) {
        assertMalformed(catchThrowable(() -> saying(bytes(answer)).ask("n2", HELLO)), "n2 answered");
    }

    @Test
    void anAnswerThatIsTooLongIsNotRead() throws IOException {
        QuestionCodec codec = new QuestionCodec(json, 16);
        assertThat(codec.readAnswer(HELLO, "n2", new ByteArrayInputStream(bytes("{\"text\":\"12345\"}"))))
                .isEqualTo(new Reply("12345"));
        InputStream longer = new ByteArrayInputStream(bytes("{\"text\":\"123456\"}"));
        assertMalformed(catchThrowable(() -> codec.readAnswer(HELLO, "n2", longer)), "with more than 16 bytes");
        InputStream head = new ByteArrayInputStream(bytes("\0\0\0\21{\"text\":\"123456\"}"));
        assertMalformed(catchThrowable(() -> codec.readHead(new Many(1), "n2", head)), "with more than 16 bytes");
        InputStream negative = new ByteArrayInputStream(bytes("\377\377\377\377{}"));
        assertMalformed(catchThrowable(() -> codec.readHead(new Many(1), "n2", negative)), "with more than 16 bytes");
    }

    @Test
    void aStreamThatBreaksOffInItsHeadIsAFailureOfTheNetwork() {
        assertThatThrownBy(() -> saying(bytes("\0\0")).open("n2", new Many(1))).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> saying(bytes("\0\0\0\20{\"te")).open("n2", new Many(1)))
                .isInstanceOf(IOException.class);
    }

    @Test
    void aNodeAsksItselfWithoutANetwork() throws IOException {
        answers.on(Hello.class, hello -> new Reply("from myself"));
        Questions alone = new Questions(
                "n1",
                answers,
                (node, request) -> {
                    throw new IOException("no network");
                },
                json);
        assertThat(alone.ask("n1", HELLO)).isEqualTo(new Reply("from myself"));
        assertThatThrownBy(() -> alone.ask("n2", HELLO)).isInstanceOf(IOException.class);
    }

    @Test
    void aQuestionHasOneWhoAnswersAndANameOfItsOwn() {
        answers.on(Hello.class, hello -> new Reply("first"));
        assertThatThrownBy(() -> answers.on(Hello.class, hello -> new Reply("second")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("test.hello");
        assertThatThrownBy(() -> answers.on(Nameless.class, nameless -> new Reply("")))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> questions.ask("n2", new Nameless())).isInstanceOf(IllegalStateException.class);
    }

    @Question.Name("test.may-i-join")
    @Question.OfJoiners
    record MayIJoin(String name) implements Question<Reply> {}

    /** Nothing is done for it before. */
    @Test
    void whoIsNoMemberIsAnsweredOnlyWhatJoinersAsk() throws IOException {
        List<String> done = new ArrayList<>();
        Answers careful = new Answers(json, peer -> peer.equals("n1"));
        careful.on(Hello.class, hello -> {
            done.add(hello.to());
            return new Reply("done");
        });
        careful.streamed(Many.class, (many, reply) -> done.add("many"));
        careful.from(MayIJoin.class, (peer, question) -> new Reply(peer + " as " + question.name()));
        QuestionCodec codec = new QuestionCodec(json);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (Question<?> question : List.of(HELLO, new Many(1))) {
            assertThatThrownBy(() -> careful.serve("x\ny", codec.encode(question), out))
                    .isInstanceOfSatisfying(
                            QuorateException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.MEMBERS_ONLY))
                    .hasMessageContaining("x y");
        }
        assertThat(done).isEmpty();
        assertThat(out.size()).isZero();
        careful.serve("n1", codec.encode(HELLO), out);
        assertThat(done).containsExactly("n2");
        out.reset();
        careful.serve("n4", codec.encode(new MayIJoin("n5")), out);
        assertThat(out.toString(StandardCharsets.UTF_8)).contains("n4 as n5");
    }

    @Test
    void noAnswerIsLongerThanItsKindMayBe() {
        byte[] longer = bytes("{\"text\":\"" + "x".repeat(Question.ANSWER_BYTES_MAX) + "\"}");
        assertMalformed(catchThrowable(() -> saying(longer).ask("n2", HELLO)), "more than 1048576 bytes");
    }

    @Test
    void questionsTamperedWith() {
        answers.on(Hello.class, hello -> new Reply(hello.to()));
        QuestionCodec codec = new QuestionCodec(json);
        Fuzz.of(List.of(codec.encode(HELLO), codec.encode(new Hello("späť", List.of("a", "b"), "x"))))
                .refusing(QuorateException.class)
                .run(request -> serve(request));
    }

    @Test
    void answersTamperedWith() {
        Fuzz.of(List.of(bytes("{\"text\":\"12345\"}")))
                .refusing(QuorateException.class)
                .run(answer -> saying(answer).ask("n2", HELLO));
        Fuzz.of(List.of(bytes("\0\0\0\20{\"text\":\"12345\"}rest")))
                .refusing(QuorateException.class)
                .refusing(IOException.class)
                .run(answer -> saying(answer).open("n2", new Many(1)).close());
    }

    @Test
    void aFamilyIsCompleteWhenEachOfItIsAnswered() {
        answers.on(Hello.class, hello -> new Reply(""));
        assertThatThrownBy(() -> answers.requireAll(Greeting.class))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("test.many");
        answers.streamed(Many.class, (many, reply) -> reply.begin(new Reply("")));
        answers.requireAll(Greeting.class);
    }

    /** The JDK's common pool, in which Ratis acknowledges what this node has on disk, has one or two of them. */
    @Test
    void asksAtOnceOnThreadsOfItsOwn() throws Exception {
        assertThat(questions.atOnce(() -> Thread.currentThread().getName()).get(20, TimeUnit.SECONDS))
                .startsWith("quorate-ask-");
    }

    @Test
    void refusesWhenTooManyAreAskingAlready() throws Exception {
        CountDownLatch answered = new CountDownLatch(1);
        List<CompletableFuture<Boolean>> asking = new ArrayList<>();
        for (int i = 0; i < Questions.THREADS_MAX + Questions.WAITING_MAX; i++) {
            asking.add(questions.atOnce(() -> awaits(answered)));
        }
        assertThat(questions.atOnce(() -> awaits(answered))).isCompletedExceptionally();
        answered.countDown();
        for (CompletableFuture<Boolean> one : asking) {
            assertThat(one.get(20, TimeUnit.SECONDS)).isTrue();
        }
    }

    private static boolean awaits(CountDownLatch latch) {
        try {
            return latch.await(20, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Two nodes on loopback, of which the second one answers, and a third one that can't be reached. */
    private final class Pair implements AutoCloseable {
        final PeerChannels asking;
        final PeerChannels answering;
        final Questions questions;

        Pair(Path directory) throws IOException {
            List<Peer> peers = List.of(
                    new Peer("n1", "127.0.0.1", port(), port()),
                    new Peer("n2", "127.0.0.1", port(), port()),
                    new Peer("n3", "127.0.0.1", port(), port()));
            answering = channels("n2", peers, directory.resolve("n2"));
            asking = channels("n1", peers, directory.resolve("n1"));
            questions = new Questions("n1", new Answers(json, peer -> true), asking, json);
        }

        private PeerChannels channels(String self, List<Peer> peers, Path directory) {
            return PeerChannels.start(
                    TransportSettings.of("c", self, peers, directory),
                    (peer, request, answer) -> answers.serve(peer, request, answer),
                    (peer, report) -> {},
                    (node, members) -> false);
        }

        private static int port() throws IOException {
            try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                return free.getLocalPort();
            }
        }

        @Override
        public void close() {
            asking.close();
            answering.close();
        }
    }

    @Test
    void answersAndRefusalsTravel(@TempDir Path directory) throws Exception {
        answers.on(Hello.class, hello -> {
            if (hello.title() != null) {
                throw new QuorateException(ErrorCode.COPY_REFUSED, "no titles here");
            }
            return new Reply("hello " + hello.from());
        });
        try (Pair pair = new Pair(directory)) {
            assertThat(pair.questions.ask("n2", HELLO)).isEqualTo(new Reply("hello [n1]"));
            assertThat(catchThrowable(() -> pair.questions.ask("n2", new Hello("n2", List.of(), "sir"))))
                    .isInstanceOfSatisfying(QuorateException.class, refusal -> {
                        assertThat(refusal.code()).isEqualTo(ErrorCode.COPY_REFUSED);
                        assertThat(refusal.detail()).isEqualTo("n2 refuses: no titles here");
                    });
            assertMalformed(
                    catchThrowable(() -> pair.questions.open("n2", new Many(1))),
                    "n2 refuses: this node doesn't know the question test.many");
            assertThatThrownBy(() -> pair.questions.ask("n3", HELLO))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("no connection to n3");
            assertThatThrownBy(() -> pair.questions.ask("n4", HELLO))
                    .isInstanceOf(IOException.class)
                    .hasMessage("n4 is no member");
        }
    }

    @Test
    void aStreamComesWholeOrEndsWithItsRefusal(@TempDir Path directory) throws Exception {
        answers.streamed(Many.class, (many, reply) -> {
            OutputStream out = reply.begin(new Reply("first"));
            out.write(new byte[Math.abs(many.count())]);
            if (many.count() < 0) {
                throw new QuorateException(ErrorCode.COPY_REFUSED, "that was too many");
            }
        });
        try (Pair pair = new Pair(directory)) {
            try (StreamedAnswer<Reply> whole = pair.questions.open("n2", new Many(5_000_000))) {
                assertThat(whole.head()).isEqualTo(new Reply("first"));
                assertThat(whole.rest().readAllBytes()).hasSize(5_000_000);
            }
            try (StreamedAnswer<Reply> broken = pair.questions.open("n2", new Many(-5_000_000))) {
                assertThatThrownBy(() -> broken.rest().readAllBytes())
                        .isInstanceOf(QuorateException.class)
                        .hasMessageContaining("that was too many");
            }
        }
    }
}
