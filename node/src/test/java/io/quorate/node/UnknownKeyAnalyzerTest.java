// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;

class UnknownKeyAnalyzerTest {
    @Test
    void namesKeysThatAreMisspelledWithoutTheirValues() {
        ConfigurationProperty misspelled =
                new ConfigurationProperty(ConfigurationPropertyName.of("quorate.mysql.pasword"), "s3cret", null);
        RuntimeException failure = new IllegalStateException(
                "no binding", new UnboundConfigurationPropertiesException(Set.of(misspelled)));
        assertThat(new UnknownKeyAnalyzer().analyze(failure).getDescription())
                .contains("quorate.mysql.pasword")
                .doesNotContain("s3cret");
    }
}
