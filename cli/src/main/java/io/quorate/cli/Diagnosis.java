// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import io.quorate.core.answer.AuditAnswer;
import io.quorate.core.answer.ClusterAnswer;
import io.quorate.core.answer.ClusterHealth;
import io.quorate.core.answer.MembersAnswer;
import io.quorate.core.answer.MembersAnswer.Member;
import io.quorate.core.answer.NodeStatus;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What looks wrong with a cluster, from what its nodes say. It asks nobody itself. */
final class Diagnosis {
    private static final long LAG_MILLIS = 5_000;
    private static final long RETURN_SECONDS = 3_600;
    private static final long CACHE_SECONDS = 3_600;
    /** A service that was restarted has received at once what others wrote meanwhile: that is no rate. */
    private static final double SETTLED_SECONDS = 900;
    /** Its capture begins a moment after it is SYNCED. */
    private static final double STARTED_SECONDS = 60;

    private static final double CERTIFICATE_SECONDS = 14 * 86_400.0;
    private static final double CONFLICTS_SHARE = 0.01;
    private static final double CONFLICTS_MIN = 100;
    private static final double HEAP_SHARE = 0.9;

    /**
     * What one node has said.
     *
     * @param metrics by name as Prometheus has it, the sum over all labels
     */
    record Said(ClusterAnswer cluster, MembersAnswer members, AuditAnswer audit, Map<String, Double> metrics) {
        String node() {
            return cluster.node();
        }

        double metric(String name, double otherwise) {
            return metrics.getOrDefault(name, otherwise);
        }
    }

    private final Set<String> findings = new LinkedHashSet<>();

    private Diagnosis() {}

    /**
     * Says what looks wrong, what matters most first; empty when nothing does.
     *
     * @param silent addresses of nodes that gave no answer, each with the reason
     */
    static List<String> of(List<Said> all, List<String> silent) {
        Diagnosis diagnosis = new Diagnosis();
        for (Said said : all) {
            ClusterHealth health = said.members.health();
            if (health != null && health.level() != ClusterHealth.Level.OK) {
                diagnosis.findings.add(health.sentence());
            }
        }
        silent.forEach(each -> diagnosis.findings.add("no answer: " + each));
        diagnosis.leaders(all);
        all.forEach(diagnosis::node);
        if (!all.isEmpty()) {
            all.get(0).members.members().forEach(diagnosis::member);
            diagnosis.events(all.get(0).members.members());
            diagnosis.audited(all);
        }
        all.forEach(said -> diagnosis.findings.addAll(said.cluster.advice()));
        all.forEach(said -> diagnosis.findings.addAll(said.members.advice()));
        return new ArrayList<>(diagnosis.findings);
    }

    private void leaders(List<Said> all) {
        Set<String> leaders = new LinkedHashSet<>();
        all.forEach(said -> leaders.add(String.valueOf(said.members.leader())));
        leaders.remove("null");
        if (leaders.size() > 1) {
            findings.add("nodes name different leaders (" + String.join(", ", leaders)
                    + "): they may be choosing one just now; if it stays so, look at the network between them");
        }
    }

    private void node(Said said) {
        String node = said.node();
        ClusterAnswer cluster = said.cluster;
        if (!cluster.reason().isEmpty()) {
            findings.add(node + " is " + cluster.state() + ": " + cluster.reason());
        }
        for (NodeStatus each : cluster.nodes()) {
            if (each.name().equals(node)) {
                ofItself(each);
            }
        }
        if (!cluster.tablesWithoutKey().isEmpty()) {
            findings.add(node + ": tables without any unique key conflict and apply by whole rows: "
                    + some(cluster.tablesWithoutKey()) + ". Give them primary keys");
        }
        double uptimeSeconds = said.metric("process_uptime_seconds", SETTLED_SECONDS);
        if (uptimeSeconds >= SETTLED_SECONDS) {
            cache(node, cluster.cache());
        }
        double certificate = said.metric("quorate_tls_expires_seconds", Double.NaN);
        if (certificate < CERTIFICATE_SECONDS) {
            findings.add(node + ": its certificate "
                    + (certificate < 0 ? "has expired" : "expires in " + (long) (certificate / 86_400) + " days")
                    + "; \"quorate certs renew\" makes another one, which is taken over without a restart");
        }
        double failed = said.metric("quorate_certification_conflicts_total", 0);
        double passed = said.metric("quorate_certification_passed_total", 0);
        if (failed >= CONFLICTS_MIN && failed > CONFLICTS_SHARE * (passed + failed)) {
            findings.add(node + ": " + Math.round(1000 * failed / (passed + failed)) / 10.0
                    + "% of all transactions since its start failed by conflicts; \"quorate conflicts\" shows which"
                    + " tables they meet in. Send writes of these to one node");
        }
        if (uptimeSeconds >= STARTED_SECONDS
                && cluster.state().equals("SYNCED")
                && said.metric("quorate_capture_connected", 1) == 0) {
            findings.add(node + " is SYNCED and doesn't read its server's binlog; see its log");
        }
        double used = said.metric("jvm_memory_used_bytes", 0);
        double max = said.metric("jvm_memory_max_bytes", Double.POSITIVE_INFINITY);
        if (max > 0 && used > HEAP_SHARE * max) {
            findings.add(node + ": its heap is full but for " + (long) ((max - used) / (1 << 20))
                    + " MB; give the service more (-Xmx)");
        }
    }

