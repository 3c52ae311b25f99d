// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.member;

import io.quorate.certification.OrderedStream;
import io.quorate.core.ErrorCode;
import io.quorate.core.FromOutside;
import io.quorate.core.QuorateException;
import io.quorate.transport.TransportSettings.Peer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * What was last heard from each of the other nodes, which report about themselves several times a second ({@link
 * Reporting}).
 */
public final class Members implements OrderedStream.Servers {
    private static final Logger log = LoggerFactory.getLogger(Members.class);
    /** A node that was not heard for this long counts as absent. */
    private static final Duration FRESH = Duration.ofSeconds(2);

    /** Of nodes that are no members, so many are kept; they are only shown. */
    static final int STRANGERS_MAX = 16;

    /** A report has no more than this, bytes. */
    public static final int REPORT_BYTES_MAX = 64 << 10;

    private final HeardNames names;
    private final Set<String> known = ConcurrentHashMap.newKeySet();
    private final JsonMapper json;
    private final Map<String, Heard> heard = new ConcurrentHashMap<>();
    private final Map<String, Heard> strangers = new ConcurrentHashMap<>();
    private final Map<String, Sent> sent = new ConcurrentHashMap<>();
    /** The node that a server is beside, by the server's UUID. */
    private final Map<String, String> beside = new ConcurrentHashMap<>();
    /** Nodes that say that a server is beside them which another one said before, with that server. */
    private final Map<String, String> disputed = new ConcurrentHashMap<>();

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

    /**
     * @param file keeps the data directories and generations with which members were heard of
     * @throws QuorateException DISK when that file can't be one
     */
    public Members(Path file, JsonMapper json) throws IOException {
        this.names = new HeardNames(file);
        this.json = json;
    }

    /** Reports of these count from now on: they are members, or are configured to be. */
    public void know(Collection<Peer> members) {
        for (Peer member : members) {
            known.add(member.name());
            strangers.remove(member.name());
        }
    }

    /**
     * Takes in a report that has come by itself. One that says what the last one did isn't read again. Waits for no
     * disk: entries on their way to the leader would wait with it.
     */
    public void heard(String node, byte[] report) {
        try {
            Sent last = sent.get(node);
            if (last == null || !Arrays.equals(report, last.bytes)) {
                last = new Sent(report, read(node, report));
            }
            if (known.contains(node)) {
                sent.put(node, last);
                heard(last.report);
            } else {
                stranger(last.report);
            }
        } catch (QuorateException e) {
            log.debug("a report is not understood: {}", e.getMessage());
        }
    }

    private MemberReport read(String node, byte[] report) {
        if (report.length > REPORT_BYTES_MAX) {
            throw malformed(node + " reports " + report.length + " bytes, at most " + REPORT_BYTES_MAX + " are read");
        }
        try {
            return Plausible.report(node, json.readValue(report, MemberReport.class));
        } catch (JacksonException e) {
            throw malformed("a report of " + node + " is none: " + FromOutside.oneLine(e.getMessage()));
        }
    }

    private static QuorateException malformed(String what) {
        return new QuorateException(ErrorCode.MALFORMED_MESSAGE, FromOutside.oneLine(what));
    }

    /** Takes the place of one that isn't heard any more, if there are too many. */
    private synchronized void stranger(MemberReport report) {
        if (!strangers.containsKey(report.node()) && strangers.size() >= STRANGERS_MAX) {
            strangers.values().removeIf(other -> !other.isFresh());
        }
        if (strangers.containsKey(report.node()) || strangers.size() < STRANGERS_MAX) {
            strangers.put(report.node(), new Heard(report, System.nanoTime()));
        }
    }

    /** Takes in a report of a node that was asked for it, or of a member. */
    public void heard(MemberReport report) {
        heard.put(report.node(), new Heard(report, System.nanoTime()));
        if (report.server() != null && known.contains(report.node())) {
            beside.entrySet()
                    .removeIf(each -> each.getValue().equals(report.node())
                            && !each.getKey().equals(report.server()));
            beside.merge(report.server(), report.node(), (former, now) -> first(report.server(), former, now));
        }
        if (report.generation() > 0 && known.contains(report.node())) {
            directory(report.node(), report.generation(), report.directory());
        }
    }

    /** Whoever says it first, as long as it goes on saying so: nobody else can take it from there. */
    private String first(String server, String former, String now) {
        if (former.equals(now) || !isBeside(server, former)) {
            disputed.remove(now);
            return now;
        }
        if (!server.equals(disputed.put(now, server))) {
            log.warn(
                    "{} and {} both say that the server {} is beside them. What {} sends of it isn't ordered for as"
                            + " long as {} says so. Either one server's data directory is a copy of the other's: then"
                            + " stop that mysqld, delete its auto.cnf, and start it again. Or one of the two services"
                            + " has the other one's server in quorate.mysql, or isn't what it says it is",
                    former,
                    now,
                    server,
                    now,
                    former);
        }
        return former;
    }

    private boolean isBeside(String server, String node) {
        Heard last = heard.get(node);
        return last != null && last.isFresh() && server.equals(last.report().server());
    }

    /** The node that a server is beside, which is present and was the first to say so; null if that is this one. */
    @Override
    public @Nullable String otherOf(UUID server, String node) {
        String known = beside.get(server.toString());
        return known != null && !known.equals(node) && isBeside(server.toString(), known) ? known : null;
    }

    @Override
    public @Nullable UUID of(String node) {
        Heard last = heard.get(node);
        String server = last == null || !last.isFresh() ? null : last.report().server();
        return server == null ? null : UUID.fromString(server);
    }

    /** Writes to disk what was noted of data directories and generations since it was called last. */
    public void keep() {
        names.write();
    }

    /** Notes that the member of that name and generation uses that data directory. */
    void directory(String node, int generation, String id) {
        if (id != null) {
            names.directory(node, generation, id);
        }
    }

    Map<String, String> directories() {
        return names.all();
    }

    /** Notes that a node of that name was a member in that generation. */
    public void generation(String node, int generation) {
        known.add(node);
        names.generation(node, generation);
    }

    /**
     * The latest generation in which a node of that name was a member, according to {@link #directories}; 0 when it
     * never was.
     */
    public static int generation(Map<String, String> directories, String node) {
        return HeardNames.generationOf(directories, node);
    }

    /** The data directory of that member, according to {@link #directories}; null when none is known. */
    public static String directory(Map<String, String> directories, Peer member) {
        return directories.get(HeardNames.directoryKey(member.name(), member.generation()));
    }

    /** Forgets what was heard, because it belongs to a life of the cluster that is over. */
    public void forget() {
        sent.clear();
        heard.clear();
        beside.clear();
        disputed.clear();
        strangers.clear();
    }

    /** The last report of every other node that was heard, of some that are no members, too. */
    public Map<String, Heard> all() {
        Map<String, Heard> all = new HashMap<>(strangers);
        all.putAll(heard);
        return Map.copyOf(all);
    }

    /** The last reports of the other members that are present now. */
    public List<MemberReport> present() {
        Collection<Heard> reports = heard.values();
        return reports.stream().filter(Heard::isFresh).map(Heard::report).toList();
    }
}
