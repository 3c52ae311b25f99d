// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.definition;

import io.quorate.core.Certified;
import io.quorate.core.OrderedFirst;
import io.quorate.core.WriteSet;
import io.quorate.core.answer.DefinitionAnswer;
import io.quorate.core.answer.DefinitionAnswer.Outcome;
import io.quorate.node.order.NextDefinition;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The course of one definition:
 *
 * <ol>
 *   <li>If rows may not fit it, all servers are closed for clients, and what these have written is ordered ({@link
 *       Fences}). If a server can't be closed, the number is taken up by nothing, which lifts all fences.
 *   <li>It is proposed under the next number ({@link OrderedFirst}), until something is ordered under that number. If
 *       it is something else, all of this begins anew.
 *   <li>Every server runs it at its place, or refuses it. If most refuse it, it is void.
 * </ol>
 *
 * The answer is known when all servers have passed its place, or when most have and the rest doesn't follow.
 */
final class DefinitionCourse {
    private static final Logger log = LoggerFactory.getLogger(DefinitionCourse.class);
    private static final int RACES_MAX = 50;
    /** How long the others are waited for when a server has run it. */
    private static final long OTHERS_NANOS = TimeUnit.SECONDS.toNanos(15);

    private static final long LOOK_MILLIS = 20;

    private final Definitions.Ports ports;
    private final Definitions.Written written;
    private final NextDefinition next;
    private final long nonce = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);
    private volatile DefinitionAnswer answer;

    DefinitionCourse(Definitions.Ports ports, long number, Definitions.Written written) {
        this.ports = ports;
        this.written = written;
        this.next = new NextDefinition(ports.stream(), ports.cache(), ports.order());
        this.answer = new DefinitionAnswer(
                ports.node(), number, written.text().shortText(), "begins", null, 0, List.of(), Map.of(), null);
    }

    DefinitionAnswer answer() {
        return answer;
    }

    void run() {
        try {
            order();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            done(Outcome.UNKNOWN, "the service ends");
        } catch (IOException | RuntimeException e) {
            log.error("the outcome of a definition isn't known", e);
            done(Outcome.UNKNOWN, String.valueOf(e.getMessage()));
        }
    }

    private void order() throws IOException, InterruptedException {
        for (int race = 0; race < RACES_MAX; race++) {
            long after = next.last();
            long seen = ports.stream().lastOrdered();
            if (written.text().needsFence() && !fence(after)) {
                return;
            }
            phase("being ordered");
            WriteSet definition = OrderedFirst.definition(
                    after, nonce, seen, written.micros(), written.text().keys(), written.event());
            if (!next.propose(definition, after) && !next.giveUp(after)) {
                done(
                        Outcome.UNKNOWN,
                        "no majority has ordered it so far, and it may still be ordered; see what the tables are like");
                return;
            }
            Certified mine = next.find(nonce, after, seen);
            if (mine != null) {
                follow(mine.seqno());
                return;
            }
        }
        done(Outcome.NOT_ORDERED, "other definitions came first again and again; try again");
    }

    /** Whether nobody writes; otherwise it is done. */
    private boolean fence(long after) throws InterruptedException {
        phase("waiting until all nodes keep their clients from writing");
        Map<String, String> refused = ports.asking().fence(after);
        if (refused.isEmpty() || next.last() > after) {
            return true;
        }
        next.giveUp(after);
        StringBuilder why = new StringBuilder("clients can't be kept from writing everywhere:");
        refused.forEach((node, reason) ->
                why.append(' ').append(node).append(" (").append(reason).append(')'));
        done(Outcome.NOT_ORDERED, why.toString());
        return false;
    }

    /** Follows it until it is known what becomes of it. */
    private void follow(long seqno) throws InterruptedException {
        log.info("\"{}\" is seqno {}", answer.statement(), seqno);
        long ranNanos = 0;
        while (true) {
            Map<String, String> behind = new TreeMap<>(ports.asking().behind(seqno, ports.stream()::lastOrdered));
            List<String> ran = behind.entrySet().stream()
                    .filter(e -> e.getValue() == null)
                    .map(Map.Entry::getKey)
                    .toList();
            behind.values().removeIf(why -> why == null);
            boolean isVoid = ports.stream().ask(certifier -> certifier.isVoid(seqno));
            if (isVoid) {
                answer = with("being refused", null, seqno, List.of(), Map.of(), null);
                done(Outcome.REFUSED, ports.asking().said(seqno));
                return;
            }
            answer = with("being run", null, seqno, ran, behind, null);
            long now = System.nanoTime();
            ranNanos = ran.isEmpty() ? 0 : ranNanos == 0 ? now : ranNanos;
            boolean doubted = ports.stream().ask(certifier -> certifier.isDoubted(seqno));
            if (!ran.isEmpty() && !doubted && (behind.isEmpty() || now - ranNanos > OTHERS_NANOS)) {
                done(Outcome.RAN, null);
                return;
            }
            Thread.sleep(LOOK_MILLIS);
        }
    }

    private void phase(String phase) {
        answer = with(phase, null, answer.seqno(), answer.ran(), answer.behind(), null);
    }

    private void done(Outcome outcome, String message) {
        answer = with("done", outcome, answer.seqno(), answer.ran(), answer.behind(), message);
        log.info("\"{}\": {}{}", answer.statement(), outcome, message == null ? "" : ", " + message);
    }

    private DefinitionAnswer with(
            String phase, Outcome outcome, long seqno, List<String> ran, Map<String, String> behind, String message) {
        return new DefinitionAnswer(
                answer.node(), answer.number(), answer.statement(), phase, outcome, seqno, ran, behind, message);
    }
}
