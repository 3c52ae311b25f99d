// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.CarriedSetting;
import java.util.EnumSet;
import java.util.Set;

/**
 * What a definition takes of its session or server that the binlog doesn't have. That is little: the bodies of views,
 * triggers and stored programs are evaluated by whoever uses them, and most functions that differ by session or server
 * are refused in definitions (errors 1674, 3770, 3772).
 *
 * @param settings session variables on which its effect may depend
 * @param named those of them on which it depends by its text
 * @param unrepeatable a function whose result is in no log and in no variable; null for none
 * @param drawsLots whether RAND() decides about it, whose seeds are in the log of a server that has run it
 */
record Unlogged(Set<CarriedSetting> settings, Set<CarriedSetting> named, String unrepeatable, boolean drawsLots) {
    private static final Set<String> KINDS = Set.of(
            "TABLE",
            "INDEX",
            "VIEW",
            "EVENT",
            "DATABASE",
            "SCHEMA",
            "PROCEDURE",
            "FUNCTION",
            "TRIGGER",
            "USER",
            "ROLE",
            "SERVER");

    /** Differ by connection, role or server, and are taken in expressions of columns. */
    private static final Set<String> BY_SESSION =
            Set.of("PS_CURRENT_THREAD_ID", "PS_THREAD_ID", "CURRENT_ROLE", "ROLES_GRAPHML");

    /** Taken in an event's schedule, too, which is evaluated once, when the event is defined. */
    private static final Set<String> IN_SCHEDULES = Set.of(
            "USER",
            "CURRENT_USER",
            "SESSION_USER",
            "SYSTEM_USER",
            "UUID",
            "UUID_SHORT",
            "RANDOM_BYTES",
            "SYSDATE",
            "FOUND_ROWS",
            "ROW_COUNT",
            "VERSION",
            "ICU_VERSION",
            "LOAD_FILE",
            "GET_LOCK",
            "IS_FREE_LOCK",
            "IS_USED_LOCK",
            "RELEASE_LOCK",
            "RELEASE_ALL_LOCKS",
            "SOURCE_POS_WAIT",
            "MASTER_POS_WAIT",
            "WAIT_FOR_EXECUTED_GTID_SET");

    private static final Unlogged NOTHING = new Unlogged(Set.of(), Set.of(), null, false);

    /** Whatever makes a table anew evaluates its expressions anew, also those that are in no text. */
    private static final Set<CarriedSetting> EVALUATED = Set.of(
            CarriedSetting.DEFAULT_WEEK_FORMAT,
            CarriedSetting.DIV_PRECISION_INCREMENT,
            CarriedSetting.BLOCK_ENCRYPTION_MODE,
            CarriedSetting.OLD_ALTER_TABLE);

    static Unlogged of(String sql, long sqlMode) {
        SqlTokens tokens = SqlTokens.of(sql, sqlMode);
        return switch (tokens.take().upper()) {
            case "CREATE" -> of(tokens, true);
            case "ALTER" -> of(tokens, false);
            case "DROP" -> tokens.peek().is("INDEX") ? anew() : NOTHING;
            case "OPTIMIZE" -> anew();
            default -> NOTHING;
        };
    }

    private static Unlogged anew() {
        return new Unlogged(EVALUATED, Set.of(), null, false);
    }

    private static Unlogged of(SqlTokens tokens, boolean creates) {
        boolean fulltext = tokens.peek().is("FULLTEXT");
        while (!tokens.atEnd() && !KINDS.contains(tokens.peek().upper())) {
            tokens.take();
        }
        String kind = tokens.take().upper();
        Set<CarriedSetting> named = EnumSet.noneOf(CarriedSetting.class);
        Scan scan =
                switch (kind) {
                    case "TABLE" -> new Scan(tokens, named, !creates, false);
                    case "INDEX" -> new Scan(tokens, named, true, false);
                    case "VIEW" -> new Scan(tokens, named, false, false);
                    case "EVENT" -> new Scan(tokens, named, true, true);
                    default -> null;
                };
        if (scan == null) {
            return NOTHING;
        }
        scan.all();
        boolean ofTable = kind.equals("TABLE") || kind.equals("INDEX");
        if (ofTable && (fulltext || tokens.restHasAny(Set.of("FULLTEXT")))) {
            named.add(CarriedSetting.INNODB_FT_ENABLE_STOPWORD);
            named.add(CarriedSetting.INNODB_FT_USER_STOPWORD_TABLE);
        }
        Set<CarriedSetting> settings = EnumSet.noneOf(CarriedSetting.class);
        settings.addAll(named);
        if (kind.equals("VIEW") || (kind.equals("TABLE") && tokens.restHasAny(Set.of("CHECK", "LIKE")))) {
            settings.add(CarriedSetting.SQL_QUOTE_SHOW_CREATE);
        }
        if (creates && kind.equals("TABLE")) {
            if (!namesEngine(tokens.rest())) {
                settings.add(CarriedSetting.DEFAULT_STORAGE_ENGINE);
            }
        } else if (ofTable) {
            settings.addAll(EVALUATED);
        }
        return new Unlogged(settings, named, scan.unrepeatable, scan.drawsLots);
    }

