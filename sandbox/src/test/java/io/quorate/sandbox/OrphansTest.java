// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OrphansTest {
    @TempDir
    Path parent;

    private final List<String> said = new ArrayList<>();

    /** A process where a cluster's second node would have its service. */
    private OwnedProcess service(Path cluster) throws Exception {
        Sandbox.create(cluster, 3, NodePorts.freeBase(3), Map.of(), said::add);
        Path node = Files.createDirectories(cluster.resolve("n2"));
        return OwnedProcess.start(
                List.of("sleep", "60"), Map.of(), node, node.resolve("out"), node.resolve("service.process"));
    }

    @Test
    void endsWhatAProgramThatIsGoneLeftAndNothingElse() throws Exception {
        OwnedProcess orphan = service(parent.resolve("orphan"));
        OwnedProcess owned = service(parent.resolve("owned"));
        OwnedProcess standing = service(parent.resolve("standing"));
        try {
            Files.writeString(parent.resolve("orphan/owner"), orphan.pid() + " " + (orphan.startTicks() - 1));
            OwnedProcess.recordThisProgram(parent.resolve("owned/owner"));
            Sandbox.endOrphans(parent, said::add);
            assertThat(orphan.isAlive()).isFalse();
            assertThat(owned.isAlive()).isTrue();
            assertThat(standing.isAlive()).as("was to outlive its program").isTrue();
            assertThat(said)
                    .hasSize(1)
                    .first()
                    .asString()
                    .contains(parent.resolve("orphan").toString());
        } finally {
            orphan.kill();
            owned.kill();
            standing.kill();
        }
    }
}
