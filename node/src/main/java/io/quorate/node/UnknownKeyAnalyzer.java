// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import java.util.stream.Collectors;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** Shows keys that the configuration has by mistake, without their values: one of them may be meant for a password. */
@Order(Ordered.HIGHEST_PRECEDENCE)
class UnknownKeyAnalyzer extends AbstractFailureAnalyzer<UnboundConfigurationPropertiesException> {
    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, UnboundConfigurationPropertiesException cause) {
        String keys = cause.getUnboundProperties().stream()
                .map(key -> "\n    " + key.getName() + (key.getOrigin() == null ? "" : ", from " + key.getOrigin()))
                .collect(Collectors.joining());
        return new FailureAnalysis(
                "There are no such keys:" + keys,
                "Correct them, or leave them out; docs/configuration.md has all keys.",
                cause);
    }
}
