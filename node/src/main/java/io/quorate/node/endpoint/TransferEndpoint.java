// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.endpoint;

import io.quorate.core.answer.NodeStatus;
import io.quorate.core.answer.Outcome;
import io.quorate.core.answer.TransferAnswer;
import io.quorate.ist.Donor;
import io.quorate.ist.TransferProgress;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.copy.GivenCopies;
import io.quorate.node.copy.ServerCopy;
import io.quorate.node.join.Join;
import io.quorate.node.member.Standing;
import io.quorate.sst.CopyProgress;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.stereotype.Component;

/**
 * {@code /actuator/transfer}: what this node receives from others, and what it gives them; a POST pauses, resumes,
 * throttles or cancels a full copy. Also in JMX.
 */
@Component
@Endpoint(id = "transfer")
class TransferEndpoint {
    private final Standing standing;
    private final ServerCopy copy;
    private final Join join;
    private final Donor donor;
    private final GivenCopies given;

    TransferEndpoint(Standing standing, ServerCopy copy, Join join, Donor donor, GivenCopies given) {
        this.standing = standing;
        this.copy = copy;
        this.join = join;
        this.donor = donor;
        this.given = given;
    }

    @ReadOperation
    TransferAnswer transfer() {
        NodeStatus self = standing.status();
        ServerCopy pending = copy.isPending() ? copy : null;
        boolean copies = pending != null;
        NodeProperties.Sst.Method method = copies ? pending.method() : null;
        return new TransferAnswer(
                self.name(),
                self.state(),
                self.reason(),
                receiving(join.look()),
                copies ? pending.obstacle() : join.obstacle(),
                copies ? copying(pending.look()) : null,
                method == null ? null : method.name(),
                copies ? pending.donor() : null,
                copies ? Boolean.valueOf(pending.budget().isPaused()) : null,
                copies ? Long.valueOf(pending.budget().perSecond()) : null,
                donor.running().stream()
                        .map(g -> new TransferAnswer.Given(g.joiner(), g.from(), g.to(), g.next()))
                        .toList(),
                donor.bytes() + given.bytes(),
                given.heldMillis());
    }

    private static TransferAnswer.@Nullable Receiving receiving(TransferProgress.@Nullable Look look) {
        return look == null
                ? null
                : new TransferAnswer.Receiving(
                        look.phase().name(),
                        List.copyOf(look.donors()),
                        look.done(),
                        look.toDo(),
                        look.bytes(),
                        look.perSecond(),
                        look.etaMillis());
    }

    /** @param progress null while nothing is copied yet */
    private static TransferAnswer.Copying copying(@Nullable CopyProgress progress) {
        CopyProgress p = progress == null ? CopyProgress.NONE : progress;
        return new TransferAnswer.Copying(p.stage(), p.bytes(), p.toDo(), p.perSecond(), p.etaMillis());
    }

    /**
     * @param action {@code pause}, {@code resume}, {@code throttle} or {@code cancel}
     * @param bytesPerSecond for throttle: how much a full copy may take, 0 for no limit; valid until the service ends
     */
    @WriteOperation
    Outcome change(String action, @Nullable Long bytesPerSecond) throws InterruptedException {
        String refusal = !copy.isPending() ? "no full copy is under way" : null;
        if (refusal == null) {
            switch (action) {
                case "pause" -> refusal = copy.pause(true);
                case "resume" -> refusal = copy.pause(false);
                case "throttle" -> copy.budget().perSecond(bytesPerSecond == null ? 0 : Math.max(0, bytesPerSecond));
                case "cancel" -> refusal = join.cancelCopy();
                default -> refusal = "an action is pause, resume, throttle or cancel, not " + action;
            }
        }
        return Outcome.of(refusal);
    }
}
