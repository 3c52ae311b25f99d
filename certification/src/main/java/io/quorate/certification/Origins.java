// SPDX-License-Identifier: Apache-2.0
package io.quorate.certification;

import io.quorate.core.OrderedFirst;
import io.quorate.core.OriginPosition;
import io.quorate.core.ProposalCodec;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/** The origins heard of, numbered in the order of their appearance, and how far each has come. */
final class Origins {
    static final int UNKNOWN = -1;

    private final Map<UUID, Integer> numbers = new HashMap<>();
    private final List<UUID> names = new ArrayList<>();
    private final List<OriginPosition> positions = new ArrayList<>();
    /** By number, parallel to {@link #positions}, for the loop that asks what all have seen. */
    private long[] lastSeen = new long[16];

    private final List<Failures> failures = new ArrayList<>();
    private final List<UnseenDefinitions> definitions = new ArrayList<>();

    int size() {
        return names.size();
    }

    /** The number of an origin, {@link #UNKNOWN} when it was never heard of. */
    int find(UUID origin) {
        return numbers.getOrDefault(origin, UNKNOWN);
    }

    int add(UUID origin) {
        int number = names.size();
        numbers.put(origin, number);
        names.add(origin);
        positions.add(OriginPosition.NONE);
        failures.add(new Failures());
        definitions.add(new UnseenDefinitions());
        if (number == lastSeen.length) {
            lastSeen = Arrays.copyOf(lastSeen, 2 * number);
        }
        return number;
    }

    OriginPosition position(int number) {
        return number == UNKNOWN ? OriginPosition.NONE : positions.get(number);
    }

    void move(int number, OriginPosition to) {
        positions.set(number, to);
        // Nobody waits for what is no server.
        lastSeen[number] = OrderedFirst.isOrigin(names.get(number)) ? Long.MAX_VALUE : to.lastSeen();
        failures.get(number).seen(to.lastSeen());
        definitions.get(number).seen(lastSeen[number]);
    }

    Failures failures(int number) {
        return failures.get(number);
    }

    UnseenDefinitions definitions(int number) {
        return definitions.get(number);
    }

    long[] lastSeen() {
        return lastSeen;
    }

    /** Whether an origin has reported that it has applied this seqno. */
    boolean hasSeen(UUID origin, long seqno) {
        return position(find(origin)).lastSeen() >= seqno;
    }

    Set<UUID> thatHaveSeen(long seqno) {
        return names.stream().filter(name -> hasSeen(name, seqno)).collect(Collectors.toSet());
    }

    Map<UUID, OriginPosition> all() {
        Map<UUID, OriginPosition> all = new LinkedHashMap<>();
        for (int i = 0; i < names.size(); i++) {
            all.put(names.get(i), positions.get(i));
        }
        return Collections.unmodifiableMap(all);
    }

    long digest(long seed) {
        long h = seed;
        for (int i = 0; i < names.size(); i++) {
            h = Mix.of(
                    Mix.of(h, names.get(i).getMostSignificantBits()),
                    names.get(i).getLeastSignificantBits());
            h = Mix.of(Mix.of(h, positions.get(i).last()), positions.get(i).lastSeen());
            h = Mix.of(h, positions.get(i).undecided().length);
            for (long number : positions.get(i).undecided()) {
                h = Mix.of(h, number);
            }
            h = definitions.get(i).digest(failures.get(i).digest(h));
        }
        return h;
    }

    void writeTo(DataOutput out) throws IOException {
        out.writeInt(names.size());
        for (int i = 0; i < names.size(); i++) {
            OriginPosition p = positions.get(i);
            out.writeLong(names.get(i).getMostSignificantBits());
            out.writeLong(names.get(i).getLeastSignificantBits());
            out.writeLong(p.last());
            out.writeLong(p.lastSeen());
            out.writeInt(p.undecided().length);
            for (long number : p.undecided()) {
                out.writeLong(number);
            }
            failures.get(i).writeTo(out);
            definitions.get(i).writeTo(out);
        }
    }

    void readFrom(DataInput in) throws IOException {
        int count = in.readInt();
        State.require(count >= 0 && count <= Entry.ORIGINS_MAX, "state with " + count + " origins");
        for (int i = 0; i < count; i++) {
            UUID origin = new UUID(in.readLong(), in.readLong());
            State.require(find(origin) == UNKNOWN, "state with an origin twice");
            int number = add(origin);
            long last = in.readLong();
            long seen = in.readLong();
            List<Long> undecided = new ArrayList<>();
            int left = in.readInt();
            State.require(
                    left >= 0 && left <= ProposalCodec.UNDECIDED_MAX, "state with " + left + " undecided transactions");
            for (; left > 0; left--) {
                undecided.add(in.readLong());
            }
            move(
                    number,
                    new OriginPosition(
                            last, seen, undecided.stream().mapToLong(n -> n).toArray()));
            failures.get(number).readFrom(in);
            definitions.get(number).readFrom(in);
        }
    }
}
