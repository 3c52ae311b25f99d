// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.endpoint;

import io.quorate.core.QuorateException;
import io.quorate.core.answer.DefinitionAnswer;
import io.quorate.core.answer.DefinitionOutcome;
import io.quorate.node.definition.Definitions;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.stereotype.Component;

/**
 * {@code /actuator/definition}: what has become of the latest definition that was to be ordered first; a POST asks for
 * one.
 */
@Component
@Endpoint(id = "definition")
class DefinitionEndpoint {
    private final Definitions definitions;

    DefinitionEndpoint(Definitions definitions) {
        this.definitions = definitions;
    }

    @ReadOperation
    DefinitionAnswer latest() {
        return definitions.answer();
    }

    /**
     * @param statement one definition
     * @param schema the default schema; none if it is left out
     * @param user an account of this node's server
     * @param password its password
     */
    @WriteOperation
    DefinitionOutcome order(String statement, @Nullable String schema, String user, @Nullable String password) {
        try {
            return DefinitionOutcome.begun(definitions.begin(new Definitions.Request(
                    statement, schema == null ? "" : schema, user, password == null ? "" : password)));
        } catch (QuorateException e) {
            return DefinitionOutcome.refused(e.getMessage());
        }
    }
}
