// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.member;

import io.quorate.transport.TransportSettings;
import io.quorate.transport.TransportSettings.Peer;
import java.util.List;

/**
 * How this node takes part in the order: under which name and generation, and with which other members. Any thread may
 * use it.
 */
public final class Participation {
    private volatile TransportSettings settings;

    /** Notes what has been decided, perhaps not for the first time. That doesn't change an order that is running. */
    public void decide(TransportSettings decided) {
        settings = decided;
    }

    /** Whether this has been decided; if not, the others have to be asked. */
    public boolean isDecided() {
        return settings != null;
    }

    /** The peer as which this node takes part. Only to be called once that is decided. */
    public Peer self() {
        return settings.selfPeer();
    }

    /** Whether this node asks to become a member, rather than being one. Only to be called once that is decided. */
    public boolean isJoining() {
        return settings.joining();
    }

    /** The generation of its name in which this node takes part; 0 while that isn't decided. */
    int generation() {
        TransportSettings decided = settings;
        return decided == null ? 0 : decided.selfPeer().generation();
    }

    /** The members with which this node begins; none while that isn't decided. */
    public List<Peer> peers() {
        return isDecided() ? toStart().peers() : List.of();
    }

    /** The settings with which the order is to be started now. Only to be called once they are decided. */
    public TransportSettings toStart() {
        TransportSettings decided = settings;
        List<Peer> known = decided.knownMembers();
        boolean member = known.contains(decided.selfPeer());
        return member && decided.wasMember()
                ? decided.withPeers(known, false)
                : decided.withPeers(
                        decided.joining() ? List.of(decided.selfPeer()) : decided.peers(), decided.joining());
    }
}
