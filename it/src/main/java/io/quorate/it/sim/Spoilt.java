// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.applier.ApplyCourse;
import io.quorate.applier.ApplyStep;
import io.quorate.applier.DefinitionTurn;
import io.quorate.applier.Group;
import io.quorate.applier.TailCourse;
import io.quorate.certification.Certifier;
import io.quorate.core.Ballot;
import io.quorate.core.Ballot.Kind;
import io.quorate.core.Certified;
import io.quorate.core.Gtid;
import io.quorate.core.GtidSet;
import io.quorate.core.KeyType;
import io.quorate.core.Keys;
import io.quorate.core.OwnRegister;
import io.quorate.core.OwnWrites;
import io.quorate.core.OwnWrites.Doomed;
import io.quorate.core.OwnWrites.Losers;
import io.quorate.core.Payload;
import io.quorate.core.PeerStreams;
import io.quorate.core.Proposal;
import io.quorate.core.WriteSet;
import io.quorate.ist.CheckpointStore;
import io.quorate.transport.AdmissionPlan;
import io.quorate.transport.TransportSettings.Peer;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/** What {@link Bug}s make of what the product decides, and of proposals and records. */
final class Spoilt {
    /** The session of a statement that isn't taken for one. */
    static final long ROWS = -1;

    private Spoilt() {}

    /** A server that is told wrongly, or not at all. */
    static TailCourse.Server server(LostTail tail, Set<Bug> bugs) {
        return tail.new OfDatabase() {
            @Override
            public void reserve(GtidSet gtids) throws SQLException {
                if (!bugs.contains(Bug.NUMBERS_GIVEN_AGAIN)) {
                    super.reserve(gtids);
                }
            }

            @Override
            void takeBack(List<Change> deletes, List<Change> inserts, Map<Long, Long> failed) {
                boolean left = bugs.contains(Bug.TAIL_LEFT);
                super.takeBack(left ? List.of() : deletes, left ? List.of() : inserts, failed);
            }
        };
    }

    /** A register that knows nothing to be undone, or nothing more. */
    static ApplyCourse.Register register(Session session, Execution execution, Set<Bug> bugs) {
        OwnWrites own = session.own;
        return new ApplyCourse.Register() {
            @Override
            public Losers toUndo(Collection<Certified> group, Collection<Doomed> chosen) {
                if (looksOnce(execution.at(), bugs)) {
                    return new Losers(List.copyOf(chosen), true);
                }
                Losers losers = session.later.without(own.toUndo(group, chosen), group);
                return bugs.contains(Bug.UNDO_SKIPPED) ? new Losers(List.of(), losers.certain()) : losers;
            }

            @Override
            public void undoing(Collection<Doomed> losers, long seqno) {
                own.undoing(losers, seqno);
            }

            @Override
            public void notUndone(Collection<Doomed> losers) {
                own.notUndone(losers);
            }
        };
    }

    /** Whether it isn't asked what clients have committed meanwhile. */
    static boolean looksOnce(ApplyStep step, Set<Bug> bugs) {
        return step == ApplyStep.LOOK && bugs.contains(Bug.NO_SECOND_LOOK);
    }

    /** Whether what was prepared here doesn't wait for what comes before. */
    static boolean outOfTurn(Group group, Set<Bug> bugs) {
        return group.isSettling() && bugs.contains(Bug.SETTLED_OUT_OF_TURN);
    }

    /** Whether a group commits when it is ready; alone it would gain nothing. */
    static boolean outOfOrder(Session session, Set<Bug> bugs) {
        return session.running.size() > 1 && bugs.contains(Bug.COMMITTED_OUT_OF_ORDER);
    }

    /** Whether rows are committed first, and the position that belongs to them later. */
    static boolean savesApart(Group group, Set<Bug> bugs) {
        return !group.isBarrier() && bugs.contains(Bug.POSITION_APART);
    }

