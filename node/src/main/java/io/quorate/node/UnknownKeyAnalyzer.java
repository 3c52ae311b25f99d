// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Names keys of the configuration that don't exist, and where they are written, but not their values: one that is
 * misspelled may be a password. Spring Boot's own analyzer, before which this one is asked, prints them.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
class UnknownKeyAnalyzer extends AbstractFailureAnalyzer<UnboundConfigurationPropertiesException> {
    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, UnboundConfigurationPropertiesException cause) {
        StringBuilder text = new StringBuilder("the configuration has keys that don't exist:\n");
        for (ConfigurationProperty unknown : cause.getUnboundProperties()) {
            text.append("\n    ").append(unknown.getName());
            if (unknown.getOrigin() != null) {
                text.append(", in ").append(unknown.getOrigin());
            }
        }
        return new FailureAnalysis(
                text.append('\n').toString(), "correct or remove them; docs/configuration.md has all keys", cause);
    }
}
