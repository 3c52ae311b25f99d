// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.capture.KeyExplainer.Explained;
import io.quorate.core.WriteSet;
import io.quorate.sandbox.MySqlServer;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(240)
class KeyExplainerIT {
    private static MySqlServer server;

    @BeforeAll
    static void start() {
        server = MySqlServer.builder().start();
        server.execute(
                "CREATE DATABASE shop",
                "CREATE TABLE shop.customer (id INT PRIMARY KEY, mail VARCHAR(50), born DATE, name VARCHAR(20),"
                        + " UNIQUE KEY by_mail (mail), UNIQUE KEY by_birth (born, name(3)))",
                "CREATE TABLE shop.orders (id INT PRIMARY KEY, customer INT,"
                        + " FOREIGN KEY (customer) REFERENCES shop.customer (id))",
                "CREATE TABLE shop.scrap (a INT, b VARCHAR(10))");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    /** Every key of the writeset, as {@code table index (columns) values}. */
    private static Set<String> explainAll(WriteSet w) throws Exception {
        Set<Long> hashes = new TreeSet<>();
        for (int i = 0; i < w.keys().size(); i++) {
            hashes.add(w.keys().hash(i));
        }
        try (Connection connection = server.connect()) {
            Map<Long, Explained> explained = new KeyExplainer(connection).explain(w, hashes);
            assertThat(explained.keySet()).isEqualTo(hashes);
            Set<String> texts = new TreeSet<>();
            for (Explained e : explained.values()) {
                List<String> names = new ArrayList<>();
                for (int column : e.columns()) {
                    names.add(e.table().names[column]);
                }
                texts.add(e.table().table + " " + e.index() + " " + names + " " + List.of(e.values()));
            }
            return texts;
        }
    }

    @Test
    void everyKeyOfARowHasItsIndexAndValues() throws Exception {
        try (CaptureFixture fixture = new CaptureFixture(server)) {
            WriteSet w = fixture.captureOne("INSERT INTO shop.customer VALUES (1, 'A@x', '2000-01-02', 'Annabel')");
            assertThat(explainAll(w))
                    .containsExactlyInAnyOrder(
                            "customer TABLE [] []",
                            "customer PRIMARY [id] [1]",
                            "customer by_mail [mail] [A@x]",
                            "customer by_birth [born, name] [2000-01-02, Annabel]");
            w = fixture.captureOne("INSERT INTO shop.orders VALUES (5, 1)");
            assertThat(explainAll(w))
                    .containsExactlyInAnyOrder(
                            "orders TABLE [] []", "orders PRIMARY [id] [5]", "orders FOREIGN KEY [customer] [1]");
            w = fixture.captureOne("UPDATE shop.customer SET mail = 'b@x' WHERE id = 1");
            assertThat(explainAll(w)).contains("customer by_mail [mail] [A@x]", "customer by_mail [mail] [b@x]");
        }
    }

    @Test
    void aRowWithoutKeysIsOneAsAWhole() throws Exception {
        try (CaptureFixture fixture = new CaptureFixture(server)) {
            WriteSet w = fixture.captureOne("INSERT INTO shop.scrap VALUES (1, 'x')");
            assertThat(explainAll(w)).containsExactlyInAnyOrder("scrap TABLE [] []", "scrap ROW [a, b] [1, x]");
        }
    }
}
