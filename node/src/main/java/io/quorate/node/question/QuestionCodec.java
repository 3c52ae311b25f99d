// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.question;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.RecordComponent;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.json.JsonMapper;

/**
 * How questions and answers look between nodes; numbers are big-endian.
 *
 * <pre>
 * question          u8 {@link #MARK} | u8 length of name | name, ASCII | JSON of the record, to the end
 * answer            JSON, to the end
 * streamed answer   i32 length | JSON of the head | bytes, to the end
 * </pre>
 *
 * The mark tells a question from what the donor of an incremental transfer is asked, which begins with 0 or 1.
 */
final class QuestionCodec {
    static final byte MARK = 'Q';
    static final int NAME_BYTES_MAX = 100;
    /** What a node says in one message before it is known what it wants. */
    static final int QUESTION_BYTES_MAX = 64 << 10;
    /** No answer takes more than this part of the heap, however much its kind may have. */
    private static final int HEAP_SHARE = 4;

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9.-]{1," + NAME_BYTES_MAX + "}");

    private final JsonMapper json;
    private final int answerBytesMax;

    /**
     * A question of which only the name has been read.
     *
     * @param at index in {@code bytes} at which its JSON begins
     */
    record Named(String name, byte[] bytes, int at) {}

    QuestionCodec(JsonMapper json) {
        this(json, Runtime.getRuntime().maxMemory() / HEAP_SHARE);
    }

    /** @param answerBytesMax no answer may have more, of whatever kind */
    QuestionCodec(JsonMapper json, long answerBytesMax) {
        this.json = json;
        this.answerBytesMax = (int) Math.min(Integer.MAX_VALUE - 8, answerBytesMax);
    }

    private int answerBytesMax(Question<?> question) {
        Question.AnswerBytesMax own = question.getClass().getAnnotation(Question.AnswerBytesMax.class);
        return Math.min(answerBytesMax, own == null ? Question.ANSWER_BYTES_MAX : own.value());
    }

    /** @throws IllegalStateException when the question has no name, which is a mistake in the program */
    static String name(Class<?> question) {
        Question.Name name = question.getAnnotation(Question.Name.class);
        if (name == null || !NAME.matcher(name.value()).matches() || !question.isRecord()) {
            throw new IllegalStateException(question + " is no record with a @Question.Name");
        }
        return name.value();
    }

    static boolean isQuestion(byte[] bytes) {
        return bytes.length > 0 && bytes[0] == MARK;
    }

    byte[] encode(Question<?> question) {
        byte[] name = name(question.getClass()).getBytes(StandardCharsets.US_ASCII);
        byte[] body = json.writeValueAsBytes(question);
        int length = 2 + name.length + body.length;
        if (length > QUESTION_BYTES_MAX) {
            throw malformed("the question " + name(question.getClass()) + " has " + length + " bytes, at most "
                    + QUESTION_BYTES_MAX + " are possible");
        }
        return ByteBuffer.allocate(length)
                .put(MARK)
                .put((byte) name.length)
                .put(name)
                .put(body)
                .array();
    }

    static Named named(byte[] bytes) {
        if (!isQuestion(bytes)) {
            throw malformed("what was asked is no question");
        }
        if (bytes.length > QUESTION_BYTES_MAX) {
            throw malformed(
                    "a question has " + bytes.length + " bytes, at most " + QUESTION_BYTES_MAX + " are possible");
        }
        int length = bytes.length < 2 ? 0 : bytes[1] & 0xff;
        if (length == 0 || length > NAME_BYTES_MAX || 2 + length > bytes.length) {
            throw malformed("a question is cut short");
        }
        String name = new String(bytes, 2, length, StandardCharsets.US_ASCII);
        if (!NAME.matcher(name).matches()) {
            throw malformed("a question has no name");
        }
        return new Named(name, bytes, 2 + length);
    }

    <Q> Q decode(Named asked, Class<Q> type) {
        Q question;
        try {
            question = json.readValue(asked.bytes(), asked.at(), asked.bytes().length - asked.at(), type);
        } catch (JacksonException e) {
            throw malformed("the question " + asked.name() + " has an unknown form", e);
        }
        if (question == null) {
            throw malformed("the question " + asked.name() + " is empty");
        }
        requireComplete(asked.name(), question);
        return question;
    }

    private static void requireComplete(String name, Object question) {
        for (RecordComponent component : question.getClass().getRecordComponents()) {
            if (component.getAnnotatedType().isAnnotationPresent(Nullable.class)) {
                continue;
            }
            try {
                component.getAccessor().setAccessible(true);
                if (component.getAccessor().invoke(question) == null) {
                    throw malformed("the question " + name + " comes without its " + component.getName());
                }
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** The type of the answer: what the class has as the type parameter of {@link Question}. */
    private JavaType answerType(Class<?> question) {
        return json.constructType(question).findTypeParameters(Question.class)[0];
    }

    void writeAnswer(Object answer, OutputStream out) throws IOException {
        out.write(json.writeValueAsBytes(answer));
    }

    /** @param peer name of the node that answers */
    <A> A readAnswer(Question<A> question, String peer, InputStream in) throws IOException {
        int most = answerBytesMax(question);
        byte[] bytes = in.readNBytes(most);
        if (bytes.length == most && in.read() >= 0) {
            throw tooLong(peer, question);
        }
        return parsed(question, peer, bytes);
    }

    OutputStream writeHead(Object head, OutputStream out) throws IOException {
        byte[] text = json.writeValueAsBytes(head);
        DataOutputStream data = new DataOutputStream(out);
        data.writeInt(text.length);
        data.write(text);
        data.flush();
        return out;
    }

    <H> StreamedAnswer<H> readHead(StreamedQuestion<H> question, String peer, InputStream in) throws IOException {
        DataInputStream data = new DataInputStream(in);
        int length = data.readInt();
        if (length < 0 || length > answerBytesMax(question)) {
            throw tooLong(peer, question);
        }
        byte[] bytes = data.readNBytes(length);
        if (bytes.length < length) {
            throw new IOException("the answer of " + peer + " breaks off");
        }
        return new StreamedAnswer<>(parsed(question, peer, bytes), data);
    }

    private <A> A parsed(Question<A> question, String peer, byte[] bytes) {
        A answer;
        try {
            answer = json.readValue(bytes, answerType(question.getClass()));
        } catch (JacksonException e) {
            throw malformed(peer + " answered " + name(question.getClass()) + " in an unknown form", e);
        }
        if (answer == null) {
            throw malformed(peer + " answered nothing to " + name(question.getClass()));
        }
        return answer;
    }

    private QuorateException tooLong(String peer, Question<?> question) {
        int most = answerBytesMax(question);
        return malformed(peer + " answered " + name(question.getClass()) + " with more than " + most + " bytes"
                + (most == answerBytesMax ? "; a larger heap (-Xmx) takes more" : ""));
    }

    static QuorateException malformed(String what) {
        return malformed(what, null);
    }

    private static QuorateException malformed(String what, @Nullable Exception cause) {
        return new QuorateException(ErrorCode.MALFORMED_MESSAGE, what, cause);
    }
}
