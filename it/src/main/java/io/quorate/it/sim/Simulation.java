// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;

/** Runs seeds, in parallel, and makes a failure as short as it can. */
public final class Simulation {
    private static final int HISTORY_LINES = Integer.getInteger("quorate.history", 120);

    private Simulation() {}

    /** {@code --seeds N --from S}: runs N seeds; exit code 1 and the history when one fails. */
    public static void main(String[] args) throws InterruptedException {
        long seeds = option(args, "--seeds", 2000);
        long from = option(args, "--from", 1);
        long start = System.nanoTime();
        Result result = run(from, seeds, Set.of());
        double seconds = (System.nanoTime() - start) / 1e9;
        System.out.printf(
                "%d seeds from %d in %.1f s, %.0f a minute; %s%n",
                result.seeds, from, seconds, 60 * result.seeds / seconds, result.statistics);
        if (result.failure != null) {
            System.out.println(describe(shrink(result.failure)));
            System.exit(1);
        }
    }

    private static long option(String[] args, String name, long otherwise) {
        int at = Arrays.asList(args).indexOf(name);
        if (at < 0) {
            return otherwise;
        }
        try {
            return Long.parseLong(args[at + 1]);
        } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
            System.err.println("usage: quorate simulate [--seeds N] [--from S]");
            System.exit(2);
            return otherwise;
        }
    }

    /**
     * Many seeds.
     *
     * @param seeds how many ran, up to the first failure
     * @param failure null when all went well
     */
    record Result(long seeds, Run.Outcome failure, Statistics statistics) {}

    /** Runs {@code count} seeds, or fewer when one fails: then the lowest that did among those begun. */
    static Result run(long from, long count, Set<Bug> bugs) throws InterruptedException {
        int threads = Math.max(1, Runtime.getRuntime().availableProcessors());
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        AtomicLong next = new AtomicLong(from);
        AtomicLong end = new AtomicLong(from + count);
        List<Run.Outcome> failures = new ArrayList<>();
        Statistics statistics = new Statistics();
        AtomicLong ran = new AtomicLong();
        try {
            List<Future<?>> workers = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                workers.add(pool.submit(() -> {
                    for (long seed; (seed = next.getAndIncrement()) < end.get(); ) {
                        Run.Outcome outcome = Run.of(seed, bugs).execute();
                        ran.incrementAndGet();
                        synchronized (failures) {
                            statistics.add(outcome.statistics());
                            if (outcome.failed()) {
                                failures.add(outcome);
                                end.set(0);
                            }
                        }
                    }
                }));
            }
            for (Future<?> worker : workers) {
                worker.get();
            }
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        } finally {
            pool.shutdownNow();
        }
        failures.sort((a, b) -> Long.compare(a.run().seed(), b.run().seed()));
        return new Result(ran.get(), failures.isEmpty() ? null : failures.get(0), statistics);
    }

    /** The same seed with less of everything, as long as it still fails. */
    static Run.Outcome shrink(Run.Outcome failure) {
        Run.Outcome shortest = failure;
        for (boolean smaller = true; smaller; ) {
            smaller = false;
            for (Run candidate : smallerThan(shortest.run())) {
                Run.Outcome outcome = candidate.execute();
                if (outcome.failed()) {
                    shortest = outcome;
                    smaller = true;
                    break;
                }
            }
        }
        return shortest;
    }

    private static List<Run> smallerThan(Run r) {
        List<Run> smaller = new ArrayList<>();
        Faults f = r.faults();
        if (!f.equals(Faults.NONE)) {
            smaller.add(r.with(r.nodes(), r.clients(), r.micros(), Faults.NONE));
        }
        for (String kind : Faults.KINDS) {
            if (!f.without(kind).equals(f)) {
                smaller.add(r.with(r.nodes(), r.clients(), r.micros(), f.without(kind)));
            }
        }
        if (r.nodes() > 2) {
            smaller.add(r.with(r.nodes() - 1, r.clients(), r.micros(), f));
        }
        if (r.clients() > 1) {
            smaller.add(r.with(r.nodes(), r.clients() - 1, r.micros(), f));
        }
        for (int share : new int[] {2, 3, 6, 9}) {
            long micros = share == 2 ? r.micros() / 2 : r.micros() * share / (share + 1);
            if (micros > 2000) {
                smaller.add(r.with(r.nodes(), r.clients(), micros, f));
            }
        }
        return smaller;
    }

    static String describe(Run.Outcome failure) {
        List<String> history = failure.history();
        int from = Math.max(0, history.size() - HISTORY_LINES);
        return "seed " + failure.run().seed() + ": " + failure.violation() + "\nshortest found: " + failure.run()
                + (from > 0 ? "\n... " + from + " lines before" : "") + "\n"
                + String.join("\n", history.subList(from, history.size()));
    }
}
