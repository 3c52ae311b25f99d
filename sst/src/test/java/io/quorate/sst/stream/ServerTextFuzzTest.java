// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.QuorateException;
import io.quorate.core.ShownTable;
import io.quorate.fuzz.Fuzz;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Whatever SHOW CREATE prints, nothing unforeseen comes of reading it. */
class ServerTextFuzzTest {
    private static final String TABLE = "CREATE TABLE `a``b` (\n"
            + "  `id` int NOT NULL AUTO_INCREMENT COMMENT 'it''s \\\\',\n"
            + "  `ü` varchar(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin GENERATED ALWAYS AS (_utf8'),\\n') STORED,\n"
            + "  PRIMARY KEY (`id`),\n  KEY `k``` (`ü`(3),(lower(`ü`))),\n"
            + "  CONSTRAINT `f` FOREIGN KEY (`id`) REFERENCES `p` (`id`) ON DELETE CASCADE,\n"
            + "  CONSTRAINT `c` CHECK ((`id` > 0)) /*!80016 NOT ENFORCED */\n"
            + ") ENGINE=InnoDB AUTO_INCREMENT=7 DEFAULT CHARSET=utf8mb4 COMMENT=')'\n/*!50100 PARTITION BY KEY (id) */";
    /** 8.0.33 and 9.7: quotes in names, roles, REQUIRE, PASSWORD options, attributes. */
    private static final List<String> ACCOUNTS = List.of(
            "CREATE USER `a``'\"`@`%` IDENTIFIED WITH 'caching_sha2_password' AS '$A$it''s \\' DEFAULT ROLE `x`@`%`'"
                    + " DEFAULT ROLE `r`@`%`,`r2`@`localhost` REQUIRE X509 WITH MAX_QUERIES_PER_HOUR 3"
                    + " PASSWORD EXPIRE INTERVAL 90 DAY ACCOUNT LOCK PASSWORD HISTORY 3 PASSWORD REUSE INTERVAL DEFAULT"
                    + " PASSWORD REQUIRE CURRENT FAILED_LOGIN_ATTEMPTS 3 PASSWORD_LOCK_TIME UNBOUNDED"
                    + " ATTRIBUTE '{\"a\": \"DEFAULT ROLE\"}'",
            "CREATE USER `h`@`10.0.0.0/255.0.0.0` IDENTIFIED WITH 'caching_sha2_password' AS 0x24412430 DEFAULT ROLE"
                    + " `r`@`%` REQUIRE NONE PASSWORD EXPIRE DEFAULT ACCOUNT UNLOCK",
            "CREATE USER `n`@`%` IDENTIFIED WITH 'auth_socket' REQUIRE SUBJECT '/CN=x' AND ISSUER 'y'");

    private static Fuzz of(List<String> texts) {
        return Fuzz.of(texts.stream()
                        .map(each -> each.getBytes(StandardCharsets.UTF_8))
                        .toList())
                .allocating(5_000);
    }

    @Test
    void tables() {
        of(List.of(TABLE)).refusing(QuorateException.class).run(bytes -> {
            String text = new String(bytes, StandardCharsets.UTF_8);
            ShownTable.comparable(text, Map.of("utf8mb4", "utf8mb4_0900_ai_ci"));
            TableText.of(text, "InnoDB", plain -> Set.of());
        });
    }

    @Test
    void accounts() {
        of(ACCOUNTS).run(bytes -> AccountReader.withoutDefaultRole(new String(bytes, StandardCharsets.UTF_8)));
        assertThat(AccountReader.withoutDefaultRole(ACCOUNTS.get(0)))
                .contains("DEFAULT ROLE `x`", "REQUIRE X509", "\"DEFAULT ROLE\"")
                .doesNotContain("`r2`");
        assertThat(AccountReader.withoutDefaultRole(ACCOUNTS.get(1))).contains("AS 0x24412430 REQUIRE NONE");
        assertThat(AccountReader.withoutDefaultRole(ACCOUNTS.get(2))).isEqualTo(ACCOUNTS.get(2));
    }
}
