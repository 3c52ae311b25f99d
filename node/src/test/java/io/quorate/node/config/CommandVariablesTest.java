// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;

class CommandVariablesTest {
    private static final Map<String, Object> FILE = Map.of(
            "quorate.cluster", "c",
            "quorate.node", "n1",
            "quorate.data-dir", "/d",
            "quorate.mysql.host", "h",
            "quorate.mysql.password", "p",
            "quorate.peers[0].name", "n1");

    private static NodeProperties bound(Map<String, Object> variables) {
        List<PropertySource<?>> sources = List.of(
                new SystemEnvironmentPropertySource("systemEnvironment", variables),
                new MapPropertySource("file", FILE));
        return new Binder(ConfigurationPropertySources.from(sources))
                .bind("quorate", NodeProperties.class)
                .get();
    }

    /** All that the command, the sandbox and the scripts look for in the environment. */
    private static Set<String> variables() throws IOException {
        Pattern variable = Pattern.compile("\\bQUORATE_[A-Z_]*[A-Z]");
        Set<String> found = new TreeSet<>();
        for (Path root :
                List.of(Path.of("..", "quorate"), Path.of("..", "cli/src/main"), Path.of("..", "sandbox/src/main"))) {
            try (Stream<Path> files = Files.walk(root)) {
                for (Path file : files.filter(Files::isRegularFile).toList()) {
                    variable.matcher(Files.readString(file)).results().forEach(match -> found.add(match.group()));
                }
            }
        }
        return found;
    }

    @Test
    void whatTheCommandHasInItsEnvironmentIsNoConfigurationOfTheService() throws IOException {
        Map<String, Object> all = new HashMap<>();
        variables().forEach(name -> all.put(name, "9.7"));
        assertThat(all).containsKeys("QUORATE_CACHE", "QUORATE_MYSQL", "QUORATE_TOKEN", "QUORATE_NO_BUILD");
        // The one that both have.
        all.put("QUORATE_MYSQL_PASSWORD", "p");
        assertThat(catchThrowable(() -> bound(all))).as("unless it is hidden").isNotNull();
        assertThat(bound(CommandVariables.others(all))).isEqualTo(bound(Map.of()));
    }

    @Test
    void keysCanBeSetByTheEnvironment() {
        Map<String, Object> set = Map.of("QUORATE_CACHE_BYTESMAX", "7MB", "QUORATE_NODE", "n7");
        NodeProperties properties = bound(CommandVariables.others(set));
        assertThat(properties.cache().bytesMax().toMegabytes()).isEqualTo(7);
        assertThat(properties.node()).isEqualTo("n7");
    }
}
