// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.conflict;

import io.quorate.capture.KeyExplainer;
import io.quorate.core.Certified;
import io.quorate.core.QuorateException;
import io.quorate.core.WriteSet;
import io.quorate.node.server.ServerAccess;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A {@link KeyExplainer} on a connection of its own, which comes and goes with the server. While the server can't be
 * reached nothing is explained, and the server is asked again only after a while. Used by one thread.
 */
public final class ServerKeyExplainer implements Explainer, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(ServerKeyExplainer.class);
    private static final Duration PAUSE = Duration.ofSeconds(5);

    private final ServerAccess access;
    private final Supplier<UUID> self;
    private Connection connection;
    private KeyExplainer explainer;
    private long notBeforeNanos = System.nanoTime();

    /** @param self the server's UUID; null while that isn't known */
    public ServerKeyExplainer(ServerAccess access, Supplier<UUID> self) {
        this.access = access;
        this.self = self;
    }

    @Override
    public Map<Long, KeyExplainer.Explained> explain(WriteSet w, Set<Long> hashes) {
        if (hashes.isEmpty() || System.nanoTime() - notBeforeNanos < 0) {
            return Map.of();
        }
        try {
            if (explainer == null) {
                connection = access.workers().getConnection();
                explainer = new KeyExplainer(connection);
            }
            return explainer.explain(w, hashes);
        } catch (SQLException | QuorateException e) {
            log.debug("conflicts are described without the server: {}", e.toString());
            close();
            notBeforeNanos = System.nanoTime() + PAUSE.toNanos();
            return Map.of();
        }
    }

    @Override
    public String accountOf(Certified loser) {
        WriteSet w = loser.writeSet();
        return w.gtid().source().equals(self.get()) ? access.accountOf(w.session()) : null;
    }

    @Override
    public void close() {
        explainer = null;
        if (connection != null) {
            try {
                connection.close();
            } catch (SQLException e) {
                log.debug("while closing: {}", e.toString());
            }
            connection = null;
        }
    }
}
