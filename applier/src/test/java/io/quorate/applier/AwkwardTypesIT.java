// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.BinlogEvents;
import io.quorate.core.Payload;
import io.quorate.core.binlog.RowSettings;
import io.quorate.core.binlog.TableMap;
import io.quorate.sandbox.MySqlServer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tables of all types, statements of all kinds, written at one server and compared at another, byte by byte. */
@Timeout(400)
class AwkwardTypesIT {
    @Test
    void everyTypeArrivesExactly() throws Exception {
        try (MySqlServer origin = MySqlServer.builder().relaxed().start();
                MySqlServer server = MySqlServer.builder()
                        .serverId(2)
                        .relaxed()
                        .option("default-time-zone", "-03:30")
                        .option("sql-mode", "ANSI,TRADITIONAL")
                        .option("character-set-server", "latin1")
                        .start();
                Replica replica = new Replica(origin, server)) {
            replica.start(Replica.SETTINGS.withGroups(100, 1 << 20, Duration.ofMillis(20)));
            origin.execute("CREATE DATABASE awkward");
            write(origin);
            replica.take(seqno -> seqno - 1);
            replica.awaitApplied();
            replica.assertSame("awkward");
            marksEveryTransaction(server);
        }
    }

    private static void write(MySqlServer origin) throws Exception {
        Path file =
                Path.of(AwkwardTypesIT.class.getResource("/awkward-types.sql").toURI());
        List<String> statements = Files.readAllLines(file, StandardCharsets.UTF_8);
        origin.execute(Stream.concat(
                        Stream.of("USE awkward"), statements.stream().filter(s -> !s.startsWith("--") && !s.isBlank()))
                .toArray(String[]::new));
    }

    /** The capture knows the applier's transactions by the position table's map coming first. */
    private static void marksEveryTransaction(MySqlServer server) {
        server.execute("FLUSH BINARY LOGS");
        String own = server.uuid();
        long marked = BinlogReader.writeSets(server.dataDirectory()).stream()
                .filter(w -> w.gtid().source().toString().equals(own))
                .peek(w -> {
                    Payload.Events first = w.payload().events();
                    assertThat(first.next()).isTrue();
                    if (RowSettings.are(first)) {
                        assertThat(first.next()).isTrue();
                    }
                    assertThat(first.type()).isEqualTo(BinlogEvents.TABLE_MAP);
                    TableMap map = TableMap.read(first);
                    assertThat(map.schema + "." + map.table).isEqualTo("quorate.position");
                })
                .count();
        assertThat(marked).isGreaterThan(20);
    }
}
