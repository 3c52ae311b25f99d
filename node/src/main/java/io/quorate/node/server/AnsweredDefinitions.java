// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.capture.DefinedTables;
import io.quorate.core.Certified;
import io.quorate.core.Verdict;
import io.quorate.core.WriteSetLog;
import java.io.IOException;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Of definitions that lost, those whose clients hear OK all the same, as the second one on a server alone would:
 * another node has given the same one, or one that leaves nothing of it. They are as good as run right before that one.
 */
record AnsweredDefinitions(WriteSetLog log, DefinedTables defined) implements Predicate<Certified> {
    private static final Logger logger = LoggerFactory.getLogger(AnsweredDefinitions.class);

    @Override
    public boolean test(Certified c) {
        long other = c.conflictsWith();
        if (c.verdict() != Verdict.CONFLICT
                || !c.writeSet().isDefinition()
                || other < log.first()
                || other > log.last()) {
            return false;
        }
        try {
            return defined.isAnsweredBy(c.writeSet(), log.at(other).writeSet());
        } catch (IOException e) {
            logger.warn("seqno {} can't be read: {}", other, e.toString());
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
