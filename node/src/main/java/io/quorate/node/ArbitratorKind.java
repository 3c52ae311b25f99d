// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.core.ErrorCode;
import io.quorate.core.NodeMachine;
import io.quorate.core.QuorateException;
import io.quorate.node.audit.AuditSource;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.conflict.Explainer;
import io.quorate.node.copy.CopyQuestion;
import io.quorate.node.copy.GivenCopies;
import io.quorate.node.copy.ServerCopy;
import io.quorate.node.definition.Definitions;
import io.quorate.node.definition.Fences;
import io.quorate.node.question.Answers;
import io.quorate.node.server.NoServer;
import java.util.Map;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** A node that votes and keeps the order, without a server. */
final class ArbitratorKind implements NodeKind {
    private final NodeProperties properties;

    ArbitratorKind(NodeProperties properties) {
        this.properties = properties;
    }

    @Override
    public NodeMachine machine() {
        return NodeMachine.ofArbitrator(properties.order().silenceMax().toMillis());
    }

    @Override
    public Explainer explainer(Supplier<UUID> self, Opened opened) {
        return (loser, hashes) -> Map.of();
    }

    @Override
    public ServerRoom open(Base base, BooleanSupplier synced, Told told, Opened opened) {
        Answers answers = base.network().answers();
        answers.refuse(CopyQuestion.class, () -> refusal(ErrorCode.COPY_NO_DONOR));
        AuditSource.refuse(answers, () -> refusal(ErrorCode.AUDIT_REFUSED));
        return new ServerRoom(new NoServer(), ServerCopy.NONE, GivenCopies.NONE, () -> null);
    }

    @Override
    public Definitions openDefinitions(
            Base base, ServerRoom beside, MemberRoom members, BooleanSupplier synced, Told told, Opened opened) {
        Fences.refuse(base.network().answers(), () -> refusal(ErrorCode.DEFINITION_NOT_ORDERED));
        return Definitions.none(() -> refusal(ErrorCode.DEFINITION_NOT_ORDERED));
    }

    private QuorateException refusal(ErrorCode code) {
        return new QuorateException(code, properties.node() + " is an arbitrator and has no server");
    }
}
