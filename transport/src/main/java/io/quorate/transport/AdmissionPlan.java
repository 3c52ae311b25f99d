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
         * Whether its server began with no tables, or has none before it begins; null when it can't tell, as while it
         * gets a copy with which it begins.
         */
        Boolean foundedEmpty();
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
     * @param empty whether nobody has made a table in it
     * @param copyPreferred whether it is to get a copy wherever it can
     */
    public static Data data(long applied, boolean empty, boolean copyPreferred, Collection<? extends Word> words) {
        if (applied > 0) {
            return Data.ITS_OWN;
        }
        if (!empty) {
            return Data.REFUSED;
        }
        if (copyPreferred) {
            return Data.COPY;
        }
        List<Boolean> founded =
                words.stream().map(Word::foundedEmpty).filter(Objects::nonNull).toList();
        return founded.isEmpty() ? Data.UNTOLD : founded.contains(true) ? Data.ORDER : Data.COPY;
    }

    /**
     * Where the server of a node with a new directory gets its first data from, if the node begins as one of the first
     * members. These begin with what their servers hold. Where one of them has tables and this one none, they are given
     * to it; that servers which all have tables have the same ones, somebody has to have seen to.
     *
     * <p>A majority isn't enough for servers without tables to begin: the one whose service starts last may be the one
     * that has them.
     *
     * @param applied up to which seqno it holds everything
     * @param empty whether nobody has made a table in it
     */
    public Data dataOfFounder(long applied, boolean empty, Collection<? extends Word> words) {
        if (applied > 0) {
            return Data.ITS_OWN;
        }
        List<? extends Word> servers = words.stream().filter(Word::hasServer).toList();
        boolean begunEmpty = servers.stream()
                .anyMatch(word -> !word.members().isEmpty() && Boolean.TRUE.equals(word.foundedEmpty()));
        if (!empty) {
            // Others have begun already, without what this one holds.
            return begunEmpty ? Data.REFUSED : Data.ITS_OWN;
        }
        if (servers.stream().anyMatch(word -> Boolean.FALSE.equals(word.foundedEmpty()))) {
            return Data.COPY;
        }
        // Whoever has begun without tables had asked all.
        boolean all = begunEmpty || silent(words).isEmpty();
        return all && servers.stream().allMatch(word -> word.foundedEmpty() != null) ? Data.ORDER : Data.UNTOLD;
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
