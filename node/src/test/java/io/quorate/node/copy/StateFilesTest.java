// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.applier.ServerLife;
import io.quorate.applier.TakenBack;
import io.quorate.core.Difference;
import io.quorate.core.ErrorCode;
import io.quorate.core.Gtid;
import io.quorate.core.GtidSet;
import io.quorate.core.LogPosition;
import io.quorate.core.QuorateException;
import io.quorate.core.TableName;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.config.NodeProperties.Sst.Method;
import io.quorate.node.server.NodeIdentity;
import io.quorate.node.server.ServerLifeFile;
import io.quorate.sst.stream.Catalog;
import io.quorate.sst.stream.Omitted;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import tools.jackson.databind.json.JsonMapper;

/**
 * Files that a node keeps in its data directory are read as they were written, and refused with an error code when they
 * are damaged.
 */
class StateFilesTest {
    private static final UUID SERVER = new UUID(3, 4);
    private static final GtidSet GTIDS = GtidSet.parse(SERVER + ":1-7:9");
    private static final Catalog CATALOG = new Catalog(
            new Omitted(List.of(), false, true, false, false, false),
            List.of(new Catalog.Shared(Catalog.Shared.Kind.TABLESPACE, "a", "CREATE TABLESPACE `a`")),
            List.of(new Catalog.Schema("s", "CREATE DATABASE `s`", "utf8mb4_bin", true)),
            List.of(new Catalog.Table(
                    "s", "t", "CREATE TABLE `t` (\n  `ü` int)", List.of(), List.of(), "InnoDB", true)),
            List.of(),
            List.of(),
            List.of(),
            List.of(),
            List.of());

    private final JsonMapper json = JsonMapper.shared();

    @TempDir
    private Path directory;

    private NodeProperties properties(String... more) {
        Map<String, Object> values = new HashMap<>(Map.of("quorate.data-dir", directory.toString()));
        for (int i = 0; i < more.length; i += 2) {
            values.put("quorate.sst." + more[i], more[i + 1]);
        }
        return new Binder(new MapConfigurationPropertySource(values))
                .bind("quorate", NodeProperties.class)
                .get();
    }

