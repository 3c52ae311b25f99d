// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.TableName;
import io.quorate.core.WriteSet;
import java.util.Set;

/** What the texts of definitions say. */
public interface DefinitionTexts {
    /** Says nothing of any of them. */
    DefinitionTexts UNREAD = new DefinitionTexts() {
        @Override
        public Set<TableName> tables(WriteSet definition) {
            return null;
        }

        @Override
        public Likeness likeness(WriteSet loser, WriteSet definition) {
            return Likeness.NONE;
        }
    };

    /** What a definition that lost is beside the one that it lost against, on a server that has run it before. */
    enum Likeness {
        /** The server holds something else than the others now. */
        NONE,
        /** Both do the same, so the server need not run the other one. */
        SAME,
        /** Nothing is left of it once the other one has been run. */
        OVERWRITTEN
    }

    /**
     * The tables that a definition names, which are locked while it is run; none for accounts, views and the like; null
     * where they aren't known.
     */
    Set<TableName> tables(WriteSet definition);

    /** What a definition that was run here, and lost, is beside the one that is to be run. */
    Likeness likeness(WriteSet loser, WriteSet definition);
}
