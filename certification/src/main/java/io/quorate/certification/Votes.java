// SPDX-License-Identifier: Apache-2.0
package io.quorate.certification;

import io.quorate.core.Ballot;
import io.quorate.core.Keys;
import io.quorate.core.WriteSet;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.LongStream;

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
 *
 * <p><b>What was built on it.</b> Until it is certain that a definition stands, it is noted what needs it of all that
 * is written on servers that have run it ({@link Definition}). If it turns out void, so is that. A definition stands
 * without any question once so many of those who would vote have run it that no vote could make it void: their lastSeen
 * says so. It also stands once too much is built on it to be taken back, or too much came after it for the index to
 * tell.
 */
final class Votes {
    /** Of so many definitions it may be open at a time whether they stand; then the oldest does. */
    static final int DEFINITIONS_MAX = 1024;
    /** So many answers are remembered. To a node further behind than that, every definition stands. */
    static final int ANSWERS_MAX = 1024;
    /** So many writesets may be built on definitions that are open; then the definition stands. */
    static final int BUILT_MAX = 1 << 16;
    /** So many of those that are void are remembered, beside those of the last definition. */
    static final int VOID_MAX = 4 * BUILT_MAX;

    private static final int NAMES_MAX = 4096;
    private static final int NAME_CHARACTERS_MAX = 255;

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

    private final Origins origins;
    private final TreeMap<String, UUID> voters = new TreeMap<>();
    /** Definitions that passed and may turn out void. */
    private final TreeMap<Long, Definition> open = new TreeMap<>();
    /** Those that have. */
    private final TreeMap<Long, Definition> voids = new TreeMap<>();

    private final TreeMap<Long, Question> questions = new TreeMap<>();
    /** Whether the definition is void, by seqno. */
    private final TreeMap<Long, Boolean> answers = new TreeMap<>();

    private int openBuilt;
    private int voidBuilt;
    private long lastVoid;

    /** @param origins tell what servers have seen */
    Votes(Origins origins) {
        this.origins = origins;
    }

    /** A definition has passed. */
    void passed(long seqno, WriteSet definition, boolean inPlace) {
        boolean changesColumns = !definition.keys().contains(Keys.KEEPS_COLUMNS);
        open.put(seqno, new Definition(seqno, definition.gtid().source(), inPlace, changesColumns));
        if (open.size() > DEFINITIONS_MAX) {
            stands(open.firstKey());
        }
    }

    /** Notes what a writeset that passes at {@code seqno}, and isn't in the index yet, was built on. */
    void note(WriteSet w, long seqno, KeyIndex index) {
        if (open.isEmpty()) {
            return;
        }
        for (Definition definition : open.values().toArray(new Definition[0])) {
            if (definition.isUnder(w, index)) {
                definition.add(seqno);
                if (++openBuilt > BUILT_MAX) {
                    stands(definition.seqno);
                }
            }
        }
    }

    /** The latest void definition that {@code w} was built on, or on what was built on that; 0 for none. */
    long voidUnder(WriteSet w, KeyIndex index) {
        if (w.lastSeen() >= lastVoid) {
            return 0;
        }
        for (Definition definition : voids.descendingMap().values()) {
            if (w.lastSeen() < definition.voidBy() && definition.isUnder(w, index)) {
                return definition.seqno;
            }
        }
        return 0;
    }

    /**
     * Finds the definitions that can't become void any more, because enough servers have run them or the index has
     * forgotten them.
     */
    void settle(long cut) {
        if (open.isEmpty()) {
            return;
        }
        Set<UUID> servers = new TreeSet<>(voters.values());
        for (Definition definition : open.values().toArray(new Definition[0])) {
            if (definition.seqno <= cut
                    || (!questions.containsKey(definition.seqno) && isOutOfReach(definition, servers))) {
                stands(definition.seqno);
            }
        }
    }

    private boolean isOutOfReach(Definition definition, Set<UUID> servers) {
        Question question = new Question();
        question.electorate.addAll(servers);
        begin(question, definition);
        return Boolean.FALSE.equals(decide(question, false));
    }

    private void stands(long seqno) {
        openBuilt -= open.remove(seqno).count();
        if (questions.remove(seqno) != null) {
            answer(seqno, false);
        }
    }

