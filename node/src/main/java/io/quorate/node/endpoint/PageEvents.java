// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.endpoint;

import io.quorate.core.answer.AuditAnswer;
import io.quorate.core.answer.ClusterAnswer;
import io.quorate.core.answer.ConflictsAnswer;
import io.quorate.core.answer.MembersAnswer;
import io.quorate.core.answer.TransferAnswer;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/**
 * {@code /events}: what the node's page shows, once a second, as server-sent events. Nothing is looked for while nobody
 * listens.
 */
@RestController
class PageEvents implements DisposableBean {
    private static final Logger log = LoggerFactory.getLogger(PageEvents.class);
    private static final int LISTENERS_MAX = 32;
    private static final int CONFLICTS_SHOWN = 20;
    /** A browser connects again after that. */
    private static final long LISTENS_MILLIS = TimeUnit.MINUTES.toMillis(30);

    private final MembersEndpoint members;
    private final ClusterEndpoint cluster;
    private final TransferEndpoint transfer;
    private final AuditEndpoint audit;
    private final ConflictsEndpoint conflicts;
    private final Set<SseEmitter> listeners = ConcurrentHashMap.newKeySet();
    private final EverySecond looking;

    /** All that the page shows of one moment. */
    record Look(
            MembersAnswer members,
            ClusterAnswer cluster,
            TransferAnswer transfer,
            AuditAnswer audit,
            ConflictsAnswer conflicts) {}

    PageEvents(
            MembersEndpoint members,
            ClusterEndpoint cluster,
            TransferEndpoint transfer,
            AuditEndpoint audit,
            ConflictsEndpoint conflicts) {
        this.members = members;
        this.cluster = cluster;
        this.transfer = transfer;
        this.audit = audit;
        this.conflicts = conflicts;
        this.looking = new EverySecond("quorate-page", this::tell);
    }

    @GetMapping(path = "/events", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
    SseEmitter events() {
        if (listeners.size() >= LISTENERS_MAX) {
            throw new ResponseStatusException(
                    HttpStatus.SERVICE_UNAVAILABLE, LISTENERS_MAX + " pages are open already; close one");
        }
        SseEmitter listener = new SseEmitter(LISTENS_MILLIS);
        listener.onCompletion(() -> listeners.remove(listener));
        listener.onError(e -> listeners.remove(listener));
        listener.onTimeout(listener::complete);
        listeners.add(listener);
        looking.soon();
        return listener;
    }

    private void tell() {
        if (listeners.isEmpty()) {
            return;
        }
        try {
            Look look = new Look(
                    members.members(),
                    cluster.cluster(),
                    transfer.transfer(),
                    audit.audit(),
                    conflicts.list(CONFLICTS_SHOWN, false));
            listeners.forEach(listener -> tell(listener, look));
        } catch (IOException | RuntimeException e) {
            // The page says that nothing comes; the next look may go well.
            log.warn("the page can't be told how the cluster is: {}", e.toString());
        }
    }

    private void tell(SseEmitter listener, Look look) {
        try {
            listener.send(SseEmitter.event().name("look").data(look, MediaType.APPLICATION_JSON));
        } catch (IOException | IllegalStateException e) {
            // Whoever listened has gone.
            listeners.remove(listener);
        }
    }

    @Override
    public void destroy() {
        looking.close();
        listeners.forEach(SseEmitter::complete);
    }
}
