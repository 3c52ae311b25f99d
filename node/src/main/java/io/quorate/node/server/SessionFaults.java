// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.core.ErrorCode;
import io.quorate.core.NodeEvent;
import io.quorate.core.QuorateException;
import io.quorate.node.thread.FaultHandler;
import io.quorate.node.thread.Faults;
import java.util.function.Consumer;

/** Has another session with the server begin when a thread of one fails unforeseen, as long as {@link Faults} allow. */
record SessionFaults(FaultHandler node, LinkSignals signals) implements FaultHandler {
    @Override
    public void ended(String thread, Throwable cause) {
        if (node.mayGoOn(thread, cause)) {
            signals.lost(thread + " failed: " + cause + "; the log has more");
        } else {
            node.ended(thread, cause);
        }
    }

    /** For threads that say themselves what has ended them. */
    Consumer<NodeEvent> events(Consumer<NodeEvent> others) {
        return event -> {
            if (event instanceof NodeEvent.Failed failed) {
                failed(failed.cause(), others);
            } else {
                others.accept(event);
            }
        };
    }

    private void failed(QuorateException told, Consumer<NodeEvent> others) {
        Throwable cause = Faults.isUnforeseen(told) ? told : told.getCause();
        if (cause != null && Faults.isUnforeseen(cause) && node.mayGoOn("the session with the server", cause)) {
            signals.lost(told.detail() + "; the log has more");
            return;
        }
        // What this server refuses again and again, and others took: the table here may be damaged.
        boolean isOfTables =
                told.code() == ErrorCode.APPLY_FAILED && !told.difference().mayBeAnywhere();
        others.accept(new NodeEvent.Failed(
                isOfTables
                        ? new QuorateException(ErrorCode.APPLY_MISMATCH, told.detail(), told, told.difference())
                        : told));
    }
}
