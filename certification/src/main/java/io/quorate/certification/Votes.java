// SPDX-License-Identifier: Apache-2.0
package io.quorate.certification;

import io.quorate.core.Ballot;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;

/**
 * What becomes of a definition that some servers took and others refuse. Galera asks the same question since 4.0 (its
 * cluster error voting); here the ballots are in the order, so the answer is a function of it like any verdict.
 *
 * <p>A definition runs first where a client gave it, beside rows that others were writing. It may have passed there and
 * be refused everywhere else: {@code ADD UNIQUE} that misses a duplicate which was on its way. One server that refuses
 * it may as well be the odd one, because somebody changed it without the binlog. So the first refusal asks the others.
 *
 * <p><b>Who votes.</b> All nodes that said so ({@link Ballot.Kind#VOTER}) when the question came up. The server on
 * which a client ran the definition has a vote, its success, only if it held then what the order says at that place,
 * that is, if nobody else had written to the tables something that it had not seen.
 *
 * <p><b>The answer.</b> The definition is void if more than half of them refuse it. It stands once that is out of reach
 * and somebody has run it. When a node asks to wait no longer ({@link Ballot.Kind#CLOSE}), more refusals than successes
 * make it void, and so does silence. Ballots after the answer change nothing.
 */
final class Votes {
    /** So many definitions are remembered; a question about an older one is decided without its origin's excuse. */
    static final int DEFINITIONS_MAX = 256;
    /** So many answers are remembered. A node further behind asks again, and gets the same answer from the others. */
    static final int ANSWERS_MAX = 1024;

    private static final int NAMES_MAX = 4096;

    /** A definition that passed certification. */
    private record Definition(UUID origin, boolean inPlace) {}

    /** A question that is open. */
    private static final class Question {
        final Set<UUID> electorate = new TreeSet<>();
        final Set<UUID> ran = new TreeSet<>();
        final Set<UUID> refused = new TreeSet<>();
    }

    /** What is known of a definition. */
    enum Answer {
        /** Nobody has asked. */
        UNASKED,
        /** Somebody has asked, and it isn't decided. */
        OPEN,
        STANDS,
        VOID
    }

    private final TreeMap<String, UUID> voters = new TreeMap<>();
    private final TreeMap<Long, Definition> definitions = new TreeMap<>();
    private final TreeMap<Long, Question> questions = new TreeMap<>();
    /** Whether the definition is void, by seqno. */
    private final TreeMap<Long, Boolean> answers = new TreeMap<>();

    /** A definition has passed. */
    void passed(long seqno, UUID origin, boolean inPlace) {
        definitions.put(seqno, new Definition(origin, inPlace));
        if (definitions.size() > DEFINITIONS_MAX) {
            definitions.pollFirstEntry();
        }
    }

    /**
     * Takes a ballot.
     *
     * @return the seqno of the definition that is void now; 0 when none is
     */
    long take(Ballot ballot) {
        UUID server = ballot.server();
        switch (ballot.kind()) {
            case VOTER -> {
                if (voters.size() < NAMES_MAX) {
                    voters.put(ballot.node(), server);
                }
                return 0;
            }
            case NO_VOTER -> {
                voters.remove(ballot.node(), server);
                return 0;
            }
            default -> {
                return about(ballot.seqno(), ballot);
            }
        }
    }

    private long about(long seqno, Ballot ballot) {
        Question question = questions.get(seqno);
        if (question == null) {
            if (ballot.kind() != Ballot.Kind.REFUSED || answers.containsKey(seqno)) {
                return 0;
            }
            question = ask(seqno);
        }
        if (question.electorate.contains(ballot.server())) {
            // The first word of a server counts.
            switch (ballot.kind()) {
                case RAN -> add(question.ran, question.refused, ballot.server());
                case REFUSED -> add(question.refused, question.ran, ballot.server());
                default -> {}
            }
        }
        Boolean isVoid = decide(question, ballot.kind() == Ballot.Kind.CLOSE);
        if (isVoid == null) {
            return 0;
        }
        questions.remove(seqno);
        answers.put(seqno, isVoid);
        if (answers.size() > ANSWERS_MAX) {
            answers.pollFirstEntry();
        }
        return isVoid ? seqno : 0;
    }

    private static void add(Set<UUID> to, Set<UUID> unlessIn, UUID server) {
        if (!unlessIn.contains(server)) {
            to.add(server);
        }
    }

    private Question ask(long seqno) {
        Question question = new Question();
        question.electorate.addAll(voters.values());
        Definition definition = definitions.get(seqno);
        if (definition != null && question.electorate.contains(definition.origin)) {
            if (definition.inPlace) {
                question.ran.add(definition.origin);
            } else {
                question.electorate.remove(definition.origin);
            }
        }
        questions.put(seqno, question);
        return question;
    }

    /** Whether the definition is void; null while that isn't decided. */
    private static Boolean decide(Question question, boolean now) {
        int all = question.electorate.size();
        int ran = question.ran.size();
        int refused = question.refused.size();
        if (2 * refused > all) {
            return true;
        }
        if (ran > 0 && 2 * (all - ran) <= all) {
            return false;
        }
        return now ? Boolean.valueOf(ran == 0 || refused > ran) : null;
    }

