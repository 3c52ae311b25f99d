// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import io.quorate.core.LogPosition;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftConfigurationProto;
import org.apache.ratis.util.ProtoUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Goes on without the majority: this node alone becomes the cluster, in a new life of it. Its log stays, including
 * entries that no majority has confirmed yet: they may have been acknowledged somewhere, and nobody is left to say
 * otherwise. In Raft's terms the log moves to another group, which members of the former group can't reach, and gets
 * this node as its configuration.
 *
 * <p>Ratis 3.3 takes the configuration with the highest index among its file {@code raft-meta.conf} and the log's
 * entries (seen in its bytecode). So the configuration written here has the index right after the log's last entry; the
 * entry with which the node begins to lead takes the same index, and names the same members.
 */
final class ForcedLife {
    private static final Logger LOG = LoggerFactory.getLogger(ForcedLife.class);
    private static final String CONFIGURATION = "raft-meta.conf";

    private ForcedLife() {}

    /**
     * Records the decision durably; {@link #complete} does the rest at the next start. Allowed only while this node
     * takes no part in the order.
     */
    static void decide(TransportSettings settings) throws IOException {
        Lives next = settings.lives().next(UUID.randomUUID());
        LOG.warn(
                "by force, {} alone is cluster {} from now on, in its life {}",
                settings.self(),
                settings.cluster(),
                next.name());
        Membership.write(settings.directory(), List.of(settings.selfPeer()), next);
    }

    /** Moves the log of the former life to the present one, if that was decided and is not done yet. */
    static void complete(TransportSettings settings, LogPosition resumeAfter) throws IOException {
        Lives lives = settings.lives();
        if (lives.ids().isEmpty() || settings.joining()) {
            return;
        }
        Path present = RaftSettings.group(settings, lives);
        Path former = RaftSettings.group(settings, lives.former());
        if (Files.exists(present) || !Files.exists(former)) {
            return;
        }
        Path directory = former.resolve(RaftSettings.CURRENT);
        long last = Math.max(LogCheck.run(directory, resumeAfter), resumeAfter.index());
        configure(directory, settings.selfPeer(), last + 1);
        DurableFile.move(former, present);
        LOG.warn("the log of the former life goes on in life {}, up to {} as it was", lives.name(), last);
    }

    private static void configure(Path directory, TransportSettings.Peer self, long index) throws IOException {
        LogEntryProto entry = LogEntryProto.newBuilder()
                .setIndex(index)
                .setConfigurationEntry(RaftConfigurationProto.newBuilder()
                        .addAllPeers(ProtoUtils.toRaftPeerProtos(List.of(Membership.toRaft(self)))))
                .build();
        DurableFile.write(directory.resolve(CONFIGURATION), entry.toByteArray());
    }
}
