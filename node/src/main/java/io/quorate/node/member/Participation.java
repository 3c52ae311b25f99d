// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.member;

import io.quorate.transport.TransportSettings;
import io.quorate.transport.TransportSettings.Peer;
import java.util.List;

/** As what this node takes part in the order: under which name and generation, beside whom. Any thread. */
public final class Participation {
    private volatile TransportSettings settings;

    /** It is decided, anew maybe; the order that runs is not changed by it. */
    public void decide(TransportSettings decided) {
        settings = decided;
    }

    /** Whether it is known; else the others have to be asked. */
    public boolean isDecided() {
        return settings != null;
    }

    /** As which peer this node takes part. Once it is decided. */
    public Peer self() {
        return settings.selfPeer();
    }

    /** Whether this node asks to be a member, rather than being one. Once it is decided. */
    public boolean isJoining() {
        return settings.joining();
    }

    /** In which generation of its name this node takes part; 0 while that isn't decided. */
    int generation() {
        TransportSettings decided = settings;
        return decided == null ? 0 : decided.selfPeer().generation();
    }

    /** The members that this node begins with; none while that isn't decided. */
    public List<Peer> peers() {
        return isDecided() ? toStart().peers() : List.of();
    }

    /** What the order is to be started with now. Once it is decided. */
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
