// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.join;

import io.quorate.applier.PositionTable.Position;
import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.ist.HistoryCheck;
import io.quorate.node.server.Server;
import io.quorate.transport.AdmissionPlan;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Settles with what data the server of a node with a new directory begins: with what it has, with nothing but what the
 * order brings, or with a copy of another server. {@link AdmissionPlan} decides; a node whose data is settled already
 * is left alone.
 */
final class FirstData {
    private static final Logger log = LoggerFactory.getLogger(FirstData.class);

    /** Services that are started together come one after the other. */
    private static final long STARTING_NANOS = TimeUnit.SECONDS.toNanos(60);

    private final JoinHost host;
    private final HistoryCheck history;
    /** When a server without tables first waited for others; null before that. */
    private @Nullable Long waitedFromNanos;

    private interface Settling {
        /** @return why it can't be told yet; null when it is settled */
        String settle() throws IOException, InterruptedException;
    }

    FirstData(JoinHost host, HistoryCheck history) {
        this.host = host;
        this.history = history;
    }

    /**
     * Of a node that begins as one of the first members.
     *
     * @return why it can't be told yet; null when it is settled
     * @throws QuorateException COPY_NEEDED when it has to be another server's, and can't
     */
    String unsettledOfFounder(JoinHost.Heard others) throws InterruptedException {
        return unsettled(() -> settleFounder(others, host.contents()));
    }

    /**
     * Of a node that asks to be a member. A server that nothing was ever applied to can begin from the order alone only
     * where the cluster did.
     *
     * @return why it can't be told yet; null when it is settled
     * @throws QuorateException COPY_NEEDED when it has to be another server's, and can't
     */
    String unsettledOfJoiner() throws InterruptedException {
        return unsettled(() -> {
            JoinHost.Heard others = host.askConfigured();
            return others.words().isEmpty()
                    ? "no other node answers, or they don't let it in (quorate admit, at a member)"
                    : settleJoiner(others, host.contents());
        });
    }

    private String unsettled(Settling settling) throws InterruptedException {
        if (host.held() > 0 || host.hasData()) {
            return null;
        }
        try {
            return settling.settle();
        } catch (IOException e) {
            return JoinTurns.text(e);
        } catch (QuorateException e) {
            if (!e.code().isRetryable()) {
                throw e;
            }
            return e.detail();
        }
    }

    private String settleFounder(JoinHost.Heard others, Server.Contents contents)
            throws IOException, InterruptedException {
        long applied = contents.position().seqno();
        switch (host.plan().dataOfFounder(applied, contents.holds(), host.hasSameTables(), others.words())) {
            case ITS_OWN -> {
                if (applied == 0) {
                    tellItsOwn();
                }
            }
            // No server has any.
            case ORDER -> host.beginWithNothing();
            case COPY -> copy(others);
            case REFUSED -> throw new QuorateException(ErrorCode.COPY_NEEDED, refusal(others));
            case UNTOLD -> {
                return untold(contents.holds(), others);
            }
        }
        return null;
    }

    private void tellItsOwn() {
        if (host.hasSameTables()) {
            log.info("this server keeps its tables, as quorate.same-tables says that they are those of the others;"
                    + " \"quorate audit start\" finds out whether they are");
        } else {
            log.info("the cluster begins with what this server has; the others get a copy of it");
        }
    }

    private static String refusal(JoinHost.Heard others) {
        List<String> owners = AdmissionPlan.withTables(others.words());
        String begun = "this server has tables of its own, and the others have begun "
                + (owners.isEmpty() ? "without them" : "with those of " + String.join(", ", owners))
                + "; they are not overwritten. ";
        String copies = "To have the cluster begin with these tables, stop all services, delete their data directories,"
                + " and start this one's first: servers without tables get a copy";
        return owners.isEmpty()
                ? begun + copies
                : begun
                        + "If they are the same, as those of a replica or of one backup are, set"
                        + " quorate.same-tables=true here and start the service again. If not, dump what you need, drop"
                        + " this server's databases and start the service again: it gets a copy. "
                        + copies;
    }

    private String untold(AdmissionPlan.Holds holds, JoinHost.Heard others) {
        if (holds == AdmissionPlan.Holds.TABLES) {
            return "this server has tables, and so has another one, with whose the cluster begins first: "
                    + String.join(", ", AdmissionPlan.withTables(others.words()))
                    + ". If they are the same, set quorate.same-tables=true here";
        }
        List<String> silent = host.plan().silent(others.words());
        if (!silent.isEmpty()) {
            String told = "this server has no tables, and " + String.join(", ", silent)
                    + " may have some, which would be those of the cluster: ";
            waitedFromNanos = waitedFromNanos == null ? Long.valueOf(host.nanos()) : waitedFromNanos;
            return host.nanos() - waitedFromNanos < STARTING_NANOS
                    ? told + "waiting for " + (silent.size() == 1 ? "it" : "them")
                    : told + "start the service there, too; or stop all services and leave it out of quorate.peers"
                            + " everywhere until there is a cluster";
        }
        return others.words().stream().allMatch(word -> word.members().isEmpty())
                ? "not all nodes that answer can tell yet whether their servers have tables; is mysqld running beside"
                        + " each of them?"
                : "others have begun, and can't tell with which tables: is mysqld running beside each of them? If they"
                        + " wait for a copy of tables that somebody has dropped here meanwhile, stop all services,"
                        + " delete their data directories and start them again";
    }

    private String settleJoiner(JoinHost.Heard others, Server.Contents contents)
            throws IOException, InterruptedException {
        Position position = contents.position();
        switch (AdmissionPlan.data(position.seqno(), contents.holds(), host.isCopyPreferred(), others.words())) {
            case ITS_OWN -> requireSameHistory(others.in(host.lives()), position);
            // It receives what all others did.
            case ORDER -> host.beginWithNothing();
            case COPY -> copy(others);
            case REFUSED ->
                throw new QuorateException(
                        ErrorCode.COPY_NEEDED,
                        "this server has tables of its own, and nothing of the cluster's; they are not overwritten");
            case UNTOLD -> {
                return "none of those that answer knows with what the cluster began";
            }
        }
        return null;
    }

    private void copy(JoinHost.Heard others) throws IOException, InterruptedException {
        if (!host.beginWithCopy(others)) {
            throw new QuorateException(
                    ErrorCode.COPY_NEEDED,
                    "the cluster began with data that was never ordered, this server has none of it, and"
                            + " quorate.sst.method is none (if it has the same, quorate.same-tables=true says so)");
        }
    }

    /**
     * What its server holds must be the beginning of what the others do. Where no majority was ever forced it can't be
     * otherwise.
     */
    private void requireSameHistory(JoinHost.Heard others, Position position) throws IOException {
        long nowMillis = TimeUnit.NANOSECONDS.toMillis(host.nanos());
        try {
            history.require(others.offers(), position.seqno(), position.log(), nowMillis);
        } catch (QuorateException e) {
            if (e.code() != ErrorCode.CACHE_PASSED || !host.lives().ids().isEmpty()) {
                throw e;
            }
        }
    }
}
