// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.member;

import io.quorate.transport.DurableFile;
import io.quorate.transport.Guests;
import java.io.IOException;
import java.io.Reader;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The nodes that may ask to be members. Where nodes prove who they are, one that is no member is answered only if
 * somebody has admitted it at a member, for a time. That is used up when the node becomes a member: once it is taken
 * out again, its certificate alone is good for nothing.
 *
 * <p>A member keeps what was said to it, and reports it to the others, who go by it for as long as they hear that
 * member.
 */
public final class Admitted implements Guests {
    private static final Logger log = LoggerFactory.getLogger(Admitted.class);
    static final int ADMITTED_MAX = 32;

    private final Path file;
    private final Supplier<List<MemberReport>> present;
    private final Clock clock;
    /** Until when, seconds since the epoch. Guarded by this, which is held while the file is written. */
    private final TreeMap<String, Long> own = new TreeMap<>();

    /** What is in {@link #own}, for whoever must not wait for a disk. */
    private volatile Map<String, Long> said = Map.of();

    /**
     * @param file keeps what was said to this node
     * @param present the last reports of the nodes that are present
     */
    public Admitted(Path file, Supplier<List<MemberReport>> present, Clock clock) throws IOException {
        this.file = file;
        this.present = present;
        this.clock = clock;
        if (Files.exists(file)) {
            Properties kept = new Properties();
            try (Reader in = Files.newBufferedReader(file)) {
                kept.load(in);
            }
            kept.forEach((name, until) -> own.put(name.toString(), Long.valueOf(until.toString())));
        }
        said = Map.copyOf(own);
    }

    /**
     * Admits nodes, once each.
     *
     * @throws IOException when that can't be kept; then they aren't admitted
     */
    public synchronized void admit(Collection<String> nodes, Duration within) throws IOException {
        long until = clock.instant().plus(within).getEpochSecond();
        Map<String, Long> before = Map.copyOf(own);
        nodes.forEach(node -> own.put(node, until));
        forgetThePast();
        try {
            if (own.size() > ADMITTED_MAX) {
                throw new IOException("more than " + ADMITTED_MAX + " nodes would be admitted at once");
            }
            write();
        } catch (IOException e) {
            own.clear();
            own.putAll(before);
            throw e;
        }
        said = Map.copyOf(own);
        log.info("Admitted for {} hours: {}", within.toHours(), String.join(", ", nodes));
    }

    /** These are members: what they were admitted for has come to pass. */
    synchronized void used(Collection<String> members) {
        if (own.keySet().removeAll(members)) {
            said = Map.copyOf(own);
            try {
                write();
            } catch (IOException e) {
                log.warn("{} can't be written: {}", file, e.toString());
            }
        }
    }

    /** What this node reports: names, and until when each is admitted, in seconds since the epoch. */
    Map<String, Long> report() {
        long now = clock.instant().getEpochSecond();
        Map<String, Long> report = new TreeMap<>(said);
        report.values().removeIf(until -> until <= now);
        return report;
    }

    @Override
    public boolean isGuest(String node, Predicate<String> members) {
        long now = clock.instant().getEpochSecond();
        return report().containsKey(node)
                || present.get().stream()
                        .filter(report -> report.admitted() != null && members.test(report.node()))
                        .map(report -> report.admitted().get(node))
                        .anyMatch(until -> until != null && until > now);
    }

    private void forgetThePast() {
        long now = clock.instant().getEpochSecond();
        own.values().removeIf(until -> until <= now);
    }

    private void write() throws IOException {
        Properties kept = new Properties();
        own.forEach((name, until) -> kept.setProperty(name, until.toString()));
        StringWriter text = new StringWriter();
        kept.store(text, "Nodes that may ask to be members, and until when (seconds since 1970). Kept by the service.");
        DurableFile.write(file, text.toString());
    }
}
