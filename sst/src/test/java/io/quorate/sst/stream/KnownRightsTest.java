// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.sst.stream.Catalog.Account;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class KnownRightsTest {
    private static final Set<String> OLD = Set.of("BACKUP_ADMIN", "SET_USER_ID", "XA_RECOVER_ADMIN");
    private static final Set<String> NEW =
            Set.of("ALLOW_NONEXISTENT_DEFINER", "BACKUP_ADMIN", "SET_ANY_DEFINER", "XA_RECOVER_ADMIN");

    private final List<String> left = new ArrayList<>();

    private List<String> known(Set<String> rights, String... grants) {
        Account account = new Account("a", "%", "CREATE USER 'a'@'%'", List.of(grants), List.of(), List.of());
        return new KnownRights(rights, left::add).of(account).grants();
    }

    @Test
    void whatTheServerKnowsStaysAsItIs() {
        String[] grants = {
            "GRANT SELECT, CREATE USER ON *.* TO `a`@`%` WITH GRANT OPTION",
            "GRANT BACKUP_ADMIN,SET_USER_ID ON *.* TO `a`@`%`",
            "GRANT SELECT (`some_column`) ON `x`.`t` TO `a`@`%`",
            "REVOKE INSERT ON `x`.* FROM `a`@`%`"
        };
        assertThat(known(OLD, grants)).containsExactly(grants);
        assertThat(left).isEmpty();
    }

    @Test
    void theRightOfDefinersHasAnotherNameThere() {
        assertThat(known(NEW, "GRANT BACKUP_ADMIN,SET_USER_ID,XA_RECOVER_ADMIN ON *.* TO `a`@`%` WITH GRANT OPTION"))
                .containsExactly("GRANT ALLOW_NONEXISTENT_DEFINER,BACKUP_ADMIN,SET_ANY_DEFINER,XA_RECOVER_ADMIN"
                        + " ON *.* TO `a`@`%` WITH GRANT OPTION");
        assertThat(known(OLD, "GRANT ALLOW_NONEXISTENT_DEFINER,SET_ANY_DEFINER ON *.* TO `a`@`%`"))
                .containsExactly("GRANT SET_USER_ID ON *.* TO `a`@`%`");
        assertThat(left).isEmpty();
    }

    @Test
    void whatItDoesntHaveIsNamed() {
        assertThat(known(OLD, "GRANT BACKUP_ADMIN,TRANSACTION_GTID_TAG ON *.* TO `a`@`%`"))
                .containsExactly("GRANT BACKUP_ADMIN ON *.* TO `a`@`%`");
        assertThat(known(OLD, "GRANT TRANSACTION_GTID_TAG ON *.* TO `a`@`%`")).isEmpty();
        assertThat(left)
                .hasSize(2)
                .allMatch(each -> each.startsWith("the right TRANSACTION_GTID_TAG, which this server doesn't have"));
    }
}
