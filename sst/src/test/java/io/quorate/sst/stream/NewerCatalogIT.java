// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.sandbox.MySqlDistribution;
import io.quorate.sandbox.MySqlServer;
import io.quorate.sandbox.ServerObjects;
import java.sql.Connection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What servers after 8.0 have in their catalogs; skipped where MySQL 9.7 can't be had. */
@Timeout(180)
class NewerCatalogIT {
    @BeforeAll
    static void find() {
        MySqlDistribution.unavailable("9.7").ifPresent(Assumptions::abort);
    }

    private static MySqlServer start(int id) {
        return MySqlServer.builder()
                .series("9.7")
                .serverId(id)
                .relaxed()
                .option("log-bin-trust-function-creators", "ON")
                .start();
    }

    @Test
    void whatOlderServersDontHaveIsCopied() throws Exception {
        try (MySqlServer donor = start(1);
                MySqlServer joiner = start(2)) {
            donor.execute(
                    "CREATE DATABASE a",
                    "CREATE LIBRARY a.lib COMMENT 'it''s' LANGUAGE JAVASCRIPT AS $$ export function f() {}; \"ü\" $$",
                    "CREATE FUNCTION a.f() RETURNS INT LANGUAGE JAVASCRIPT USING (a.lib AS l) AS $$ return 1; $$",
                    "CREATE USER reader@localhost",
                    "GRANT EXECUTE ON LIBRARY a.lib TO reader@localhost",
                    "SET SESSION restrict_fk_on_non_standard_key = OFF",
                    "CREATE TABLE a.p (id INT PRIMARY KEY, x INT, KEY (x))",
                    "CREATE TABLE a.c (id INT PRIMARY KEY, x INT, FOREIGN KEY (x) REFERENCES a.p (x))",
                    // Named so that it is made before what it is made from.
                    "CREATE MATERIALIZED VIEW a.m AS SELECT id, x FROM a.p",
                    "CREATE VIEW a.a AS SELECT id FROM a.m",
                    "CREATE JSON RELATIONAL DUALITY VIEW a.j AS SELECT JSON_DUALITY_OBJECT("
                            + "WITH (INSERT) '_id': id, 'x': x) FROM a.c");
            joiner.execute("CREATE DATABASE own", "CREATE LIBRARY own.lib LANGUAGE JAVASCRIPT AS $$ $$");
            Catalog catalog;
            try (Connection connection = donor.connect()) {
                catalog = Catalog.read(connection, Omitted.NOTHING);
            }
            CatalogRestore restore = new CatalogRestore(catalog);
            try (Connection connection = joiner.connect()) {
                restore.dropAll(connection);
                restore.create(connection);
                for (Catalog.Table table : catalog.tables()) {
                    restore.addIndexes(connection, table);
                }
                for (Catalog.Table table : catalog.tables()) {
                    restore.addForeignKeys(connection, table);
                }
                assertThat(restore.createRest(connection)).isEmpty();
                assertThat(restore.accounts(connection, "root")).isEmpty();
                assertSame(donor, joiner);
                joiner.execute(
                        "CREATE LIBRARY a.surplus LANGUAGE JAVASCRIPT AS $$ $$", "ALTER LIBRARY a.lib COMMENT 'other'");
                assertThat(restore.replaceRest(connection, "root", Set.of())).isEmpty();
            }
            assertSame(donor, joiner);
            for (String view : List.of("a.m", "a.a", "a.j")) {
                assertThat(joiner.query("SHOW CREATE VIEW " + view)).isEqualTo(donor.query("SHOW CREATE VIEW " + view));
            }
            assertThat(joiner.query("SHOW CREATE LIBRARY a.lib")).isEqualTo(donor.query("SHOW CREATE LIBRARY a.lib"));
            assertThat(joiner.query("SHOW CREATE TABLE a.c")).isEqualTo(donor.query("SHOW CREATE TABLE a.c"));
        }
    }

    private static void assertSame(MySqlServer donor, MySqlServer joiner) {
        assertThat(ServerObjects.differences(Map.of("donor", donor, "joiner", joiner)))
                .isEmpty();
    }
}
