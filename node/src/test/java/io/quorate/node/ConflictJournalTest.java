// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.util.unit.DataSize;
import tools.jackson.databind.json.JsonMapper;

@Timeout(30)
class ConflictJournalTest {
    @TempDir
    Path directory;

    private ConflictJournal open() throws Exception {
        NodeProperties.Conflicts settings =
                new NodeProperties.Conflicts(DataSize.ofMegabytes(1), Duration.ofDays(1), List.of());
        return new ConflictJournal(
                directory,
                settings,
                null,
                JsonMapper.shared(),
                new SimpleMeterRegistry(),
                loser -> null,
                (w, hashes) -> Map.of(),
                (thread, cause) -> {});
    }

    @Test
    void keepsWhatAnUndoFoundChanged() throws Exception {
        try (ConflictJournal journal = open()) {
            assertThat(journal.mismatches()).isEmpty();
            journal.mismatch("left with {a=1} and holds {a=2}");
        }
        Files.writeString(directory.resolve("mismatches.jsonl"), "{\"at\":\"cut sh", StandardOpenOption.APPEND);
        try (ConflictJournal journal = open()) {
            assertThat(journal.mismatches())
                    .extracting(ConflictJournal.Mismatch::what)
                    .containsExactly("left with {a=1} and holds {a=2}");
            assertThat(journal.latest(10)).isEmpty();
        }
    }
}
