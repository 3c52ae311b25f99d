// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.Certified;
import io.quorate.ist.CacheInspector.SegmentReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class CacheInspectorTest {
    private static final UUID INCARNATION = new UUID(1, 2);
    private static final int COUNT = 500;

    @TempDir
    Path directory;

    private final Records records = new Records(5, 200);

    private WriteSetCache filled() throws IOException {
        WriteSetCache cache = WriteSetCache.open(new CacheSettings(directory, INCARNATION, 8192, 1 << 30), 0);
        for (long seqno = 1; seqno <= COUNT; ) {
            List<Certified> entry = records.entries(seqno, 1);
            cache.append(entry);
            seqno = entry.get(entry.size() - 1).seqno() + 1;
        }
        return cache;
    }

    private List<Certified> read(long from, long to) throws IOException {
        List<Certified> found = new ArrayList<>();
        new CacheInspector(directory).read(from, to, found::add);
        return found;
    }

    private List<String> damages() throws IOException {
        return new CacheInspector(directory)
                .verify().stream()
                        .filter(r -> r.damage() != null)
                        .map(r -> r.first() + ": " + r.damage())
                        .toList();
    }

    private static void change(Path file, int at) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        bytes[at] ^= 1;
        Files.write(file, bytes);
    }

    @Test
    void readsWhatANodeHasOpenAndChangesNothing() throws Exception {
        try (WriteSetCache cache = filled()) {
            List<SegmentReport> reports = new CacheInspector(directory).verify();
            assertThat(reports).hasSizeGreaterThan(5).allMatch(r -> r.damage() == null);
            assertThat(reports).allMatch(r -> r.incarnation().equals(INCARNATION));
            assertThat(reports.get(0).first()).isEqualTo(1);
            assertThat(reports.get(reports.size() - 1).last()).isEqualTo(cache.last());
            assertThat(reports.subList(0, reports.size() - 1)).allMatch(SegmentReport::closed);
            assertThat(read(0, Long.MAX_VALUE)).isEqualTo(records.range(1, cache.last()));
            assertThat(read(100, 150)).isEqualTo(records.range(100, 150));
            assertThat(read(cache.last() + 1, Long.MAX_VALUE)).isEmpty();
        }
    }

    @Test
    void namesADamagedRecordAndReadsAroundIt() throws Exception {
        filled().close();
        SegmentReport third = new CacheInspector(directory).verify().get(2);
        change(third.file(), SegmentHeader.BYTES + RecordCodec.bytes(records.at(third.first())) + 20);
        assertThat(damages()).hasSize(2);
        assertThat(damages().get(0))
                .startsWith(third.first() + ": what follows seqno " + third.first() + ", from byte ");
        assertThat(damages().get(1)).contains("seqnos " + (third.first() + 1) + " to " + third.last() + " are missing");
        assertThat(read(third.first(), third.last() + 1))
                .isEqualTo(List.of(records.at(third.first()), records.at(third.last() + 1)));
    }

    @Test
    void namesAFileThatIsMissingAndAHeaderThatIsDamaged() throws Exception {
        filled().close();
        List<SegmentReport> all = new CacheInspector(directory).verify();
        Files.delete(all.get(1).file());
        change(all.get(3).file(), 9);
        assertThat(damages())
                .hasSize(3)
                .anyMatch(d -> d.contains("seqnos " + all.get(1).first() + " to "))
                .anyMatch(d -> d.startsWith(all.get(3).first() + ": its header"));
    }

    @Test
    void aTornEndIsWhatARestartCutsOff() throws Exception {
        filled().close();
        List<SegmentReport> all = new CacheInspector(directory).verify();
        Path last = all.get(all.size() - 1).file();
        byte[] bytes = Files.readAllBytes(last);
        Files.write(last, Arrays.copyOf(bytes, bytes.length - 3));
        assertThat(damages()).hasSize(1).allMatch(d -> d.contains("a torn end, which a restart cuts off"));
    }
}
