// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import io.quorate.transport.TransportSettings.Peer;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * How a node comes to take part in the order. Most often it is a member and goes on as one. With a new directory it
 * asks the peers it is configured with. If none of them is part of a cluster, they begin one together. If they are, and
 * count on this node but have never heard of it, it begins with them. Otherwise it asks to be made a member. So does a
 * node whose address has changed, or that lost its directory: it is replaced under its name, as a different server in
 * the eyes of Raft, because it may have promised and acknowledged what it doesn't remember. This class only decides.
 *
 * @param self this node, at the address it has now
 * @param configured the peers of the configuration, this node among them
 * @param known the members as this node's directory knew them last; none when it never took part
 * @param lastGeneration the highest generation in which this directory ever took part, 0 for none
 * @param directory names this node's data directory
 */
public record AdmissionPlan(Peer self, List<Peer> configured, List<Peer> known, int lastGeneration, String directory) {
    /** What another node says about the membership. */
    public interface Word {
        String node();

        /** Whether it knows a leader. */
        boolean knowsLeader();

        /** The members as it knows them; none when it is no part of a cluster. */
        List<Peer> members();

        /** The lives of the cluster as it knows them. */
        Lives lives();

        /** The latest generation in which a node of that name was a member, 0 for none that it heard of. */
        int generationOf(String name);

        /** The name of the data directory that it heard that member use; null for none that it heard of. */
        String directoryOf(Peer member);

        /** Whether it has a server beside it. */
        boolean hasServer();

        /**
         * What its server began with, or has before it begins; null when it can't tell, as while it gets a copy with
         * which it begins.
         */
        Holds holds();
    }

    /** What somebody has made on a server, besides accounts. */
    public enum Holds {
        NOTHING,
        /** Databases with nothing in them. */
        SCHEMAS,
        /** Tables, views, routines or events. */
        TABLES
    }

    /** How it takes part. */
    public sealed interface Way permits Member, Joiner, TakenOut, Ask, Wait {}

    /** As one of these members. */
    public record Member(List<Peer> members) implements Way {}

    /**
     * It asks to be a member, in that generation or in the next one for which its directory is free.
     *
     * @param why for people
     */
    public record Joiner(int generation, String why) implements Way {}

    /** Not before it is told to; then as a {@link Joiner} of that generation. */
    public record TakenOut(int generation) implements Way {}

    /** Its own directory doesn't tell: the others have to be asked. */
    public record Ask() implements Way {}

    /** The others can't tell yet either. */
    public record Wait(String why) implements Way {}

    /** Where the server of a node that asks to be a member gets its first data from. */
    public enum Data {
        /**
         * From itself, because it has been part of the cluster: what it holds has to be the beginning of what the
         * others hold.
         */
        ITS_OWN,
        /** From the order alone, because the cluster began as empty as it is. */
        ORDER,
        /** From another server. */
        COPY,
        /** Unknown, because none of the nodes that answer knows with what data the cluster began. */
        UNTOLD,
        /** From nowhere: it has tables of its own and nothing of the cluster's, and they are not overwritten. */
        REFUSED
    }

    /** What this node's own directory says. */
    public Way ofDirectory() {
        if (known.isEmpty()) {
            // With nobody to ask there is nothing to wait for.
            return configured.size() == 1 ? new Member(configured) : new Ask();
        }
        Peer before = named(known, self.name());
        if (before == null) {
            return new TakenOut(lastGeneration + 1);
        }
        return before.isAt(self)
                ? new Member(known)
                : new Joiner(before.generation() + 1, "the address has changed from " + before + " to " + self);
    }

    /**
     * The most authoritative of these words: of the nodes that are part of a cluster with a leader, one of the latest
     * life; null if there is none.
     */
    public static Word authority(Collection<? extends Word> words) {
        return words.stream()
                .filter(word -> word.knowsLeader() && !word.members().isEmpty())
                .max(Comparator.comparingInt(word -> word.lives().ids().size()))
                .orElse(null);
    }

    /**
     * How a node with a new directory takes part. It doesn't begin before a majority has said that the node isn't known
     * by another directory: it could help to forget what it acknowledged with that one.
     */
    public Way ofWords(Collection<? extends Word> words) {
        Word word = authority(words);
        if (word == null) {
            boolean alike = isMajority(words) && words.stream().allMatch(this::isExpectedBy);
            return alike ? new Member(configured) : new Wait(waitsFor(words));
        }
        Peer there = named(word.members(), self.name());
        int next = generation(words) + 1;
        if (there == null) {
            return new Joiner(next, self.name() + " is no member yet");
        }
        boolean elsewhere = isElsewhere(words, there);
        if (!elsewhere && there.isAt(self)) {
            return new Member(word.members());
        }
        return new Joiner(
                Math.max(next, there.generation() + 1),
                self.name() + " took part " + (elsewhere ? "with another data directory" : "at another address"));
    }

    /** The generation in which it asks to be a member of a life of the cluster that it takes over. */
    public int generationAnew(Collection<? extends Word> words) {
        return Math.max(generation(words), lastGeneration) + 1;
    }

    /** The latest generation in which a node of this name was a member, according to any of them. */
    private int generation(Collection<? extends Word> words) {
        return words.stream()
                .mapToInt(word -> word.generationOf(self.name()))
                .max()
                .orElse(0);
    }

    private boolean isMajority(Collection<? extends Word> words) {
        return 2 * (words.size() + 1) > configured.size();
    }

