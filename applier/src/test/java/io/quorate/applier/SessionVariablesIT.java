// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.CarriedSetting;
import io.quorate.sandbox.MySqlServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Holds docs/session-variables.md against what a server has, and against what is set for a definition. */
@Timeout(180)
class SessionVariablesIT extends OriginAndServer {
    private static final Pattern ROW = Pattern.compile("\\| `([a-z0-9_]+)` \\| (\\w+) \\| \\S.* \\|");
    private static final Set<String> HOW = Set.of("carried", "added", "neutralized", "refused", "irrelevant");

    private static final Map<String, String> TABLE = new TreeMap<>();

    @BeforeAll
    static void read() throws IOException {
        for (String line : Files.readAllLines(Path.of("../docs/session-variables.md"))) {
            Matcher row = ROW.matcher(line);
            if (row.matches()) {
                assertThat(HOW).as(line).contains(row.group(2));
                assertThat(TABLE.put(row.group(1), row.group(2))).as(line).isNull();
            }
        }
    }

    private static Set<String> names(String how) {
        return TABLE.entrySet().stream()
                .filter(each -> each.getValue().equals(how))
                .map(Map.Entry::getKey)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void theServerHasNoOtherVariables() {
        assertThat(variables(origin)).as("not in docs/session-variables.md").allMatch(TABLE::containsKey);
    }

    private static Set<String> variables(MySqlServer server) {
        // A variable that no session has is no session's, whatever SHOW VARIABLES lists.
        String all = server.queryOne(
                "SELECT /*+ SET_VAR(group_concat_max_len = 1000000) */ GROUP_CONCAT(LOWER(VARIABLE_NAME)) FROM"
                        + " (SELECT VARIABLE_NAME FROM performance_schema.variables_by_thread"
                        + " WHERE THREAD_ID = PS_CURRENT_THREAD_ID() ORDER BY 1) v");
        return new TreeSet<>(Arrays.asList(all.split(",")));
    }

    @Test
    void whatIsAddedIsWhatTheCaptureAsksFor() {
        assertThat(names("added"))
                .isEqualTo(Arrays.stream(CarriedSetting.values())
                        .map(CarriedSetting::variable)
                        .collect(Collectors.toCollection(TreeSet::new)));
    }

    /**
     * Each variable that is carried, with a value that isn't a server's own, and a definition that something else comes
     * of with it.
     */
    private static final Map<String, String[]> CARRIED = Map.ofEntries(
            Map.entry("foreign_key_checks", new String[] {
                "SET foreign_key_checks = 0", "CREATE TABLE fk (a INT, FOREIGN KEY (a) REFERENCES nowhere (a))"
            }),
            Map.entry("unique_checks", new String[] {"SET unique_checks = 0", "CREATE TABLE uc (a INT UNIQUE)"}),
            Map.entry("sql_auto_is_null", new String[] {
                "SET sql_auto_is_null = 1", "CREATE VIEW ain AS SELECT id FROM base WHERE id IS NULL"
            }),
            Map.entry("sql_mode", new String[] {
                "SET sql_mode = 'PIPES_AS_CONCAT,ANSI_QUOTES,HIGH_NOT_PRECEDENCE,NO_BACKSLASH_ESCAPES'",
                "CREATE VIEW sm AS SELECT 'a\\' || \"id\" AS c, NOT 1 BETWEEN 0 AND 2 AS n FROM base"
            }),
            Map.entry("character_set_client", new String[] {
                "SET character_set_client = latin1", "CREATE VIEW csc AS SELECT 'é' AS e, LENGTH('é') AS l"
            }),
            Map.entry(
                    "collation_connection",
                    new String[] {"SET collation_connection = latin2_bin", "CREATE VIEW cc AS SELECT 'x' AS e"}),
            Map.entry(
                    "character_set_connection",
                    new String[] {"SET character_set_connection = cp1250", "CREATE VIEW csn AS SELECT 'x' AS e"}),
            Map.entry("collation_server", new String[] {
                "SET collation_server = latin2_bin", "CREATE DATABASE %s_cs", "CREATE TABLE %s_cs.t (a CHAR(3))"
            }),
            Map.entry("character_set_server", new String[] {
                "SET character_set_server = cp1250", "CREATE DATABASE %s_ch", "CREATE TABLE %s_ch.t (a CHAR(3))"
            }),
            Map.entry(
                    "collation_database",
                    new String[] {"SET collation_database = latin2_bin", "CREATE TABLE cd (a CHAR(3))"}),
            Map.entry(
                    "character_set_database",
                    new String[] {"SET character_set_database = cp1250", "CREATE TABLE chd (a CHAR(3))"}),
            Map.entry("default_collation_for_utf8mb4", new String[] {
                "SET default_collation_for_utf8mb4 = utf8mb4_general_ci",
                "CREATE TABLE dc (a CHAR(3) CHARACTER SET utf8mb4)"
            }),
            Map.entry("time_zone", new String[] {
                "SET time_zone = '+05:00'",
                "ALTER TABLE base ADD h INT AS (HOUR(ts)) STORED, ADD d TIMESTAMP DEFAULT '2026-01-01 00:00:00'"
            }),
            Map.entry("lc_time_names", new String[] {
                "SET lc_time_names = 'de_DE'", "ALTER TABLE base ADD m VARCHAR(20) AS (MONTHNAME(ts)) STORED"
            }),
            Map.entry("auto_increment_increment", new String[] {
                "SET auto_increment_increment = 7", "ALTER TABLE base ADD n INT AUTO_INCREMENT UNIQUE"
            }),
            Map.entry("auto_increment_offset", new String[] {
                "SET auto_increment_increment = 7, auto_increment_offset = 3",
                "ALTER TABLE base2 ADD n INT AUTO_INCREMENT UNIQUE"
            }),
            Map.entry("timestamp", new String[] {
                "SET timestamp = 1700000000.25", "ALTER TABLE base ADD t6 DATETIME(6) DEFAULT CURRENT_TIMESTAMP(6)"
            }),
            Map.entry("explicit_defaults_for_timestamp", new String[] {
                "SET explicit_defaults_for_timestamp = 0, sql_mode = ''", "CREATE TABLE edt (a TIMESTAMP, b TIMESTAMP)"
            }),
            Map.entry(
                    "sql_require_primary_key",
                    new String[] {"SET sql_require_primary_key = 1", "CREATE TABLE rpk (a INT PRIMARY KEY)"}),
            Map.entry(
                    "default_table_encryption",
                    new String[] {"SET default_table_encryption = 0", "CREATE TABLE dte (a INT)"}),
            Map.entry("last_insert_id", new String[] {"SET last_insert_id = 41", event("lii", "LAST_INSERT_ID()")}),
            Map.entry("identity", new String[] {"SET identity = 43", event("idt", "LAST_INSERT_ID()")}),
            Map.entry(
                    "rand_seed1", new String[] {"SET rand_seed1 = 123456789", event("rs1", "1 + FLOOR(RAND() * 1e6)")}),
            Map.entry(
                    "rand_seed2", new String[] {"SET rand_seed2 = 987654321", event("rs2", "1 + FLOOR(RAND() * 1e6)")}),
            Map.entry(
                    "pseudo_thread_id", new String[] {"SET pseudo_thread_id = 777", event("pti", "CONNECTION_ID()")}));

    private static String event(String name, String every) {
        return "CREATE EVENT " + name + " ON SCHEDULE EVERY " + every + " HOUR DO SET @x = 1";
    }

    /** Every one that is carried, against a server whose own values are odd. */
    @Test
    void whatIsCarriedHasTheSameEffectAtTheOtherEnd() throws Exception {
        assertThat(CARRIED.keySet()).isEqualTo(names("carried"));
        server.execute("SET GLOBAL auto_increment_increment = 9, auto_increment_offset = 2, lc_time_names = 'fr_FR',"
                + " time_zone = '-03:00', sql_mode = 'TRADITIONAL', collation_server = 'latin5_turkish_ci',"
                + " explicit_defaults_for_timestamp = 1, sql_require_primary_key = 0");
        try {
            for (String table : new String[] {"base", "base2", "base3"}) {
                origin.execute(
                        "USE " + schema,
                        "CREATE TABLE " + table + " (id INT PRIMARY KEY, ts TIMESTAMP)",
                        "INSERT INTO " + table + " VALUES (1, '2026-03-15 22:30:00'), (2, '2026-05-15 22:30:00')");
            }
            for (String[] statements : CARRIED.values()) {
                String[] all = new String[statements.length + 1];
                all[0] = "USE " + schema;
                for (int i = 0; i < statements.length; i++) {
                    all[i + 1] = statements[i].replace("%s", schema);
                }
                origin.execute(all);
            }
            replica.start(Replica.SETTINGS);
            replica.take(seqno -> seqno - 1);
            replica.awaitApplied();
        } finally {
            server.execute("SET GLOBAL auto_increment_increment = 1, auto_increment_offset = 1,"
                    + " lc_time_names = DEFAULT, time_zone = DEFAULT, sql_mode = DEFAULT, collation_server = DEFAULT");
        }
        for (String each : new String[] {schema, schema + "_cs", schema + "_ch"}) {
            replica.assertSame(each);
        }
        for (String query : new String[] {
            "GROUP_CONCAT(table_name, view_definition, character_set_client, collation_connection ORDER BY 1"
                    + " SEPARATOR '\n') FROM information_schema.views WHERE table_schema = '%s'",
            "GROUP_CONCAT(event_name, interval_value ORDER BY 1 SEPARATOR '\n') FROM information_schema.events"
                    + " WHERE event_schema = '%s'"
        }) {
            String sql = "SELECT /*+ SET_VAR(group_concat_max_len = 1000000) */ " + query.formatted(schema);
            assertThat(server.queryOne(sql)).isEqualTo(origin.queryOne(sql)).isNotNull();
        }
    }
}
