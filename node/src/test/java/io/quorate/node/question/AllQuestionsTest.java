// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.question;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.ist.Donor;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.json.JsonMapper;

/**
 * Asks every question that there is in this module, whichever room it belongs to. They are found among the compiled
 * classes, so that none is forgotten.
 */
class AllQuestionsTest {
    private static final int TRIES = 20;
    private static final byte[] ROWS = "what follows a head".getBytes(StandardCharsets.UTF_8);

    private final JsonMapper json = JsonMapper.builder().build();

    static List<Class<?>> questions() throws IOException, URISyntaxException {
        Path classes = Path.of(Question.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        try (Stream<Path> files = Files.walk(classes)) {
            return files.map(file -> classes.relativize(file).toString())
                    .filter(file -> file.endsWith(".class") && !file.contains("-info"))
                    .map(file -> file.substring(0, file.length() - ".class".length())
                            .replace(java.io.File.separatorChar, '.'))
                    .<Class<?>>map(AllQuestionsTest::load)
                    .filter(type -> Question.class.isAssignableFrom(type) && !type.isInterface())
                    .toList();
        }
    }

    private static Class<?> load(String name) {
        try {
            return Class.forName(name, false, Question.class.getClassLoader());
        } catch (ClassNotFoundException | LinkageError e) {
            throw new IllegalStateException(name, e);
        }
    }

    @Test
    void allOfThemAreThere() throws Exception {
        assertThat(questions()).hasSizeGreaterThanOrEqualTo(15);
    }

    @ParameterizedTest
    @MethodSource("questions")
    <A, Q extends Question<A>> void comesAsItWasAskedAndSoDoesItsAnswer(Class<Q> type) throws Exception {
        long seed = System.nanoTime();
        Samples samples = new Samples(json, seed);
        for (int i = 0; i < TRIES; i++) {
            Object question = samples.of(json.constructType(type));
            Object answer = samples.of(json.constructType(type).findTypeParameters(Question.class)[0]);
            assertThat(answered(question, answer)).as("seed " + seed).isEqualTo(List.of(question, answer));
        }
    }

    /**
     * Asks the question and has it answered; returns the question as it reached the peer, and the answer as it came
     * back.
     */
    @SuppressWarnings("unchecked") // the types of a question and its answer are known at run time only
    private <A, Q extends Question<A>, S extends StreamedQuestion<A>> List<Object> answered(
            Object question, Object answer) throws IOException {
        Object[] came = new Object[1];
        Answers answers = new Answers(json, peer -> true);
        Questions questions =
                new Questions("n1", new Answers(json, peer -> true), (node, request) -> serve(answers, request), json);
        if (question instanceof StreamedQuestion<?>) {
            answers.streamed((Class<S>) question.getClass(), (q, reply) -> {
                came[0] = q;
                try (OutputStream rows = reply.begin((A) answer)) {
                    rows.write(ROWS);
                }
            });
            try (StreamedAnswer<A> stream = questions.open("n2", (S) question)) {
                assertThat(stream.rest().readAllBytes()).isEqualTo(ROWS);
                return List.of(came[0], stream.head());
            }
        }
        answers.on((Class<Q>) question.getClass(), q -> {
            came[0] = q;
            return (A) answer;
        });
        A back = questions.ask("n2", (Q) question);
        return List.of(came[0], back);
    }

    private static ByteArrayInputStream serve(Answers answers, byte[] request) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        answers.serve("n1", request, out);
        return new ByteArrayInputStream(out.toByteArray());
    }

    @Test
    void eachHasANameOfItsOwn() throws Exception {
        assertThat(questions().stream().map(QuestionCodec::name)).doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @MethodSource("questions")
    void eachBelongsToASealedFamily(Class<?> question) {
        assertThat(question.getInterfaces())
                .allMatch(family -> family.isSealed()
                        && Arrays.asList(family.getPermittedSubclasses()).contains(question));
    }

    /** Rows, definitions with the hashes of passwords, and changes of the members are for members. */
    @Test
    void joinersAreToldWhoIsAMemberAndAskToBecomeOne() throws Exception {
        assertThat(questions().stream()
                        .filter(type -> type.isAnnotationPresent(Question.OfJoiners.class))
                        .map(QuestionCodec::name))
                .containsExactlyInAnyOrder("member.who", "member.join");
    }

    @Test
    void noneIsTakenForARequestForATransfer() {
        assertThat(Donor.understands(new byte[] {QuestionCodec.MARK})).isFalse();
        assertThat(QuestionCodec.isQuestion(new byte[] {0}) || QuestionCodec.isQuestion(new byte[] {1}))
                .isFalse();
    }
}