    /**
     * Takes a ballot.
     *
     * @param next the seqno of the verdict, if there is one
     * @return the seqno of the definition that is void now; 0 when none is
     */
    long take(Ballot ballot, long next) {
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
                return about(ballot.seqno(), ballot, next);
            }
        }
    }

    private long about(long seqno, Ballot ballot, long next) {
        Question question = questions.get(seqno);
        if (question == null) {
            if (ballot.kind() != Ballot.Kind.REFUSED || answers.containsKey(seqno)) {
                return 0;
            }
            if (!open.containsKey(seqno)) {
                answer(seqno, false);
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
        if (!isVoid) {
            stands(seqno);
            return 0;
        }
        questions.remove(seqno);
        answer(seqno, true);
        isVoid(open.remove(seqno), next, question.ran);
        return seqno;
    }

    private void answer(long seqno, boolean isVoid) {
        answers.put(seqno, isVoid);
        if (answers.size() > ANSWERS_MAX) {
            forget(answers.pollFirstEntry().getKey());
        }
    }

    private void isVoid(Definition definition, long by, Set<UUID> ran) {
        Set<UUID> haveRun = new TreeSet<>(origins.thatHaveSeen(definition.seqno));
        haveRun.addAll(ran);
        definition.voidBy(by, haveRun);
        lastVoid = by;
        openBuilt -= definition.count();
        voidBuilt += definition.count();
        voids.put(definition.seqno, definition);
        while (voidBuilt > VOID_MAX && voids.size() > 1) {
            forget(voids.firstKey());
        }
    }

    private void forget(long seqno) {
        Definition forgotten = voids.remove(seqno);
        voidBuilt -= forgotten == null ? 0 : forgotten.count();
    }

    private static void add(Set<UUID> to, Set<UUID> unlessIn, UUID server) {
        if (!unlessIn.contains(server)) {
            to.add(server);
        }
    }

    private Question ask(long seqno) {
        Question question = new Question();
        question.electorate.addAll(voters.values());
        begin(question, open.get(seqno));
        questions.put(seqno, question);
        return question;
    }

    /** Who has run it, by what the order has heard of them. */
    private void begin(Question question, Definition definition) {
        if (!definition.inPlace) {
            question.electorate.remove(definition.origin);
        }
        for (UUID server : question.electorate) {
            if (server.equals(definition.origin) || origins.hasSeen(server, definition.seqno)) {
                question.ran.add(server);
            }
        }
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
        return voids.tailMap(seqno, false).values().stream().anyMatch(d -> d.origin.equals(origin));
    }

    /** Whether the writeset at this seqno is a void definition, or void because it was built on one. */
    boolean isVoid(long seqno) {
        return answer(seqno) == Answer.VOID
                || voids.headMap(seqno).values().stream().anyMatch(definition -> definition.has(seqno));
    }

    /** The seqnos of what is void with this definition. */
    long[] builtOn(long definition) {
        return voids.get(definition).built();
    }

    /** Seqnos of the definitions that may turn out void, and of what was built on them. */
    long[] unsettled() {
        return open.values().stream()
                .flatMapToLong(definition ->
                        LongStream.concat(LongStream.of(definition.seqno), LongStream.of(definition.built())))
                .toArray();
    }

    /** The seqno of the last verdict that a definition is void, 0 when there was none. */
    long lastVoid() {
        return lastVoid;
    }

    /** Of how many definitions it is open whether they stand. */
    int openDefinitions() {
        return open.size();
    }

    int voters() {
        return voters.size();
    }

    int voters(Collection<String> nodes) {
        return (int) nodes.stream().filter(voters::containsKey).count();
    }

    /** The server of a node, if it votes; otherwise null. */
    UUID voter(String node) {
        return voters.get(node);
    }

    boolean isVoter(String node, UUID server) {
        return server.equals(voters.get(node));
    }

    long digest(long seed) {
        long h = seed;
        for (var voter : voters.entrySet()) {
            h = mix(Mix.of(h, voter.getKey().hashCode()), voter.getValue());
        }
        for (TreeMap<Long, Definition> all : List.of(open, voids)) {
            h = Mix.of(h, all.size());
            for (Definition definition : all.values()) {
                h = definition.digest(h);
            }
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
        return Mix.of(h, lastVoid);
    }

    static long mix(long seed, UUID id) {
        return Mix.of(Mix.of(seed, id.getMostSignificantBits()), id.getLeastSignificantBits());
    }

    static long mix(long seed, Set<UUID> ids) {
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
        for (TreeMap<Long, Definition> all : List.of(open, voids)) {
            out.writeInt(all.size());
            for (Definition definition : all.values()) {
                definition.writeTo(out);
            }
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
        out.writeLong(lastVoid);
    }

    static void write(DataOutput out, UUID id) throws IOException {
        out.writeLong(id.getMostSignificantBits());
        out.writeLong(id.getLeastSignificantBits());
    }

    static void write(DataOutput out, Set<UUID> ids) throws IOException {
        out.writeInt(ids.size());
        for (UUID id : ids) {
            write(out, id);
        }
    }

    void readFrom(DataInput in) throws IOException {
        for (int left = count(in, NAMES_MAX); left > 0; left--) {
            String name = in.readUTF();
            State.require(name.length() <= NAME_CHARACTERS_MAX, "state with a voter's name that is none");
            voters.put(name, id(in));
        }
        openBuilt = read(in, open, DEFINITIONS_MAX, BUILT_MAX);
        voidBuilt = read(in, voids, ANSWERS_MAX, VOID_MAX + BUILT_MAX);
        for (int left = count(in, DEFINITIONS_MAX); left > 0; left--) {
            long seqno = in.readLong();
            Question question = new Question();
            read(in, question.electorate, NAMES_MAX);
            read(in, question.ran, NAMES_MAX);
            read(in, question.refused, NAMES_MAX);
            questions.put(seqno, question);
        }
        for (int left = count(in, ANSWERS_MAX); left > 0; left--) {
            answers.put(in.readLong(), in.readBoolean());
        }
        lastVoid = in.readLong();
    }

    /** How much was built on them. */
    private static int read(DataInput in, Map<Long, Definition> definitions, int max, int builtMax) throws IOException {
        int built = 0;
        for (int left = count(in, max); left > 0; left--) {
            Definition definition = Definition.readFrom(in);
            definitions.put(definition.seqno, definition);
            built += definition.count();
            State.require(built <= builtMax, "state with " + built + " writesets built on definitions");
        }
        return built;
    }

    static int count(DataInput in, int max) throws IOException {
        int count = in.readInt();
        State.require(count >= 0 && count <= max, "state with impossible votes");
        return count;
    }

    static UUID id(DataInput in) throws IOException {
        return new UUID(in.readLong(), in.readLong());
    }

    static void read(DataInput in, Set<UUID> ids, int max) throws IOException {
        for (int left = count(in, max); left > 0; left--) {
            ids.add(id(in));
        }
    }
}