    /** In which order losers are taken back. */
    static List<Doomed> losers(List<Doomed> losers, Set<Bug> bugs) {
        return bugs.contains(Bug.UNDONE_FORWARDS) ? reversed(losers) : losers;
    }

    /** What is noted of those that are undone. */
    static List<Long> noted(List<Long> numbers, Set<Bug> bugs) {
        return bugs.contains(Bug.UNDO_FORGOTTEN) ? List.of() : numbers;
    }

    /** The rows of what is to be applied. A statement that isn't taken for one runs at once. */
    static List<Change> changes(List<Certified> writeSets, Node node, Set<Bug> bugs) {
        List<Change> changes = new ArrayList<>();
        for (Certified c : bugs.contains(Bug.GROUP_BACKWARDS) ? reversed(writeSets) : writeSets) {
            if (c.writeSet().session() == ROWS) {
                node.database().ddlApplied(Table.ALL[c.writeSet().payload().toArray()[0]], c.seqno());
            } else {
                changes.addAll(Change.decode(c.writeSet().payload().toArray()));
            }
        }
        return changes;
    }

    private static <T> List<T> reversed(List<T> list) {
        List<T> reversed = new ArrayList<>(list);
        Collections.reverse(reversed);
        return reversed;
    }

    /** Nobody has heard of the directory that a node has lost. */
    static AdmissionPlan.Word word(Others.Said said, Set<Bug> bugs) {
        return !bugs.contains(Bug.EMPTIED_COUNTS)
                ? said
                : new Others.Said(said) {
                    @Override
                    public String directoryOf(Peer member) {
                        return null;
                    }
                };
    }

    /** A server whose word is not asked for. */
    static Joining.OfServer server(Node node, Set<Bug> bugs) {
        boolean unasked = bugs.contains(Bug.FORMER_LIFE_BY_RECORD) || bugs.contains(Bug.FORMER_LIFE_BY_SEQNO);
        return !unasked
                ? new Joining.OfServer(node)
                : new Joining.OfServer(node) {
                    @Override
                    long position() {
                        return 0;
                    }

                    @Override
                    long shown() {
                        return 0;
                    }
                };
    }

    /** Whatever a node asks the others for, it is given what it has itself. */
    static PeerStreams peers(Node node, PeerStreams peers, Set<Bug> bugs) {
        return !bugs.contains(Bug.FORMER_LIFE_BY_SEQNO)
                ? peers
                : (peer, request) -> {
                    ByteArrayOutputStream answer = new ByteArrayOutputStream();
                    node.storage().donor().serve(peer, request, answer);
                    return new ByteArrayInputStream(answer.toByteArray());
                };
    }

    /** A disk on which less is done for a transfer than it needs. */
    static Transfer.Stores stores(Storage storage, Set<Bug> bugs) {
        return new Transfer.Stores(storage) {
            @Override
            long held(CheckpointStore.Checkpoint received) {
                boolean enough = received != null && bugs.contains(Bug.TRANSFER_CUT_SHORT);
                return enough ? received.seqno() : super.held(received);
            }

            @Override
            void force() {
                if (!bugs.contains(Bug.TRANSFER_NOT_FORCED)) {
                    super.force();
                }
            }
        };
    }

    /** What is taken for the ballot that an entry holds. */
    static List<Ballot> ballots(Ballot said, int index, World world) {
        Poll poll = world.dispute.poll;
        boolean late = world.now() - said.micros() > 1500;
        if (said.kind() == Kind.REFUSED && late && world.bugs.contains(Bug.CLOSED_BY_CLOCK)) {
            return List.of(said, as(said, Kind.CLOSE, said.server()));
        }
        if (said.kind() == Kind.REFUSED && poll.isRepeated(index, said) && world.bugs.contains(Bug.VOTED_TWICE)) {
            return List.of(as(said, Kind.REFUSED, poll.other(index, said.server())));
        }
        UUID silent = said.kind() == Kind.CLOSE ? poll.silent(index, said.seqno()) : null;
        boolean counts = silent != null && world.bugs.contains(Bug.SILENCE_COUNTS);
        return counts ? List.of(as(said, Kind.RAN, silent), said) : List.of(said);
    }