    private void ofItself(NodeStatus self) {
        if (self.insecure()) {
            findings.add(self.name() + ": nothing between the nodes is encrypted, and nobody proves who it is"
                    + " (quorate.insecure). Make certificates with \"quorate certs\", and set quorate.tls.bundle");
        }
        if (!self.slowed().isEmpty()) {
            findings.add(self.name() + ": " + self.slowed());
        }
    }

    private void cache(String node, ClusterAnswer.Cache cache) {
        boolean reachesNotFar = cache != null
                && cache.spanSecondsWhenFull() >= 0
                && cache.spanSecondsWhenFull() < CACHE_SECONDS
                && cache.bytes() > 0;
        if (reachesNotFar) {
            findings.add(node + ": at the present rate its cache holds what was written in the last "
                    + cache.spanSecondsWhenFull() / 60 + " minutes; a node that is away for longer needs a copy of"
                    + " everything. Raise quorate.cache.bytes-max");
        }
    }

    private void member(Member member) {
        String name = member.name();
        if (member.leftBehind()) {
            findings.add("nobody waits for " + name + ", which was too far behind for too long: what is read there may"
                    + " be old. " + why(member));
        } else if (member.lagMillis() != null && member.lagMillis() > LAG_MILLIS) {
            findings.add(name + " is " + member.lagMillis() / 1000 + " s behind. " + why(member));
        }
        if (member.desynced()) {
            findings.add(name + " is desynced: the others don't wait for it, until \"quorate resync\"");
        }
        if (member.drained()) {
            findings.add(name + " is drained: clients can't write to its server, until \"quorate drain --end\" or until"
                    + " mysqld is started again");
        }
        Long returns = member.canReturnForSeconds();
        if (returns != null && returns == 0) {
            findings.add(name + " has been away for too long to come back by a transfer; it will need a copy");
        } else if (returns != null && returns > 0 && returns < RETURN_SECONDS) {
            findings.add(name + " can come back by a transfer for " + returns / 60 + " more minutes, then it needs a"
                    + " copy: start it");
        }
    }

    private static String why(Member member) {
        return member.cause() == null ? "It doesn't say why" : "Its reason: " + member.cause();
    }

    private void events(List<Member> members) {
        List<String> running = members.stream()
                .filter(m -> Boolean.TRUE.equals(m.runsEvents()))
                .map(Member::name)
                .toList();
        if (running.size() > 1) {
            findings.add("the event scheduler is on at " + String.join(" and ", running)
                    + ": each event is run on each of them. Leave it to Quorate, or turn it off on all but one");
        }
    }

    private void audited(List<Said> all) {
        for (Said said : all) {
            AuditAnswer.Audit audit = said.audit == null ? null : said.audit.audit();
            if (audit != null && audit.found() > 0) {
                findings.add("the audit that " + said.node() + " did found " + audit.found()
                        + " rows or tables that differ; \"quorate audit\" lists them, \"quorate audit repair\" shows"
                        + " what it would do");
            }
        }
    }

    private static String some(List<String> all) {
        int shown = Math.min(5, all.size());
        return String.join(", ", all.subList(0, shown))
                + (all.size() > shown ? " and " + (all.size() - shown) + " more" : "");
    }
}
