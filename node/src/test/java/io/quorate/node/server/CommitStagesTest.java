// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class CommitStagesTest {
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final CommitStages stages = new CommitStages(new AckStats(meters));

    private void captured(long number, long nowNanos) {
        stages.captured(number, System.currentTimeMillis() * 1000, nowNanos);
    }

    private Timer stage(String name) {
        return meters.get("quorate.commit.stage").tag("stage", name).timer();
    }

    private double nanos(String name) {
        return stage(name).totalTime(TimeUnit.NANOSECONDS);
    }

    @Test
    void eachStageIsMeasuredFromTheOneBefore() {
        captured(1, 100);
        stages.proposed(1, 130);
        stages.decided(1, 190);
        stages.acknowledged(1, 191);
        assertThat(stage("captured").count()).isOne();
        assertThat(nanos("proposed")).isEqualTo(30);
        assertThat(nanos("ordered")).isEqualTo(60);
        assertThat(nanos("acknowledged")).isEqualTo(1);
    }

    @Test
    void oneProposalHasAllThatWereCapturedBefore() {
        captured(1, 100);
        captured(2, 110);
        captured(3, 120);
        stages.proposed(2, 130);
        assertThat(stage("proposed").count()).isEqualTo(2);
        assertThat(nanos("proposed")).isEqualTo(30 + 20);
        stages.proposed(3, 140);
        assertThat(stage("proposed").count()).isEqualTo(3);
    }

    @Test
    void whatIsProposedAgainIsMeasuredOnce() {
        captured(1, 100);
        stages.proposed(1, 130);
        stages.proposed(1, 500);
        stages.decided(1, 600);
        stages.proposed(1, 700);
        assertThat(stage("proposed").count()).isOne();
        assertThat(nanos("proposed")).isEqualTo(30);
        assertThat(nanos("ordered")).isEqualTo(470);
    }

    @Test
    void whatTheOrderHadAlreadyIsMeasuredFromItsCapture() {
        captured(1, 100);
        stages.decided(1, 190);
        stages.acknowledged(1, 195);
        assertThat(stage("proposed").count()).isZero();
        assertThat(nanos("ordered")).isEqualTo(90);
        assertThat(nanos("acknowledged")).isEqualTo(5);
    }
}
