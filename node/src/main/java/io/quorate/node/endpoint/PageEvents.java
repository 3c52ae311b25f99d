// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.endpoint;

import io.quorate.core.answer.AuditAnswer;
import io.quorate.core.answer.ClusterAnswer;
import io.quorate.core.answer.ConflictsAnswer;
import io.quorate.core.answer.MembersAnswer;
import io.quorate.core.answer.TransferAnswer;
import java.io.IOException;
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
    private static final int CONFLICTS_SHOWN = 20;
    /** A browser connects again after that. */
    private static final long LISTENS_MILLIS = TimeUnit.MINUTES.toMillis(30);

    private final MembersEndpoint members;
    private final ClusterEndpoint cluster;
    private final TransferEndpoint transfer;
    private final AuditEndpoint audit;
    private final ConflictsEndpoint conflicts;
    private final OpenPages pages = new OpenPages();
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
        SseEmitter page = new SseEmitter(LISTENS_MILLIS);
        if (!pages.add(page)) {
            throw new ResponseStatusException(HttpStatus.SERVICE_UNAVAILABLE, OpenPages.full());
        }
        looking.soon();
        return page;
    }

    private void tell() {
        if (pages.isEmpty()) {
            return;
        }
        try {
            Look look = new Look(
                    members.members(),
                    cluster.cluster(),
                    transfer.transfer(),
                    audit.audit(),
                    conflicts.list(CONFLICTS_SHOWN, false));
            pages.tell(look);
        } catch (IOException | RuntimeException e) {
            // The page says that nothing comes; the next look may go well.
            log.warn("the page can't be told how the cluster is: {}", e.toString());
        }
    }

    @Override
    public void destroy() {
        looking.close();
        pages.close();
    }
}
