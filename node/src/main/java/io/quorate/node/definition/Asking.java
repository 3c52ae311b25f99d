// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.definition;

import io.quorate.core.QuorateException;
import io.quorate.node.definition.DefinitionQuestion.Fence;
import io.quorate.node.definition.DefinitionQuestion.Said;
import io.quorate.node.member.MemberReport;
import io.quorate.node.member.Members;
import io.quorate.node.question.Questions;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** What the node that has a definition ordered asks the members with a server, this node included. */
public final class Asking implements AutoCloseable {
    /** More time than a server takes to be closed for clients and to have what they wrote ordered. */
    private static final Duration PATIENCE_MAX = Duration.ofSeconds(12);

    private static final Duration SAID_PATIENCE = Duration.ofSeconds(3);
    private static final String SILENT = "it doesn't answer";

    private final String self;
    private final Supplier<List<String>> names;
    private final Supplier<MemberReport> own;
    private final Members members;
    private final Questions questions;
    private final Duration patience;
    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "quorate-definition-ask");
        thread.setDaemon(true);
        return thread;
    });

    /**
     * @param names the members' names
     * @param own what this node reports about itself
     * @param fenceMax how long a fence waits; nobody is waited for any longer than that
     */
    public Asking(
            String self,
            Supplier<List<String>> names,
            Supplier<MemberReport> own,
            Members members,
            Questions questions,
            Duration fenceMax) {
        this.self = self;
        this.names = names;
        this.own = own;
        this.members = members;
        this.questions = questions;
        this.patience = fenceMax.compareTo(PATIENCE_MAX) < 0 ? fenceMax : PATIENCE_MAX;
    }

    /** The last reports of all members that have a server, or may have one; null for a member never heard of. */
    private Map<String, MemberReport> reports(boolean fresh) {
        Map<String, Members.Heard> heard = members.all();
        Map<String, MemberReport> reports = new TreeMap<>();
        for (String name : names.get()) {
            Members.Heard last = heard.get(name);
            MemberReport report = name.equals(self) ? own.get() : last == null ? null : last.report();
            if (report == null || report.mysql() != null) {
                reports.put(name, name.equals(self) || (last != null && (!fresh || last.isFresh())) ? report : null);
            }
        }
        return reports;
    }

    /** The members whose clients may still write, each with the reason. */
    Map<String, String> fence(long after) throws InterruptedException {
        Map<String, String> refused = new LinkedHashMap<>();
        Map<String, CompletableFuture<String>> asked = new TreeMap<>();
        Map<String, MemberReport> all = reports(true);
        all.forEach((name, report) -> {
            if (report == null) {
                refused.put(name, "it is away; start it, or take it out (quorate leave " + name + ")");
            }
        });
        if (!refused.isEmpty()) {
            return refused;
        }
        all.keySet()
                .forEach(name -> asked.put(name, CompletableFuture.supplyAsync(() -> refusal(name, after), threads)));
        long end = System.nanoTime() + patience.toNanos();
        for (Map.Entry<String, CompletableFuture<String>> one : asked.entrySet()) {
            String why = within(one.getValue(), end);
            if (why != null) {
                refused.put(one.getKey(), why);
            }
        }
        return refused;
    }

    private static String within(CompletableFuture<String> answer, long endNanos) throws InterruptedException {
        try {
            return answer.get(Math.max(0, endNanos - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            return SILENT;
        } catch (ExecutionException e) {
            return String.valueOf(e.getCause().getMessage());
        }
    }

    private String refusal(String name, long after) {
        try {
            return questions.ask(name, new Fence(after)).refusal();
        } catch (IOException | QuorateException e) {
            return e.getMessage() == null ? SILENT : e.getMessage();
        }
    }

    /** What one of the servers says about a definition that it refuses; null when none can be asked that does. */
    String said(long seqno) throws InterruptedException {
        String error = null;
        for (String name : reports(true).keySet()) {
            CompletableFuture<String> answer = CompletableFuture.supplyAsync(() -> error(name, seqno), threads);
            String said = within(answer, System.nanoTime() + SAID_PATIENCE.toNanos());
            error = error == null && !SILENT.equals(said) ? said : error;
        }
        return error;
    }

    private String error(String name, long seqno) {
        try {
            return questions.ask(name, new Said(seqno)).error();
        } catch (IOException | QuorateException e) {
            return null;
        }
    }

    /**
     * The members that have applied the order up to {@code seqno}, with null, and the others, with the reason.
     *
     * @param ordered gives the last seqno that is ordered here. Who knows more of the order may have passed over a
     *     definition that isn't void here yet, and counts later
     */
    Map<String, String> behind(long seqno, LongSupplier ordered) {
        Map<String, String> behind = new TreeMap<>();
        reports(false).forEach((name, report) -> behind.put(name, behind(report, name, seqno, ordered.getAsLong())));
        return behind;
    }

    private String behind(MemberReport report, String name, long seqno, long ordered) {
        if (report != null && report.applied() >= seqno && report.ordered() <= ordered) {
            return null;
        }
        Members.Heard last = members.all().get(name);
        if (report == null || (!name.equals(self) && (last == null || !last.isFresh()))) {
            return "it is away";
        }
        if (report.cause() != null) {
            return report.cause();
        }
        return report.hasSyncedServer() ? "it is at seqno " + report.applied() : "it is " + report.state();
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
