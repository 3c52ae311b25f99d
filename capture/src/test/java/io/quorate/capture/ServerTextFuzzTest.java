// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.binlog.QueryEvent;
import io.quorate.fuzz.Fuzz;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Whatever a server's binlog or dictionary has as a text, nothing unforeseen comes of reading it. */
class ServerTextFuzzTest {
    private static final List<String> STATEMENTS = List.of(
            "CREATE TABLE `a``b`.`ü \"'` (`id` int DEFAULT (uuid()) COMMENT 'it''s \\' -- x', CHECK (`id` > 1))",
            "ALTER TABLE t ADD COLUMN c TIMESTAMP NULL AFTER b, ADD UNIQUE (c), ALGORITHM=COPY /*!80000 LOCK=NONE */",
            "CREATE DEFINER=`root`@`%` EVENT `e` ON SCHEDULE EVERY @n HOUR ENDS now() + interval rand() day DO DO 1",
            "GRANT SELECT ON *.* TO `a`@`%` AS 'root'@'localhost' WITH ROLE `r`@`%`,`s`@`h`",
            "CREATE USER 'u'@'%' IDENTIFIED WITH 'caching_sha2_password' AS '$A$\\0' REQUIRE SSL PASSWORD HISTORY 3",
            "INSERT INTO \"x\" SELECT * FROM y # to the end\n WHERE a = _utf8mb4'\\'' AND b = 0x27",
            "XA COMMIT X'6162',X'',1",
            "CREATE VIEW v AS WITH RECURSIVE w AS (SELECT 1) SELECT * FROM w",
            "ANALYZE TABLE `a`.`b`, `c`.`d`",
            "CREATE LIBRARY l LANGUAGE JAVASCRIPT AS $$ `'\" $$");
    private static final List<String> EXPRESSIONS =
            List.of("hour(`ts`)", "(`a` / 3)", "json_value(`j`, _utf8mb4\\'$.a\\' returning char(10))", "week(`d`,6)");

    private static Fuzz of(List<String> texts) {
        return Fuzz.of(texts.stream()
                        .map(each -> each.getBytes(StandardCharsets.UTF_8))
                        .toList())
                .allocating(5_000);
    }

    @Test
    void statements() {
        of(STATEMENTS).run(bytes -> {
            String text = new String(bytes, StandardCharsets.UTF_8);
            for (long mode : new long[] {0, QueryEvent.ANSI_QUOTES, QueryEvent.NO_BACKSLASH_ESCAPES}) {
                Statement.parse(text, "db", mode);
                Unlogged.of(text, mode);
                new AlteredInPlace(SqlTokens.of(text, mode)).isAll();
                new StatementParser(SqlTokens.of(text, mode), "db").analyzed();
            }
            Xid.in(text);
        });
    }

    @Test
    void expressions() {
        of(EXPRESSIONS).run(bytes -> Unlogged.ofExpression(new String(bytes, StandardCharsets.UTF_8)));
    }
}