    private void assertUnreadable(String file, ThrowingCallable read) {
        assertThatThrownBy(read)
                .isInstanceOfSatisfying(
                        QuorateException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.DISK))
                .hasMessageContaining(file);
    }

    private void damage(String file, String content) throws Exception {
        Files.writeString(directory.resolve(file), content);
    }

    // The copy's note

    private static final Difference WHERE = new Difference(
            Set.of(new TableName("s,", "t\n1")), Set.of(17L, 18L), Set.of(new Gtid(SERVER, 4), new Gtid(SERVER, 9)));

    @Test
    void theNoteOfACopyIsReadAsItWasWrittenAtEveryStep() throws Exception {
        CopyNote wanted = CopyNote.wanted(41, WHERE);
        CopyNote copying = wanted.copying(7, "n2", SERVER, GTIDS);
        for (CopyNote note : List.of(
                wanted,
                wanted.streaming(8, 50),
                wanted.tablesHere(70),
                wanted.everything(),
                copying,
                copying.straight(12, 60),
                copying.again(),
                CopyNote.keeping(41, Set.of()).again())) {
            note.write(directory, json);
            assertThat(CopyNote.read(directory, json)).isEqualTo(note);
        }
        CopyNote.delete(directory);
        assertThat(CopyNote.read(directory, json)).isNull();
        CopyNote.delete(directory);
    }

    @Test
    void aCopyThatBeginsAnewKeepsWhatTheServerEverGaveOutAndNothingOfItsDonor() {
        CopyNote again = CopyNote.wanted(41, WHERE)
                .copying(7, "n2", SERVER, GTIDS)
                .straight(12, 60)
                .again();
        assertThat(again.ownLast()).isEqualTo(7);
        assertThat(again.donor()).isEmpty();
        assertThat(again.where()).isEqualTo(WHERE);
    }

    @Test
    void aServerWhoseDataMayBeGoneIsNeverSaidToBeAsItWas() {
        // Of one whose clients never committed anything, no number says that it was copied.
        CopyNote begun = CopyNote.wanted(41, WHERE).streaming(0, 50);
        for (CopyNote anew : List.of(
                begun.again(),
                begun.everything(),
                begun.everythingFrom(60),
                begun.again().again())) {
            assertThat(anew.isWanted()).isTrue();
            assertThat(anew.isUntouched()).isFalse();
        }
        CopyNote tried = CopyNote.keeping(41, Set.of()).again();
        assertThat(tried.isUntouched()).isTrue();
        assertThat(tried.step()).as("it may be beyond what it differs in").isEqualTo(CopyNote.Step.WANTED_STILL);
        assertThat(CopyNote.wanted(41, WHERE).everythingFrom(60).step()).isEqualTo(CopyNote.Step.WANTED);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "step=COPYING", "step=DANCING\nfrom=1", "step=WANTED\nfrom=x", "\\u00"})
    void aDamagedNoteIsRefused(String content) throws Exception {
        damage("copy.properties", content);
        assertUnreadable("copy.properties", () -> CopyNote.read(directory, json));
    }

    // The stream's plan

    @Test
    void thePlanOfAStreamIsReadAsItWasWrittenAndNobodyElseMayReadIt() throws Exception {
        CopyPlan plan = new CopyPlan(
                "c1",
                9,
                new LogPosition(2, 30),
                CATALOG,
                1L << 40,
                0,
                null,
                Set.of(new TableName("s", "t")),
                Set.of("u"),
                true);
        plan.write(directory, json);
        assertThat(CopyPlan.read(directory, json)).isEqualTo(plan);
        CopyPlan later = plan.upTo(99, CATALOG);
        later.write(directory, json);
        assertThat(CopyPlan.read(directory, json)).isEqualTo(later);
        assertThat(Files.getPosixFilePermissions(directory.resolve("copy-plan.json")))
                .as("it has hashes of passwords")
                .hasSize(2);
        CopyPlan.delete(directory);
        assertThat(CopyPlan.read(directory, json)).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{\"copy\":\"c1\",\"si", "[]", "{\"since\":\"soon\"}"})
    void aDamagedPlanIsRefused(String content) throws Exception {
        damage("copy-plan.json", content);
        assertUnreadable("copy-plan.json", () -> CopyPlan.read(directory, json));
    }

    // The server's life

    @Test
    void aServersLifeIsReadAsItWasWritten() throws Exception {
        assertThat(ServerLifeFile.read(directory)).isEqualTo(ServerLife.NONE);
        assertThat(ServerLife.NONE.isNone()).isTrue();
        ServerLife life = new ServerLife(1234, false, GTIDS, new GtidSet(), new TakenBack(5, 8));
        ServerLifeFile.write(directory, life);
        assertThat(ServerLifeFile.read(directory)).isEqualTo(life);
        assertThat(life.isNone()).isFalse();
    }

    @Test
    void whatTheServerWasToBeToldNextCountsOnceItHasAllOfIt() {
        GtidSet next = GtidSet.parse(SERVER + ":20-30");
        ServerLife life = new ServerLife(1, true, GTIDS, next, TakenBack.NONE);
        GtidSet purgedAll = GtidSet.parse(SERVER + ":1-40");
        assertThat(life.reservedOf(purgedAll)).isEqualTo(GtidSet.parse(SERVER + ":1-7:9:20-30"));
        GtidSet purgedSome = GtidSet.parse(SERVER + ":1-25");
        assertThat(life.reservedOf(purgedSome)).isEqualTo(GTIDS);
        assertThat(life.reservedOf(new GtidSet())).isEqualTo(new GtidSet());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "started=1", "started=soon", "started=1\nreserved=nonsense", "\\u00"})
    void aDamagedLifeIsRefused(String content) throws Exception {
        damage("server.properties", content);
        assertUnreadable("server.properties", () -> ServerLifeFile.read(directory));
    }

    // The node's identity

    private NodeIdentity identity() throws Exception {
        return new NodeIdentity("shop", "n1", SERVER, GTIDS, NodeIdentity.directoryId(directory), true);
    }

    @Test
    void anIdentityIsReadAsItWasWritten() throws Exception {
        assertThat(NodeIdentity.read(directory, "shop", "n1")).isNull();
        NodeIdentity written = identity();
        written.write(directory);
        assertThat(NodeIdentity.read(directory, "shop", "n1")).isEqualTo(written);
    }

    @Test
    void aDirectoryKeepsTheNameItWasGivenFirst() throws Exception {
        assertThat(NodeIdentity.directoryId(directory)).isEqualTo(NodeIdentity.directoryId(directory));
        damage("directory.id", "no name");
        assertUnreadable("directory.id", () -> NodeIdentity.directoryId(directory));
    }

    @Test
    void refusesTheDirectoryOfAnotherNodeOrCluster() throws Exception {
        identity().write(directory);
        for (String[] other : new String[][] {{"shop", "n2"}, {"bank", "n1"}}) {
            assertThatThrownBy(() -> NodeIdentity.read(directory, other[0], other[1]))
                    .hasMessageContaining("QRT-1003")
                    .hasMessageContaining("belongs to node n1 of cluster shop");
        }
    }

    @Test
    void refusesAnotherServerThanItsOwn() throws Exception {
        identity().requireServer(SERVER, "h:3306");
        UUID other = new UUID(8, 8);
        assertThatThrownBy(() -> identity().requireServer(other, "h:3306"))
                .hasMessageContaining("QRT-1004")
                .hasMessageContaining(other.toString())
                .hasMessageContaining("h:3306");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "cluster=shop\nnode=n1", "cluster=shop\nnode=n1\nserver=x\nbaseline=", "\\u00"})
    void aDamagedIdentityIsRefused(String content) throws Exception {
        damage("node.properties", content);
        assertUnreadable("node.properties", () -> NodeIdentity.read(directory, "shop", "n1"));
    }

    // The rates of copies

    @Test
    void aRateIsWhatWasMeasuredLastElseWhatIsConfigured() throws Exception {
        assertThat(CopyRates.read(properties()).bytesPerSecond(Method.CLONE)).isEqualTo(50 << 20);
        assertThat(CopyRates.read(properties()).bytesPerSecond(Method.STREAM)).isEqualTo(10 << 20);
        CopyRates.read(properties()).measured(Method.CLONE, 1000);
        CopyRates.read(properties()).measured(Method.STREAM, 2000);
        CopyRates.read(properties()).measured(Method.CLONE, 3000);
        assertThat(CopyRates.read(properties()).bytesPerSecond(Method.CLONE)).isEqualTo(3000);
        assertThat(CopyRates.read(properties()).bytesPerSecond(Method.STREAM)).isEqualTo(2000);
    }

    @Test
    void aRateIsNoMoreThanACopyMayTakeAndNeverNothing() throws Exception {
        NodeProperties slow = properties("bytes-per-second-max", "1MB");
        assertThat(CopyRates.read(slow).bytesPerSecond(Method.CLONE)).isEqualTo(1 << 20);
        CopyRates.read(slow).measured(Method.STREAM, 0);
        assertThat(CopyRates.read(slow).seconds(Method.STREAM, 77)).isEqualTo(77);
    }

    @Test
    void onlyAClonePaysForTheRestart() {
        CopyRates rates =
                CopyRates.read(properties("expected-bytes-per-second", "1B", "stream-expected-bytes-per-second", "1B"));
        assertThat(rates.seconds(Method.STREAM, 100)).isEqualTo(100);
        assertThat(rates.seconds(Method.CLONE, 100)).isEqualTo(100 + CopyMethod.RESTART_SECONDS);
    }

    @ParameterizedTest
    @ValueSource(strings = {"clone-bytes-per-second=fast", "clone-bytes-per-second=", "\\u00"})
    void damagedRatesAreRefused(String content) throws Exception {
        damage("copy-rates.properties", content);
        assertUnreadable("copy-rates.properties", () -> CopyRates.read(properties()));
    }
}
