// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.conflict;

import io.quorate.core.Certified;
import io.quorate.core.ColumnMask;
import io.quorate.core.answer.ConflictAnswer;
import io.quorate.ist.CacheInspector;
import io.quorate.ist.CacheInspector.SegmentReport;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.databind.json.JsonMapper;

/**
 * {@code java -jar quorate-node.jar log describe|verify|dump DIRECTORY [FROM TO] [json]}: shows what a node's writeset
 * cache holds, whether the node is running or not. Changes nothing. The exit code is 1 when something is damaged.
 */
public final class LogMain {
    private final PrintStream out;
    private final CacheInspector cache;
    private final boolean asJson;
    private final JsonMapper json = JsonMapper.shared();

    private LogMain(PrintStream out, Path directory, boolean asJson) {
        this.out = out;
        this.cache = new CacheInspector(directory);
        this.asJson = asJson;
    }

    public static int run(String[] arguments, PrintStream out, PrintStream err) {
        boolean asJson = arguments[arguments.length - 1].equals("json");
        int count = arguments.length - (asJson ? 1 : 0);
        if (count != 3 && count != 5) {
            err.println("usage: log describe|verify|dump DIRECTORY [FROM TO] [json]");
            return 2;
        }
        Path named = Path.of(arguments[2]);
        // The node's data directory may be named as well.
        Path directory = Files.isDirectory(named.resolve("cache")) ? named.resolve("cache") : named;
        if (!Files.isDirectory(directory)) {
            err.println("quorate: " + named + " is no directory");
            return 1;
        }
        try {
            if (directory.equals(named) && CacheInspector.isEmpty(directory)) {
                err.println("quorate: " + named + " is neither a node's data directory nor the cache in one: name what"
                        + " quorate.data-dir says, which is n1/quorate below a sandbox's directory");
                return 1;
            }
            long from = count == 5 ? Long.parseLong(arguments[3]) : 0;
            long to = count == 5 ? Long.parseLong(arguments[4]) : Long.MAX_VALUE;
            LogMain log = new LogMain(out, directory, asJson);
            return switch (arguments[1]) {
                case "describe" -> log.describe(from, to);
                case "verify" -> log.verify();
                case "dump" -> log.dump(from, to);
                default -> {
                    err.println("quorate: log can't " + arguments[1]);
                    yield 2;
                }
            };
        } catch (NumberFormatException e) {
            err.println("quorate: not a seqno: " + e.getMessage());
            return 2;
        } catch (IOException e) {
            err.println("quorate: " + directory + " can't be read: " + e);
            return 1;
        }
    }

    /** What is counted over all writesets. */
    private static final class Totals {
        private final Map<String, Long> verdicts = new TreeMap<>();
        private final Map<String, Long> origins = new TreeMap<>();
        private long count;
        private long first;
        private long last;
        private long earliest = Long.MAX_VALUE;
        private long latest;

        boolean add(Certified c) {
            first = count++ == 0 ? c.seqno() : first;
            last = c.seqno();
            verdicts.merge(c.verdict().name(), 1L, Long::sum);
            origins.merge(c.writeSet().gtid().source().toString(), 1L, Long::sum);
            earliest = Math.min(earliest, c.writeSet().committedMicros());
            latest = Math.max(latest, c.writeSet().committedMicros());
            return true;
        }

        Map<String, Object> asMap() {
            Map<String, Object> map = new LinkedHashMap<>();
            map.put("writesets", count);
            if (count > 0) {
                map.put("first", first);
                map.put("last", last);
                map.put("earliest", time(earliest));
                map.put("latest", time(latest));
                map.put("verdicts", verdicts);
                map.put("origins", origins);
            }
            return map;
        }
    }

    private int describe(long from, long to) throws IOException {
        Totals totals = new Totals();
        List<SegmentReport> reports = cache.read(from, to, totals::add);
        if (asJson) {
            Map<String, Object> answer = totals.asMap();
            answer.put("segments", reports.stream().map(LogMain::asMap).toList());
            out.println(json.writeValueAsString(answer));
        } else {
            reports.forEach(this::print);
            totals.asMap().forEach((name, value) -> out.println(name + ": " + value));
        }
        return exitCode(reports);
    }

