// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.Difference;
import io.quorate.core.ServerTls;
import io.quorate.core.TableName;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.server.ServerAccess;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import tools.jackson.databind.json.JsonMapper;

class CopyingTest {
    private static final Set<TableName> TABLES = Set.of(new TableName("s", "t"));
    private static final Difference WHERE = new Difference(TABLES, Set.of(), Set.of());

    @TempDir
    private Path directory;

    /** A service that starts with this note, and whose server doesn't answer. */
    private Copying startedWith(CopyNote note) throws Exception {
        JsonMapper json = JsonMapper.shared();
        note.write(directory, json);
        NodeProperties properties = new Binder(new MapConfigurationPropertySource(
                        Map.of("quorate.data-dir", directory.toString(), "quorate.mysql.port", "1")))
                .bind("quorate", NodeProperties.class)
                .get();
        return new Copying(
                new Copying.Ports(properties, "", null, null, null, null),
                null,
                new ServerAccess(properties, ServerTls.LOOPBACK),
                null,
                new Copying.Donors(List::of, null, json),
                progress -> {});
    }

    @Test
    void whatIsBeingCopiedIsTakenFromServersThatWaitAlsoBeforeTheNodeHasHeardTheOrderAgain() throws Exception {
        Copying copying = startedWith(CopyNote.wanted(CopyNote.ANY_PLACE, WHERE).streaming(8, 50));
        assertThat(copying.ofWaiting(TABLES)).isEqualTo(TABLES);
        assertThat(copying.ofWaiting(null)).as("its server can't say yet").isNull();
    }

    /** Their donor was SYNCED when the copy began, and waits for one itself by now. */
    @Test
    void tablesThatAreGoneHereAreTakenFromServersThatWait() throws Exception {
        CopyNote begun = CopyNote.wanted(7, WHERE).streaming(8, 50);
        assertThat(startedWith(begun).ofWaiting(TABLES)).isEqualTo(TABLES);
        assertThat(begun.atAnyPlace().from()).isEqualTo(CopyNote.ANY_PLACE);
        assertThat(startedWith(begun).ofWaiting(null)).isNull();
        assertThat(startedWith(CopyNote.wanted(7, Difference.ANYWHERE).streaming(8, 50))
                        .ofWaiting(TABLES))
                .isNull();
        assertThat(startedWith(CopyNote.trusting(7, WHERE)).ofWaiting(TABLES)).isNull();
    }

    @Test
    void whoHasLostItsTablesAndGetsThemFromNobodyIsInNobodysWay() throws Exception {
        for (Difference where : List.of(WHERE, Difference.ANYWHERE)) {
            CopyNote begun = CopyNote.wanted(7, where).streaming(8, 50);
            assertThat(startedWith(begun).mayKeep()).isFalse();
            assertThat(startedWith(begun.again()).mayKeep()).isFalse();
            assertThat(startedWith(begun.tablesHere(60)).mayKeep()).isNull();
        }
    }

    @Test
    void whatMustBeOfAPlaceInTheOrderIsTakenFromSyncedServersAlone() throws Exception {
        assertThat(startedWith(CopyNote.wanted(7, WHERE)).ofWaiting(TABLES)).isNull();
        CopyNote everything = CopyNote.wanted(CopyNote.ANY_PLACE, Difference.ANYWHERE);
        assertThat(startedWith(everything).ofWaiting(TABLES)).isNull();
    }

    @Test
    void whoWaitsForASyncedServerKeepsNothingAndKeepsNobodyElseFromIt() throws Exception {
        assertThat(startedWith(CopyNote.wanted(7, WHERE)).mayKeep()).isFalse();
        assertThat(startedWith(CopyNote.wanted(CopyNote.ANY_PLACE, WHERE)).mayKeep())
                .as("others that wait are about to give it something")
                .isNull();
        assertThat(startedWith(CopyNote.keeping(7, TABLES)).mayKeep())
                .as("it tries")
                .isNull();
    }

    @Test
    void aWishIsForgottenOnlyWhileTheServerIsAsItWas() throws Exception {
        Copying waiting = startedWith(CopyNote.wanted(7, WHERE));
        assertThat(waiting.wish()).isEqualTo(new ServerCopy.Wish(7, WHERE));
        assertThat(waiting.forget()).isTrue();
        assertThat(waiting.isPending()).isFalse();
        assertThat(waiting.wish()).isNull();
        for (CopyNote note : List.of(
                CopyNote.wanted(7, WHERE).streaming(0, 50),
                CopyNote.wanted(7, WHERE).streaming(0, 50).again(),
                CopyNote.keeping(7, TABLES).again())) {
            Copying touched = startedWith(note);
            assertThat(touched.wish()).as("%s", note).isNull();
            assertThat(touched.forget()).as("%s", note).isFalse();
        }
        assertThat(startedWith(CopyNote.wanted(CopyNote.ANY_PLACE, WHERE)).wish())
                .as("of servers that wait")
                .isNull();
        assertThat(startedWith(CopyNote.wanted(7, Difference.ANYWHERE)).wish()).isNull();
    }

    @Test
    void aServerIsChosenAsLongAsItHoldsAllThatItHeld() throws Exception {
        Copying waiting = startedWith(CopyNote.wanted(7, WHERE));
        assertThat(waiting.trust(8, Difference.ANYWHERE)).isNull();
        assertThat(waiting.note()).isEqualTo(CopyNote.trusting(8, WHERE));
        Copying copied = startedWith(CopyNote.wanted(7, WHERE).streaming(8, 50));
        assertThat(copied.trust(8, WHERE)).contains("gone already");
    }
}
