// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.member;

import io.quorate.transport.DurableFile;
import io.quorate.transport.TransportSettings.Peer;
import java.io.IOException;
import java.io.Reader;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * What was last heard from each of the other nodes, which report about themselves several times a second ({@link
 * Reporting}).
 */
public final class Members {
    private static final Logger log = LoggerFactory.getLogger(Members.class);
    /**
     * Used in the keys of {@code directories}: between a name and a generation in the key of a data directory, before a
     * name in the key of the highest generation. No name contains it.
     */
    private static final String GENERATION = "#";

    /** A node that was not heard for this long counts as absent. */
    private static final Duration FRESH = Duration.ofSeconds(2);

    private final Path file;
    private final Map<String, String> directories = new ConcurrentHashMap<>();
    private final JsonMapper json;
    private final Map<String, Heard> heard = new ConcurrentHashMap<>();
    private final Map<String, Sent> sent = new ConcurrentHashMap<>();

    /** A report that came by itself, as it came and as it reads. */
    private record Sent(byte[] bytes, MemberReport report) {}

    /**
     * The last report of a node.
     *
     * @param nanos when the report came, by {@link System#nanoTime}
     */
    public record Heard(MemberReport report, long nanos) {
        public boolean isFresh() {
            return System.nanoTime() - nanos < FRESH.toNanos();
        }

        public long ageSeconds() {
            return TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - nanos);
        }
    }

    /** @param file keeps the data directories and generations with which nodes were heard of */
    public Members(Path file, JsonMapper json) throws IOException {
        this.file = file;
        if (Files.exists(file)) {
            Properties kept = new Properties();
            try (Reader in = Files.newBufferedReader(file)) {
                kept.load(in);
            }
            kept.stringPropertyNames().forEach(name -> directories.put(name, kept.getProperty(name)));
        }
        this.json = json;
    }

    /** Takes in a report that has come by itself. One that says what the last one did isn't read again. */
    public void heard(String node, byte[] report) {
        try {
            Sent last = sent.get(node);
            if (last == null || !Arrays.equals(report, last.bytes)) {
                last = new Sent(report, json.readValue(report, MemberReport.class));
                sent.put(node, last);
            }
            heard(last.report);
        } catch (JacksonException e) {
            log.debug("a report of {} is not understood: {}", node, e.toString());
        }
    }

    /** Takes in a report that was asked for. */
    public void heard(MemberReport report) {
        heard.put(report.node(), new Heard(report, System.nanoTime()));
        if (report.generation() > 0) {
            directory(report.node(), report.generation(), report.directory());
        }
    }

    /** Notes that the node of that name and generation uses that data directory. */
    void directory(String node, int generation, String id) {
        if (id != null) {
            keep(directoryKey(node, generation), id);
        }
    }

    private static String directoryKey(String node, int generation) {
        return node + GENERATION + generation;
    }

    private synchronized void keep(String key, String value) {
        if (!value.equals(directories.put(key, value))) {
            try {
                Properties kept = new Properties();
                kept.putAll(directories);
                StringWriter text = new StringWriter();
                kept.store(text, "The data directories and generations that this node's peers were heard of with");
                DurableFile.write(file, text.toString());
            } catch (IOException e) {
                log.warn("{} can't be written: {}", file, e.toString());
            }
        }
    }

    Map<String, String> directories() {
        return Map.copyOf(directories);
    }

    /** Notes that a node of that name was a member in that generation. */
    public void generation(String node, int generation) {
        String key = GENERATION + node;
        if (generation > generationOf(node)) {
            keep(key, Integer.toString(generation));
        }
    }

    private int generationOf(String node) {
        return Integer.parseInt(directories.getOrDefault(GENERATION + node, "0"));
    }

    /**
     * The latest generation in which a node of that name was a member, according to {@link #directories}; 0 when it
     * never was.
     */
    public static int generation(Map<String, String> directories, String node) {
        return Integer.parseInt(directories.getOrDefault(GENERATION + node, "0"));
    }

    /** The data directory of that member, according to {@link #directories}; null when none is known. */
    public static String directory(Map<String, String> directories, Peer member) {
        return directories.get(directoryKey(member.name(), member.generation()));
    }

    /** Forgets what was heard, because it belongs to a life of the cluster that is over. */
    public void forget() {
        sent.clear();
        heard.clear();
    }

    /** The last report of every other node that was ever heard. */
    public Map<String, Heard> all() {
        return Map.copyOf(heard);
    }

    /** The last reports of the other nodes that are present now. */
    public List<MemberReport> present() {
        Collection<Heard> reports = heard.values();
        return reports.stream().filter(Heard::isFresh).map(Heard::report).toList();
    }
}