    Answer answer(long seqno) {
        if (questions.containsKey(seqno)) {
            return Answer.OPEN;
        }
        Boolean isVoid = answers.get(seqno);
        return isVoid == null ? Answer.UNASKED : isVoid ? Answer.VOID : Answer.STANDS;
    }

    /** The open questions on which this server has a vote and hasn't cast it, by rising seqno. */
    long[] unanswered(UUID server) {
        return questions.entrySet().stream()
                .filter(e -> e.getValue().electorate.contains(server)
                        && !e.getValue().ran.contains(server)
                        && !e.getValue().refused.contains(server))
                .mapToLong(e -> e.getKey())
                .toArray();
    }

    /** Whether a definition that was first run on this server is void, among those after {@code seqno}. */
    boolean hasVoid(UUID origin, long seqno) {
        return answers.tailMap(seqno, false).entrySet().stream()
                .filter(answer -> answer.getValue())
                .map(answer -> definitions.get(answer.getKey()))
                .anyMatch(definition -> definition != null && definition.origin.equals(origin));
    }

    int voters() {
        return voters.size();
    }

    boolean isVoter(String node, UUID server) {
        return server.equals(voters.get(node));
    }

    long digest(long seed) {
        long h = seed;
        for (var voter : voters.entrySet()) {
            h = mix(Mix.of(h, voter.getKey().hashCode()), voter.getValue());
        }
        h = Mix.of(h, definitions.size());
        for (var definition : definitions.entrySet()) {
            h = Mix.of(Mix.of(h, definition.getKey()), definition.getValue().inPlace ? 1 : 0);
            h = mix(h, definition.getValue().origin);
        }
        h = Mix.of(h, questions.size());
        for (var question : questions.entrySet()) {
            h = Mix.of(h, question.getKey());
            h = mix(h, question.getValue().electorate);
            h = mix(h, question.getValue().ran);
            h = mix(h, question.getValue().refused);
        }
        h = Mix.of(h, answers.size());
        for (var answer : answers.entrySet()) {
            h = Mix.of(Mix.of(h, answer.getKey()), answer.getValue() ? 1 : 0);
        }
        return h;
    }

    private static long mix(long seed, UUID id) {
        return Mix.of(Mix.of(seed, id.getMostSignificantBits()), id.getLeastSignificantBits());
    }

    private static long mix(long seed, Set<UUID> ids) {
        long h = Mix.of(seed, ids.size());
        for (UUID id : ids) {
            h = mix(h, id);
        }
        return h;
    }

    void writeTo(DataOutput out) throws IOException {
        out.writeInt(voters.size());
        for (var voter : voters.entrySet()) {
            out.writeUTF(voter.getKey());
            write(out, voter.getValue());
        }
        out.writeInt(definitions.size());
        for (var definition : definitions.entrySet()) {
            out.writeLong(definition.getKey());
            write(out, definition.getValue().origin);
            out.writeBoolean(definition.getValue().inPlace);
        }
        out.writeInt(questions.size());
        for (var question : questions.entrySet()) {
            out.writeLong(question.getKey());
            write(out, question.getValue().electorate);
            write(out, question.getValue().ran);
            write(out, question.getValue().refused);
        }
        out.writeInt(answers.size());
        for (var answer : answers.entrySet()) {
            out.writeLong(answer.getKey());
            out.writeBoolean(answer.getValue());
        }
    }

    private static void write(DataOutput out, UUID id) throws IOException {
        out.writeLong(id.getMostSignificantBits());
        out.writeLong(id.getLeastSignificantBits());
    }

    private static void write(DataOutput out, Set<UUID> ids) throws IOException {
        out.writeInt(ids.size());
        for (UUID id : ids) {
            write(out, id);
        }
    }

    void readFrom(DataInput in) throws IOException {
        for (int left = count(in, NAMES_MAX); left > 0; left--) {
            voters.put(in.readUTF(), id(in));
        }
        for (int left = count(in, DEFINITIONS_MAX); left > 0; left--) {
            definitions.put(in.readLong(), new Definition(id(in), in.readBoolean()));
        }
        for (int left = count(in, Integer.MAX_VALUE); left > 0; left--) {
            long seqno = in.readLong();
            Question question = new Question();
            read(in, question.electorate);
            read(in, question.ran);
            read(in, question.refused);
            questions.put(seqno, question);
        }
        for (int left = count(in, ANSWERS_MAX); left > 0; left--) {
            answers.put(in.readLong(), in.readBoolean());
        }
    }

    private static int count(DataInput in, int max) throws IOException {
        int count = in.readInt();
        State.require(count >= 0 && count <= max, "state with impossible votes");
        return count;
    }

    private static UUID id(DataInput in) throws IOException {
        return new UUID(in.readLong(), in.readLong());
    }

    private static void read(DataInput in, Set<UUID> ids) throws IOException {
        for (int left = count(in, NAMES_MAX); left > 0; left--) {
            ids.add(id(in));
        }
    }
}