    private int verify() throws IOException {
        List<SegmentReport> reports = cache.verify();
        if (asJson) {
            out.println(
                    json.writeValueAsString(reports.stream().map(LogMain::asMap).toList()));
            return exitCode(reports);
        }
        reports.stream().filter(r -> r.damage() != null).forEach(this::print);
        long damaged = reports.stream().filter(r -> r.damage() != null).count();
        out.println(
                reports.isEmpty()
                        ? "nothing is there"
                        : reports.size() + " segments, seqnos "
                                + reports.get(0).first() + " to "
                                + reports.get(reports.size() - 1).last() + ": "
                                + (damaged == 0 ? "whole" : damaged + " damaged"));
        return exitCode(reports);
    }

    private static int exitCode(List<SegmentReport> reports) {
        return reports.stream().allMatch(r -> r.damage() == null) ? 0 : 1;
    }

    private void print(SegmentReport r) {
        out.println(r.file().getFileName() + "  seqnos " + r.first() + " to " + r.last() + "  " + r.bytes() + " bytes"
                + (r.closed() ? "" : "  open") + (r.damage() == null ? "" : "  DAMAGED: " + r.damage()));
    }

    private static Map<String, Object> asMap(SegmentReport r) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("file", r.file().getFileName().toString());
        map.put("first", r.first());
        map.put("last", r.last());
        map.put("bytes", r.bytes());
        map.put("incarnation", r.incarnation() == null ? null : r.incarnation().toString());
        map.put("closed", r.closed());
        map.put("damage", r.damage());
        return map;
    }

    /** Shows the writesets; in JSON each one is a line of its own. */
    private int dump(long from, long to) throws IOException {
        ConflictReader reader = new ConflictReader(ColumnMask.NONE, (w, hashes) -> Map.of());
        List<SegmentReport> reports = cache.read(from, to, c -> {
            ConflictAnswer.Transaction t = reader.read(c);
            if (asJson) {
                Map<String, Object> line = new LinkedHashMap<>();
                line.put("seqno", c.seqno());
                line.put("verdict", c.verdict().name());
                line.put("conflictsWith", c.conflictsWith());
                line.put("dependsOn", c.dependsOn());
                line.put("kind", c.writeSet().kind().name());
                line.put("lastSeen", c.writeSet().lastSeen());
                line.put("keys", c.writeSet().keys().size());
                line.put("bytes", c.writeSet().payload().size());
                line.put("transaction", t);
                if (c.writeSet().voidsDefinition() > 0) {
                    line.put("voids", c.writeSet().voidsDefinition());
                    line.put("voidsBuilt", c.writeSet().voidsBuilt());
                }
                out.println(json.writeValueAsString(line));
            } else {
                print(c, t);
            }
            return !out.checkError();
        });
        reports.stream().filter(r -> r.damage() != null).forEach(this::print);
        return exitCode(reports);
    }

    private void print(Certified c, ConflictAnswer.Transaction t) {
        out.println(c.seqno() + "  " + c.verdict() + (c.passed() ? "" : " with " + c.conflictsWith()) + "  " + t.gtid()
                + "  " + c.writeSet().kind() + "  " + t.committed() + "  after " + c.dependsOn() + ", seen "
                + c.writeSet().lastSeen() + "  " + t.rowCount() + " rows");
        if (t.statement() != null) {
            out.println("    " + t.statement());
        }
        if (c.writeSet().voidsDefinition() > 0) {
            long[] built = c.writeSet().voidsBuilt();
            out.println("    the definition at seqno " + c.writeSet().voidsDefinition() + " is void"
                    + (built.length == 0 ? "" : ", and what was built on it: " + Arrays.toString(built)));
        }
        for (ConflictAnswer.Row row : t.rows()) {
            out.println("    " + row.table() + "  " + row.before() + " -> " + row.after());
        }
        if (t.rowCount() > t.rows().size()) {
            out.println("    ... " + (t.rowCount() - t.rows().size()) + " more");
        }
    }

    private static String time(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS).toString();
    }
}
