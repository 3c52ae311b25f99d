// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.Entry;
import io.quorate.core.FromOutside;
import io.quorate.core.LogPosition;
import io.quorate.core.QuorateException;
import io.quorate.fuzz.Fuzz;
import io.quorate.transport.TransportSettings.Peer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is framed as an entry, and what is kept about the members, is what it says or refused. */
class EntryFuzzTest {
    @TempDir
    Path directory;

    private static byte[] frame(String submitter, int index, int count, String body) {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        return EntryFrame.encode(
                submitter.getBytes(StandardCharsets.UTF_8), 1, 2, index, count, Entry.of(bytes), 0, bytes.length);
    }

    @Test
    void frames() {
        Fuzz.of(List.of(frame("n1", 0, 1, "whole"), frame("node-2", 1, 3, "a part")))
                .refusing(QuorateException.class)
                .run(bytes -> EntryFrame.decode(ByteBuffer.wrap(bytes)));
    }

    /** Whatever the log holds, it is put together or left out, and no file is left behind. */
    @Test
    void fragments() throws Exception {
        List<ByteBuffer> entries = new ArrayList<>();
        Reassembly reassembly = new Reassembly(directory.resolve("parts"), (at, entry) -> entries.add(entry));
        long[] index = {0};
        Fuzz.of(List.of(frame("n1", 0, 2, "first"), frame("n1", 1, 2, "last"), frame("n2", 0, 1, "whole")))
                .refusing(QuorateException.class)
                .slowly(4)
                .run(bytes -> {
                    entries.clear();
                    LogPosition before = new LogPosition(1, index[0]);
                    reassembly.take(before, new LogPosition(1, ++index[0]), ByteBuffer.wrap(bytes));
                });
        reassembly.close();
        try (var left = Files.list(directory.resolve("parts"))) {
            assertThat(left).isEmpty();
        }
    }

    @Test
    void namesAreTheSameEverywhere() {
        for (String name : List.of("n1", "a.b-c_d", ".a", "", "n 1", "n#2", "n".repeat(63), "n".repeat(64))) {
            assertThat(FromOutside.isName(name)).as(name).isEqualTo(TransportSettings.isName(name));
        }
    }

    @Test
    void whatIsKeptOfTheMembers() throws Exception {
        Membership.write(
                directory,
                List.of(new Peer("n1", "127.0.0.1", 1, 2, 3), new Peer("n2", "::1", 4, 5, 1)),
                Lives.of("2-0123abcd"));
        Path file = directory.resolve("members.properties");
        Fuzz.of(List.of(Files.readAllBytes(file)))
                .refusing(QuorateException.class)
                .allocating(1000)
                .slowly(4)
                .run(bytes -> {
                    Files.write(file, bytes);
                    Membership.read(directory);
                });
    }

    @ParameterizedTest
    @ValueSource(strings = {"n1=a\\n\\u0007b 1 2 1", "n1=h 1 2", "../n1=h 1 2 1", "n1=h x 2 1"})
    void aBrokenFileOfMembersIsRefusedWithTheWayOut(String line) throws Exception {
        Files.writeString(directory.resolve("members.properties"), line + "\n");
        assertThatThrownBy(() -> Membership.read(directory)).hasMessageContaining("rebuild this node");
    }

    @Test
    void aFileOfMembersThatIsTooLongIsNotRead() throws Exception {
        Files.writeString(directory.resolve("members.properties"), "n1=h 1 2 1\n".repeat(10_000));
        assertThatThrownBy(() -> Membership.read(directory))
                .hasMessageContaining("at most")
                .hasMessageContaining("rebuild this node");
    }
}