    /** The settings on which an expression depends that is evaluated for rows. */
    static Set<CarriedSetting> ofExpression(String expression) {
        return of("ALTER TABLE t ADD c INT AS (" + expression + ")", 0).named;
    }

    /** A table like another one has that one's engine. */
    private static boolean namesEngine(SqlTokens tokens) {
        int depth = 0;
        boolean isLike = false;
        for (int i = 0; !tokens.atEnd(); i++) {
            SqlTokens.Token token = tokens.take();
            depth += token.isSign('(') ? 1 : token.isSign(')') ? -1 : 0;
            isLike |= token.is("LIKE") && i < LIKE_WITHIN && depth <= 1;
            SqlTokens.Token next = tokens.peek();
            if (depth == 0 && token.is("ENGINE") && (next.isSign('=') || next.isName() || next.isString())) {
                return true;
            }
        }
        return isLike;
    }

    /** IF NOT EXISTS, a name of three tokens, and a parenthesis may come before it. */
    private static final int LIKE_WITHIN = 8;

    /** Looks through the expressions of a statement, which are not told apart from the rest of it. */
    private static final class Scan {
        private final SqlTokens tokens;
        private final Set<CarriedSetting> settings;
        private final boolean evaluates;
        private final boolean isSchedule;
        private String unrepeatable;
        private boolean drawsLots;

        /** @param evaluates whether the statement itself evaluates its expressions, as for rows that are there */
        Scan(SqlTokens tokens, Set<CarriedSetting> settings, boolean evaluates, boolean isSchedule) {
            this.tokens = tokens.rest();
            this.settings = settings;
            this.evaluates = evaluates;
            this.isSchedule = isSchedule;
        }

        void all() {
            if (isSchedule) {
                while (!tokens.atEnd() && !tokens.peek().is("SCHEDULE")) {
                    tokens.take();
                }
            }
            while (!tokens.atEnd() && !(isSchedule && tokens.peek().is("DO"))) {
                SqlTokens.Token token = tokens.take();
                if (token.is("WEEK") && tokens.peek().isSign('(') && !hasTwoArguments()) {
                    settings.add(CarriedSetting.DEFAULT_WEEK_FORMAT);
                }
                if (evaluates) {
                    evaluated(token);
                }
            }
        }

        private void evaluated(SqlTokens.Token token) {
            boolean isCall = tokens.peek().isSign('(');
            if (token.isSign('/')) {
                settings.add(CarriedSetting.DIV_PRECISION_INCREMENT);
            } else if (isCall && token.is("EXTRACT") && tokens.peek(1).is("WEEK")) {
                settings.add(CarriedSetting.DEFAULT_WEEK_FORMAT);
            } else if (isCall && (token.is("AES_ENCRYPT") || token.is("AES_DECRYPT"))) {
                settings.add(CarriedSetting.BLOCK_ENCRYPTION_MODE);
            } else if (isCall && BY_SESSION.contains(token.upper())) {
                unrepeatable = token.upper() + "()";
            } else if (isSchedule && token.isSign('@') && tokens.peek().isSign('@')) {
                unrepeatable = "a system variable";
            } else if (isSchedule && (token.is("CURRENT_USER") || (isCall && IN_SCHEDULES.contains(token.upper())))) {
                unrepeatable = token.upper() + "()";
            } else if (isSchedule && isCall && token.is("RAND")) {
                drawsLots = true;
            }
        }

        /** Of the function whose opening parenthesis is next. */
        private boolean hasTwoArguments() {
            int depth = 0;
            for (int i = 0; tokens.peek(i).kind() != SqlTokens.Kind.END; i++) {
                SqlTokens.Token token = tokens.peek(i);
                depth += token.isSign('(') ? 1 : token.isSign(')') ? -1 : 0;
                if (depth == 1 && token.isSign(',')) {
                    return true;
                } else if (depth == 0) {
                    return false;
                }
            }
            return false;
        }
    }
}
