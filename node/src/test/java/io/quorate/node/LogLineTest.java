// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.PatternLayout;
import ch.qos.logback.classic.spi.LoggingEvent;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.core.env.PropertySource;
import org.springframework.core.io.ClassPathResource;

/** Nobody else can write a line into this node's log. */
class LogLineTest {
    private static String logged(String message, Throwable thrown) throws Exception {
        PropertySource<?> settings = new YamlPropertySourceLoader()
                .load("application", new ClassPathResource("application.yaml"))
                .get(0);
        String pattern = String.valueOf(Objects.requireNonNull(settings.getProperty("logging.pattern.console")));
        assertThat(String.valueOf(settings.getProperty("logging.pattern.file"))).isEqualTo(pattern);
        LoggerContext context = new LoggerContext();
        PatternLayout layout = new PatternLayout();
        layout.setContext(context);
        layout.setPattern(pattern);
        layout.start();
        return layout.doLayout(new LoggingEvent(
                LogLineTest.class.getName(), context.getLogger(LogLineTest.class), Level.WARN, message, thrown, null));
    }

    private static List<String> lines(String logged) {
        return logged.lines().toList();
    }

    @Test
    void aMessageIsALine() throws Exception {
        List<String> lines = lines(logged("n2 is 7 behind", null));
        assertThat(lines).hasSize(1);
        assertThat(lines.get(0))
                .matches("\\d{4}-\\d\\d-\\d\\dT[0-9:.]+\\S+  WARN \\S* ?--- \\[ *\\S+\\] .*LogLineTest +:"
                        + " n2 is 7 behind");
    }

    @Test
    void noFurtherLineBeginsWhereLinesBegin() throws Exception {
        String forged = "n2\n2026-01-01 ERROR all is lost\r\n\u2028x\r\u001b[2J\u202ey\u0000";
        List<String> lines =
                lines(logged(forged, new IllegalStateException(forged, new IllegalArgumentException(forged))));
        assertThat(lines.get(0)).endsWith(" : n2");
        assertThat(lines.get(1)).isEqualTo("    2026-01-01 ERROR all is lost");
        long own = lines.stream().filter(line -> !line.startsWith(" ")).count();
        assertThat(own).as("the line, and the exception's: %s", lines).isEqualTo(2);
        assertThat(String.join("", lines))
                .doesNotContain("\u001b", "\u0000", "\u202e", "\u2028")
                .contains("?[2J?y?");
        assertThat(lines).anyMatch(line -> line.contains("at io.quorate.node.LogLineTest"));
    }
}
