// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.endpoint;

import io.quorate.core.QuorateException;
import io.quorate.core.TableName;
import io.quorate.core.answer.Outcome;
import io.quorate.node.join.Join;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.stereotype.Component;

/**
 * {@code /actuator/heal}: a POST has this node's server get a copy of tables from another one; or, where all servers
 * differ, has its own be right.
 */
@Component
@Endpoint(id = "heal")
class HealEndpoint {
    private final Join join;

    HealEndpoint(Join join) {
        this.join = join;
    }

    /**
     * @param tables {@code schema.table}, several separated by commas
     * @param trust whether these tables of this server are right; none need be named then
     */
    @WriteOperation
    Outcome heal(@Nullable String tables, @Nullable Boolean trust) throws InterruptedException {
        boolean trusts = Boolean.TRUE.equals(trust);
        if (tables == null) {
            return Outcome.of(trusts ? join.trust(Set.of()) : "no table is named");
        }
        Set<TableName> named;
        try {
            named = TableName.parseAll(tables);
        } catch (IllegalArgumentException e) {
            return Outcome.of(e.getMessage());
        }
        for (TableName each : named) {
            if (each.refusal() != null) {
                return Outcome.of(each.refusal());
            }
        }
        try {
            return Outcome.of(trusts ? join.trust(named) : join.heal(named));
        } catch (QuorateException e) {
            return Outcome.of(e.getMessage());
        }
    }
}
