// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.yaml.snakeyaml.Yaml;

/** The metrics of a node, as Prometheus gets them. */
@Timeout(120)
class MetricsTest {
    private static final Path PAGE = Path.of("..", "docs", "metrics.md");
    private static final String WSREP = "mysql_global_status_wsrep_";
    private static final String OURS = "(?:quorate_|" + WSREP + ")\\w+";
    private static final Pattern ROW = Pattern.compile("\\| `(" + OURS + ")`(?: by .*?)? \\| (\\w+) \\|.*");
    /** What a node has only then, with a table's name: {@code ConflictCounters}. */
    private static final String AFTER_A_CONFLICT = "quorate_conflicts_total";

    private static final Pattern NAME = Pattern.compile("quorate_\\w+");
    private static final Pattern TYPE = Pattern.compile("# TYPE (" + OURS + ") (\\w+)");
    private static final Pattern HELP = Pattern.compile("# HELP (" + OURS + ") (.+)");

    @TempDir
    private Path directory;

    @Test
    void thePageListsWhatThereIs() throws IOException {
        Map<String, String> types = new TreeMap<>();
        Map<String, String> helps = new TreeMap<>();
        try (RunningService service =
                new RunningService(directory.resolve("data"), "--quorate.metrics.wsrep-names=true")) {
            for (String line :
                    service.get("/actuator/prometheus").text().lines().toList()) {
                put(types, TYPE.matcher(line));
                put(helps, HELP.matcher(line));
            }
        }
        Map<String, String> listed = new TreeMap<>();
        for (String line : Files.readAllLines(PAGE)) {
            put(listed, ROW.matcher(line));
        }
        assertThat(listed.remove(AFTER_A_CONFLICT)).isEqualTo("counter");
        assertThat(listed).isEqualTo(types).hasSizeGreaterThan(50);
        assertThat(helps.keySet()).as("each says what it is").isEqualTo(types.keySet());
        assertThat(types.entrySet())
                .as("Prometheus' rule: what only grows is a counter, and is called so")
                .allSatisfy(type -> assertThat(type.getKey().endsWith("_total"))
                        .as(type.getKey())
                        .isEqualTo(type.getValue().equals("counter")));
    }

    @Test
    void namesOfGaleraAreThereOnlyForWhoWantsThem() throws IOException {
        try (RunningService service = new RunningService(directory.resolve("data"))) {
            assertThat(service.get("/actuator/prometheus").text())
                    .contains("quorate_state")
                    .doesNotContain(WSREP);
        }
    }

    /** A name that is no metric's would be an empty curve, or an alert that never comes. */
    @ParameterizedTest
    @ValueSource(strings = {"prometheus-rules.yaml", "overview.json", "node.json", "conflicts.json"})
    void rulesAndDashboardsUseMetricsThatThereAre(String file) throws IOException {
        String text = Files.readString(PAGE.resolveSibling("monitoring").resolve(file));
        Object parsed = new Yaml().load(text);
        assertThat(parsed).isInstanceOf(Map.class);
        Set<String> used = new TreeSet<>();
        NAME.matcher(text).results().forEach(name -> used.add(name.group()));
        String page = Files.readString(PAGE);
        assertThat(used).isNotEmpty().allSatisfy(name -> assertThat(page).contains("`" + name + "`"));
    }

    private static void put(Map<String, String> into, Matcher line) {
        if (line.matches()) {
            into.put(line.group(1), line.group(2));
        }
    }
}
