// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.node.server.ServerCheck.Finding;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class AccountAdviceTest {
    private static final Pattern GRANT =
            Pattern.compile("GRANT ([A-Z_, \\n]+?)\\s+ON \\*\\.\\* TO '?quorate.*?;", Pattern.DOTALL);

    private static List<Finding> findings(String account, Set<String> privileges) {
        return AccountAdvice.findings(account, privileges, Set.of(), true);
    }

    @Test
    void hasNothingToSayOfAnAccountThatMayDoWhatItNeeds() {
        assertThat(findings("quorate@127.0.0.1", Set.of("SELECT", "PROCESS", "CONNECTION_ADMIN")))
                .isEmpty();
    }

    @Test
    void namesRightsThatNothingNeedsAndHowToTakeThem() {
        assertThat(findings("q@h", Set.of("SELECT", "SUPER", "FILE")))
                .singleElement()
                .satisfies(finding -> assertThat(finding.toString())
                        .contains("has FILE, SUPER, which", "REVOKE FILE, SUPER ON *.* FROM 'q'@'h';")
                        .doesNotContain("GRANT ALL"));
        assertThat(findings("q@h", Set.of("SHUTDOWN", "SUPER", "FILE")))
                .singleElement()
                .satisfies(finding -> assertThat(finding.what()).contains("GRANT ALL"));
    }

    @Test
    void namesAnAccountThatAnybodyMayTry() {
        assertThat(findings("q@%", Set.of())).singleElement().satisfies(finding -> assertThat(finding.toString())
                .contains("any host", "RENAME USER 'q'@'%' TO 'q'@'127.0.0.1';"));
    }

    @Test
    void namesRightsWithoutWhichADefinitionWouldCloseTheServer() {
        Set<String> known = Set.of("CREATE VIEW", "SET_USER_ID", "CREATE USER", "GRANT OPTION", "SELECT");
        assertThat(AccountAdvice.findings("q@h", Set.of("SET_USER_ID"), known, true))
                .singleElement()
                .satisfies(finding -> assertThat(finding.toString())
                        .contains("lacks CREATE VIEW, CREATE USER, GRANT OPTION:", "QRT-1006")
                        .contains("GRANT CREATE VIEW, CREATE USER ON *.* TO 'q'@'h' WITH GRANT OPTION;"));
        assertThat(AccountAdvice.findings("q@h", Set.of("CREATE VIEW", "SET_USER_ID", "CREATE USER"), known, true))
                .singleElement()
                .satisfies(finding ->
                        assertThat(finding.fix()).isEqualTo("GRANT USAGE ON *.* TO 'q'@'h' WITH GRANT OPTION;"));
        assertThat(AccountAdvice.findings("q@h", Set.of("SET_USER_ID"), known, false))
                .singleElement()
                .satisfies(finding -> assertThat(finding.fix()).isEqualTo("GRANT CREATE VIEW ON *.* TO 'q'@'h';"));
    }

    /** Whoever makes the account as the page says, or as the image's example does, isn't told of any right. */
    @Test
    void asksForWhatThePageAndTheImageGrant() throws IOException {
        TreeSet<String> wanted = new TreeSet<>(AccountAdvice.FOR_DEFINITIONS);
        wanted.addAll(AccountAdvice.FOR_ACCOUNTS);
        wanted.addAll(ServerCheck.GRANTS);
        wanted.remove(AccountAdvice.GRANT_OPTION);
        wanted.removeAll(Set.of("SET_ANY_DEFINER", "ALLOW_NONEXISTENT_DEFINER"));
        assertThat(granted("../docs/accounts.md")).isEqualTo(wanted);
        assertThat(granted("docker/accounts.sql")).isEqualTo(wanted);
    }

    private static Set<String> granted(String file) throws IOException {
        Matcher first = GRANT.matcher(Files.readString(Path.of(file)));
        assertThat(first.find()).as(file).isTrue();
        assertThat(first.group()).endsWith("WITH GRANT OPTION;");
        return new TreeSet<>(Arrays.asList(first.group(1).split(",\\s+")));
    }
}
