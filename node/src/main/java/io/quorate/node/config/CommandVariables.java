// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.config;

import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/**
 * Keeps variables of the environment from the service that can't be meant for it: the {@code quorate} command has
 * {@code QUORATE_CACHE} and {@code QUORATE_MYSQL}, which would be the keys {@code quorate.cache} and {@code
 * quorate.mysql}, and these are groups of keys.
 */
public final class CommandVariables {
    private static final String PREFIX = "QUORATE_";
    private static final String SOURCE = StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME;
    private static final Set<String> GROUPS = Arrays.stream(NodeProperties.class.getRecordComponents())
            .filter(component -> component.getType().isRecord())
            .map(RecordComponent::getName)
            .map(name -> PREFIX + name.toUpperCase(Locale.ROOT))
            .collect(Collectors.toSet());

    private CommandVariables() {}

    /** To be called before anything is bound to the environment. */
    public static void hide(ConfigurableEnvironment environment) {
        environment
                .getPropertySources()
                .replace(
                        SOURCE,
                        new SystemEnvironmentPropertySource(SOURCE, others(environment.getSystemEnvironment())));
    }

    static Map<String, Object> others(Map<String, Object> variables) {
        Map<String, Object> others = new HashMap<>(variables);
        others.keySet().removeIf(name -> GROUPS.contains(name.toUpperCase(Locale.ROOT)));
        return others;
    }
}
