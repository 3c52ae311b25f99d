// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

class GtidSetTest {
    private static final UUID A = UUID.fromString("3e11fa47-71ca-11e1-9e33-c80aa9429562");
    private static final UUID B = UUID.fromString("4e11fa47-71ca-11e1-9e33-c80aa9429562");

    /** Compares with a set that names every GTID. */
    @RepeatedTest(20)
    void isTheSetOfItsMembers() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        GtidSet set = new GtidSet();
        Map<UUID, NavigableSet<Long>> model = new TreeMap<>();
        model.put(A, new TreeSet<>());
        model.put(B, new TreeSet<>());
        for (int step = 0; step < 200; step++) {
            UUID source = random.nextBoolean() ? A : B;
            long from = 1L + random.nextInt(60);
            switch (random.nextInt(4)) {
                case 0 -> {
                    set.remove(new Gtid(source, from));
                    model.get(source).remove(from);
                }
                case 1 -> {
                    set.add(new Gtid(source, from));
                    model.get(source).add(from);
                }
                case 2 -> {
                    long to = from + random.nextInt(8) - 1;
                    set.add(source, from, to);
                    for (long n = from; n <= to; n++) {
                        model.get(source).add(n);
                    }
                }
                default -> {
                    GtidSet other = new GtidSet().add(source, from, from + 3).add(source, from + 6, from + 6);
                    set.addAll(other);
                    model.get(source).addAll(List.of(from, from + 1, from + 2, from + 3, from + 6));
                }
            }
            assertThat(set.toString()).as("seed %d, step %d", seed, step).isEqualTo(text(model));
            assertThat(GtidSet.parse(set.toString())).isEqualTo(set).hasSameHashCodeAs(set);
            assertThat(set.count()).isEqualTo(model.get(A).size() + model.get(B).size());
            assertThat(set.last(source))
                    .isEqualTo(
                            model.get(source).isEmpty() ? 0 : model.get(source).last());
            for (long n = 1; n < 70; n++) {
                assertThat(set.contains(new Gtid(source, n)))
                        .isEqualTo(model.get(source).contains(n));
            }
        }
    }

    @Test
    void takesTaggedOnesAsWhatTheyAre() {
        GtidSet set = GtidSet.parse(B + ":_t1:1," + A + ":1-437:MyTag:1:other:2-3:7");
        assertThat(set).hasToString(A + ":1-437:mytag:1:other:2-3:7," + B + ":_t1:1");
        assertThat(GtidSet.parse(set.toString())).isEqualTo(set);
        assertThat(set.count()).isEqualTo(442);
        assertThat(set.tagged(A)).hasToString(A + ":mytag:1:other:2-3:7");
        assertThat(set.ofOthers(A)).hasToString(B + ":_t1:1");
        assertThat(GtidSet.parse(A + ":1-5").tagged(A).isEmpty()).isTrue();
        assertThat(set.minus(GtidSet.parse(A + ":1-436:other:1-3")))
                .hasToString(A + ":437:mytag:1:other:7," + B + ":_t1:1");
        assertThat(set.and(GtidSet.parse(A + ":mytag:1-9"))).hasToString(A + ":mytag:1");
        assertThat(new GtidSet().addAll(set).addAll(GtidSet.parse(A + ":other:4-6")))
                .hasToString(A + ":1-437:mytag:1:other:2-7," + B + ":_t1:1");
    }

    /** A server's transactions are known by numbers, which each tag counts anew. */
    @Test
    void numbersAreThoseWithoutATag() {
        GtidSet set = GtidSet.parse(A + ":1-2:tag:1-9," + B + ":tag:1-3");
        assertThat(set.last(A)).isEqualTo(2);
        assertThat(set.last(B)).isZero();
        assertThat(set.contains(new Gtid(A, 3))).isFalse();
        assertThat(set.contains(new Gtid(B, 1))).isFalse();
        assertThat(set.above(A, 1)).hasToString(A + ":2");
        assertThat(set.remove(new Gtid(A, 2)).add(new Gtid(B, 7))).hasToString(A + ":1:tag:1-9," + B + ":7:tag:1-3");
    }

    private static String text(Map<UUID, NavigableSet<Long>> model) {
        List<String> sources = new ArrayList<>();
        model.forEach((source, numbers) -> {
            StringBuilder s = new StringBuilder(source.toString());
            for (long n : numbers) {
                if (!numbers.contains(n - 1)) {
                    s.append(':').append(n);
                    long to = n;
                    while (numbers.contains(to + 1)) {
                        to++;
                    }
                    if (to > n) {
                        s.append('-').append(to);
                    }
                }
            }
            if (!numbers.isEmpty()) {
                sources.add(s.toString());
            }
        });
        return String.join(",", sources);
    }

    @Test
    void readsWhatTheServerPrints() {
        String text = "3E11FA47-71CA-11E1-9E33-C80AA9429562:1-5:7,\n4e11fa47-71ca-11e1-9e33-c80aa9429562:3";
        assertThat(GtidSet.parse(text)).hasToString(A + ":1-5:7," + B + ":3");
        assertThat(GtidSet.parse("")).hasToString("");
        assertThat(GtidSet.parse(" \n")).isEqualTo(new GtidSet());
    }

    @Test
    void refusesWhatItDoesNotUnderstand() {
        for (String text : List.of(
                "x",
                A + ":1-",
                A + ":a",
                A + ":0",
                A + ":5-4",
                A + ":1-2-3",
                "1-5",
                A + ":tag",
                A + ":1:tag",
                A + ":1:t-g:1")) {
            assertThatThrownBy(() -> GtidSet.parse(text)).as(text).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void knowsNothingOfAStranger() {
        GtidSet set = new GtidSet().add(A, 1, 5);
        assertThat(set.contains(new Gtid(B, 1))).isFalse();
        assertThat(set.last(B)).isZero();
        assertThat(set.remove(new Gtid(B, 1)).count()).isEqualTo(5);
    }

    @Test
    void subtractsAndIntersects() {
        Random random = new Random(7);
        for (int round = 0; round < 2000; round++) {
            GtidSet a = new GtidSet();
            GtidSet b = new GtidSet();
            Set<Long> numbersOfA = new TreeSet<>();
            Set<Long> numbersOfB = new TreeSet<>();
            for (int i = 0; i < 12; i++) {
                long n = 1L + random.nextInt(16);
                (i % 2 == 0 ? a : b).add(A, n, n);
                (i % 2 == 0 ? numbersOfA : numbersOfB).add(n);
            }
            GtidSet minus = new GtidSet();
            GtidSet and = new GtidSet();
            numbersOfA.forEach(n -> (numbersOfB.contains(n) ? and : minus).add(A, n, n));
            assertThat(a.minus(b).toString()).as("%s minus %s", a, b).isEqualTo(minus.toString());
            assertThat(a.and(b).toString()).as("%s and %s", a, b).isEqualTo(and.toString());
        }
        assertThat(new GtidSet().add(A, 1, 5).add(A, 8, 9).above(A, 4)).hasToString(A + ":5:8-9");
    }
}
