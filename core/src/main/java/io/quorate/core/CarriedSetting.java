// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.util.Locale;

/**
 * A session variable that a definition's effect may depend on, or what servers compute of rows, and that no event of
 * the binlog has. The origin's service asks its server for the session's value, and adds that to the definition or the
 * rows. {@code docs/session-variables.md} has all variables, these among them.
 */
public enum CarriedSetting {
    /** What WEEK(d) without a mode stands for; it becomes part of the expression. EXTRACT(WEEK FROM d) asks it anew. */
    DEFAULT_WEEK_FORMAT,
    /** How many digits a division adds. */
    DIV_PRECISION_INCREMENT,
    /** What AES_ENCRYPT and AES_DECRYPT do. */
    BLOCK_ENCRYPTION_MODE,
    /** Whether a table is altered by a copy, which evaluates its expressions anew, and may number rows otherwise. */
    OLD_ALTER_TABLE,
    /** Whether names are quoted in a view or CHECK, whose text the server keeps. */
    SQL_QUOTE_SHOW_CREATE,
    /** The engine of a table for which none is named. */
    DEFAULT_STORAGE_ENGINE,
    /** Whether a FULLTEXT index leaves words out; the index keeps to that. */
    INNODB_FT_ENABLE_STOPWORD,
    /** The table that has these words. */
    INNODB_FT_USER_STOPWORD_TABLE;

    /** The variable's name. */
    public String variable() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Null for a variable that isn't carried. */
    public static CarriedSetting of(String variable) {
        for (CarriedSetting each : values()) {
            if (each.variable().equals(variable)) {
                return each;
            }
        }
        return null;
    }
}
