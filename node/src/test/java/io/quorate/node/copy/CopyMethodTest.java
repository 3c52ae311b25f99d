// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.config.NodeProperties.Sst.Method;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

/** Tests which method is chosen for a full copy: by the configuration, by what is possible, and by size and rate. */
class CopyMethodTest {
    private static final CopyQuestion.CloneSource SMALL = source(100 << 20, "8.0.33");

    @TempDir
    private Path directory;

    private static CopyQuestion.CloneSource source(long bytes, String version) {
        return new CopyQuestion.CloneSource("host", 3306, new UUID(0, 1), version, "", bytes);
    }

    private NodeProperties properties(String method) {
        Map<String, Object> values = new HashMap<>();
        values.put("quorate.cluster", "c");
        values.put("quorate.node", "n1");
        values.put("quorate.data-dir", directory.toString());
        values.put("quorate.sst.method", method);
        return new Binder(new MapConfigurationPropertySource(values))
                .bind("quorate", NodeProperties.class)
                .get();
    }

    private CopyQuestion.CloneSource chosen(String method, CopyQuestion.CloneSource donor) throws Exception {
        return new CopyMethod(properties(method))
                .choose(() -> donor, () -> "8.0.33")
                .source();
    }

    @Test
    void isWhatIsConfigured() throws Exception {
        assertThat(chosen("stream", SMALL)).isNull();
        assertThat(chosen("clone", SMALL)).isEqualTo(SMALL);
    }

    @Test
    void isTheFasterOneByDefault() throws Exception {
        assertThat(chosen("auto", SMALL)).as("mysqld would have to restart").isNull();
        CopyQuestion.CloneSource large = source(100L << 30, "8.0.33");
        assertThat(chosen("auto", large)).isEqualTo(large);
    }

    @Test
    void goesByWhatWasMeasured() throws Exception {
        CopyRates.read(properties("auto")).measured(Method.STREAM, 1L << 30);
        CopyRates.read(properties("auto")).measured(Method.CLONE, 10 << 20);
        assertThat(CopyRates.read(properties("auto")).bytesPerSecond(Method.STREAM))
                .isEqualTo(1L << 30);
        assertThat(chosen("auto", source(100L << 30, "8.0.33"))).isNull();
    }

    @Test
    void isStreamWhereCloneIsNotPossibleUnlessStreamIsNeither() throws Exception {
        CopyQuestion.CloneSource other = source(100L << 30, "8.0.34");
        assertThat(chosen("auto", other)).isNull();
        assertThatThrownBy(() -> chosen("clone", other))
                .hasMessageContaining("QRT-7001")
                .hasMessageContaining("8.0.34");
        CopyMethod method = new CopyMethod(properties("auto"));
        method.onlyClone();
        assertThatThrownBy(() -> method.choose(
                        () -> {
                            throw new QuorateException(ErrorCode.COPY_REFUSED, "no plugin");
                        },
                        () -> "8.0.33"))
                .hasMessageContaining("no plugin");
        assertThat(method.choose(() -> SMALL, () -> "8.0.33").source()).isEqualTo(SMALL);
    }

    @Test
    void isNotStreamOnlyBecauseTheDonorDoesNotAnswerNow() {
        CopyMethod method = new CopyMethod(properties("auto"));
        assertThatThrownBy(() -> method.choose(
                        () -> {
                            throw new QuorateException(ErrorCode.COPY_NO_DONOR, "n2 doesn't answer");
                        },
                        () -> "8.0.33"))
                .hasMessageContaining("QRT-7005");
    }
}