    /** Whether the node that says this is new itself, or counts on this very node. */
    private boolean isExpectedBy(Word word) {
        return word.lives().ids().isEmpty()
                && (word.members().isEmpty() || self.equals(named(word.members(), self.name())))
                && !isElsewhere(List.of(word), self);
    }

    /** Whether any of them heard that member use another data directory. */
    private boolean isElsewhere(Collection<? extends Word> words, Peer member) {
        return words.stream()
                .map(word -> word.directoryOf(member))
                .anyMatch(heard -> heard != null && !heard.equals(directory));
    }

    private String waitsFor(Collection<? extends Word> words) {
        if (isMajority(words)) {
            return "there is a cluster already; waiting until it has a majority that takes this node in";
        }
        String heard = words.stream().map(Word::node).collect(Collectors.joining(", "));
        return "the data directory is new; waiting until a majority of the configured nodes says whether there is a"
                + " cluster already" + (heard.isEmpty() ? "" : ", so far " + heard);
    }

    /**
     * Where the server of a node that asks to be a member, and holds nothing of the order, gets its first data from. A
     * server to which nothing was ever applied can begin from the order alone only where the cluster did.
     *
     * @param applied up to which seqno it holds everything
     * @param holds what somebody has made in it
     * @param copyPreferred whether it is to get a copy wherever it can
     */
    public static Data data(long applied, Holds holds, boolean copyPreferred, Collection<? extends Word> words) {
        if (applied > 0) {
            return Data.ITS_OWN;
        }
        if (holds == Holds.TABLES) {
            return Data.REFUSED;
        }
        if (copyPreferred) {
            return Data.COPY;
        }
        List<Holds> founded =
                words.stream().map(Word::holds).filter(Objects::nonNull).toList();
        if (founded.isEmpty()) {
            return Data.UNTOLD;
        }
        return holds == Holds.NOTHING && founded.contains(Holds.NOTHING) ? Data.ORDER : Data.COPY;
    }

    /**
     * Where the server of a node with a new directory gets its first data from, if the node begins as one of the first
     * members. The cluster begins with what one server holds, and the others get that; where several have tables, with
     * what the first of them by name holds. Tables are not overwritten, and those of others are kept only where
     * somebody has said that they are the same.
     *
     * <p>A majority isn't enough for servers without tables to begin: the one whose service starts last may be the one
     * that has them. Until all have said what they hold, they don't take part at all, so whoever never comes can be
     * left out of the configuration.
     *
     * @param applied up to which seqno it holds everything
     * @param holds what somebody has made in it
     * @param same whether somebody has said that what it holds is what the others hold
     */
    public Data dataOfFounder(long applied, Holds holds, boolean same, Collection<? extends Word> words) {
        if (applied > 0) {
            return Data.ITS_OWN;
        }
        List<? extends Word> servers = words.stream().filter(Word::hasServer).toList();
        List<Holds> begun = servers.stream()
                .filter(AdmissionPlan::hasBegun)
                .map(Word::holds)
                .filter(Objects::nonNull)
                .toList();
        List<? extends Word> others =
                servers.stream().filter(word -> !hasBegun(word)).toList();
        boolean begunEmpty = begun.contains(Holds.NOTHING);
        if (holds == Holds.TABLES || (same && holds == Holds.SCHEMAS)) {
            if (begunEmpty || (!same && !begun.isEmpty())) {
                return Data.REFUSED;
            }
            return same || !isPreceded(holds, others) ? Data.ITS_OWN : Data.UNTOLD;
        }
        if (!begunEmpty && (!begun.isEmpty() || others.stream().anyMatch(word -> word.holds() == Holds.TABLES))) {
            return Data.COPY;
        }
        if (begunEmpty && holds == Holds.SCHEMAS) {
            return Data.COPY;
        }
        // Whoever has begun without tables had asked all.
        if ((!begunEmpty && !silent(words).isEmpty()) || others.stream().anyMatch(word -> word.holds() == null)) {
            return Data.UNTOLD;
        }
        if (holds == Holds.SCHEMAS) {
            // Who has begun and can't tell waits for what this one begins with.
            return isPreceded(holds, others) ? Data.COPY : Data.ITS_OWN;
        }
        if (!begunEmpty && others.stream().anyMatch(word -> word.holds() == Holds.SCHEMAS)) {
            return Data.COPY;
        }
        return servers.stream().allMatch(word -> word.holds() != null) ? Data.ORDER : Data.UNTOLD;
    }

    private static boolean hasBegun(Word word) {
        return !word.members().isEmpty();
    }

    /** Whether a node with a lesser name has a server that holds as much. */
    private boolean isPreceded(Holds holds, Collection<? extends Word> words) {
        return words.stream()
                .anyMatch(word -> word.holds() == holds && word.node().compareTo(self.name()) < 0);
    }

    /** The names of the nodes whose servers have tables, or began with some. */
    public static List<String> withTables(Collection<? extends Word> words) {
        return words.stream()
                .filter(word -> word.holds() == Holds.TABLES)
                .map(Word::node)
                .sorted()
                .toList();
    }

    /** The names of the other configured nodes that have said nothing. */
    public List<String> silent(Collection<? extends Word> words) {
        List<String> heard = words.stream().map(Word::node).toList();
        return configured.stream()
                .map(Peer::name)
                .filter(name -> !name.equals(self.name()) && !heard.contains(name))
                .toList();
    }

    private static Peer named(List<Peer> peers, String name) {
        return peers.stream().filter(p -> p.name().equals(name)).findFirst().orElse(null);
    }
}