    private static Ballot as(Ballot said, Kind kind, UUID server) {
        return new Ballot(kind, said.node(), server, said.seqno(), said.micros());
    }

    /** A definition whose server is said to have seen all rows that were ordered before it. */
    static Proposal proposal(Proposal p, Certifier certifier, World world) {
        if (world.dispute == null || !world.bugs.contains(Bug.EARLY_ORIGIN_VOTES)) {
            return p;
        }
        List<WriteSet> spoilt = new ArrayList<>();
        for (WriteSet w : p.writeSets()) {
            boolean rows = w.isDefinition() && w.lastSeen() >= world.dispute.lastDefinition(certifier.lastSeqno());
            spoilt.add(rows ? w.withLastSeen(certifier.lastSeqno()) : w);
        }
        return new Proposal(p.origin(), p.previous(), p.last(), p.lastSeen(), p.undecided(), spoilt);
    }

    /** How many servers there are, at the least. */
    static int voters(Node node, Set<Bug> bugs) {
        return bugs.contains(Bug.COPIED_FROM_FEW) ? 0 : node.stream().ask(Certifier::voters);
    }

    /** A server that is told wrongly what it passes over. */
    static DefinitionTurn.Server server(Node node, Certified definition, boolean repeated, Set<Bug> bugs) {
        return new DefiningServer(node, definition, repeated) {
            @Override
            public void notePassedOver(long seqno) throws SQLException {
                if (!bugs.contains(Bug.PASSED_OVER_UNNOTED)) {
                    super.notePassedOver(seqno);
                }
            }
        };
    }

    /** Nothing of what it wrote can be met; as if the index had forgotten it. */
    static Proposal withoutKeys(Proposal p) {
        List<WriteSet> stripped = new ArrayList<>();
        for (WriteSet w : p.writeSets()) {
            Keys none =
                    w.isBarrier() ? w.keys() : new Keys(new long[] {5}, new byte[] {(byte) KeyType.SHARED.ordinal()});
            stripped.add(new WriteSet(
                    w.gtid(), w.lastSeen(), w.committedMicros(), w.kind(), none, w.payload(), w.builtOn(), 0));
        }
        return new Proposal(p.origin(), p.previous(), p.last(), p.lastSeen(), p.undecided(), stripped);
    }

    /** The same as of an origin that nobody knows. */
    static Proposal renamed(Proposal p, int index) {
        UUID stranger = new UUID(7, index);
        List<WriteSet> writeSets = new ArrayList<>();
        for (WriteSet w : p.writeSets()) {
            writeSets.add(new WriteSet(
                    new Gtid(stranger, w.gtid().number()), p.lastSeen(), 0, w.kind(), w.keys(), w.payload()));
        }
        return new Proposal(stranger, p.previous(), p.last(), p.lastSeen(), new long[0], writeSets);
    }

    /** Doesn't say what a transaction was built on. */
    record Register(OwnRegister register) implements OwnRegister {
        @Override
        public WriteSet captured(WriteSet w) {
            register.captured(w);
            return w;
        }

        @Override
        public void covered(long number, long lastSeen) {
            register.covered(number, lastSeen);
        }

        @Override
        public void ordered(Collection<Certified> certified, long last, long lastSeen) {
            register.ordered(certified, last, lastSeen);
        }

        @Override
        public void failedUnknown(long seqno) {
            register.failedUnknown(seqno);
        }
    }

    /** Its last change is missing. */
    static Certified torn(Certified c) {
        List<Change> changes = Change.decode(c.writeSet().payload().toArray());
        WriteSet w = c.writeSet();
        WriteSet torn = new WriteSet(
                w.gtid(),
                w.lastSeen(),
                0,
                w.kind(),
                w.keys(),
                Payload.of(Change.encode(changes.subList(0, changes.size() - 1))),
                w.builtOn(),
                0);
        return c.with(torn);
    }
}
