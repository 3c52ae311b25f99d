// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.sandbox.Sandbox.Part;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The page of a node in a real Chromium, beside a cluster at work, of which one member goes away and comes back; a
 * command of its own, see it/README.md. It takes the pictures that the docs show.
 */
@Timeout(900)
class PagePictures {
    private static final Path INTO = Path.of(System.getProperty(
            "quorate.pictures", Path.of("..", "docs", "screenshots").toString()));
    private static final long SEED = Long.getLong("quorate.seed", System.nanoTime());
    static final String SENTENCE = "document.getElementById('sentence').textContent";
    static final String MEMBERS = "String(document.querySelectorAll('#members article').length)";
    static final String CURVES = "String(document.querySelectorAll('#curves svg').length)";
    static final String WIDTH = "String(document.documentElement.scrollWidth)";
    /** Until the curves have something to show. */
    private static final int WORKS_SECONDS = 60;

    @TempDir
    private Path profile;

    @Test
    void ofAClusterAtWork() throws Exception {
        System.out.printf("seed %d%n", SEED);
        try (Cluster cluster = Cluster.start(3, Map.of("quorate.commit-mode", "after-sync"));
                Browser browser = Browser.start(Browser.program(), profile)) {
            Bank.open(cluster, 1);
            try (Bank bank = new Bank(cluster, SEED, 20, 1, 1, 2, 3)) {
                browser.look(1280, 1000, false);
                browser.open("http://" + cluster.httpAddress(1) + "/");
                browser.await(SENTENCE, said -> said.startsWith("All 3 members are up"));
                int before = bank.transfers();
                Thread.sleep(WORKS_SECONDS * 1000L);
                assertThat(bank.transfers()).isGreaterThan(before);
                assertThat(browser.evaluate(MEMBERS)).isEqualTo("3");
                assertThat(browser.evaluate(CURVES)).isNotEqualTo("0");
                browser.picture(INTO.resolve("cluster.png"));
                browser.look(1280, 1000, true);
                browser.picture(INTO.resolve("cluster-dark.png"));
                browser.look(390, 844, false);
                assertThat(browser.evaluate(WIDTH))
                        .as("a phone needn't be moved sideways")
                        .isEqualTo("390");
                browser.picture(INTO.resolve("phone.png"));
                browser.look(1280, 1000, false);

                cluster.kill(3, Part.BOTH);
                browser.await(SENTENCE, said -> said.startsWith("2 of 3 members are up"));
                browser.picture(INTO.resolve("one-away.png"));
                cluster.bringUp(3);
                browser.await(SENTENCE, said -> said.startsWith("All 3 members are up"));
                bank.stop();
            }
            assertThat(browser.complaints()).isEmpty();
        }
    }
}
