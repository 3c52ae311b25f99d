// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * A session as clients have it: frameworks' own, and odd ones.
 *
 * @param set assignments for SET SESSION, each a statement of its own
 */
record SessionKind(String name, List<String> set) {
    private static final String STRICT = "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,"
            + "ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION";

    private static SessionKind of(String name, String... set) {
        return new SessionKind(name, List.of(set));
    }

    /** What no server has by itself, all at once. */
    static SessionKind odd() {
        return of(
                "odd",
                "time_zone = '+05:45', lc_time_names = 'de_DE', sql_mode = 'PIPES_AS_CONCAT,HIGH_NOT_PRECEDENCE'",
                "default_week_format = 6, div_precision_increment = 11, block_encryption_mode = 'aes-256-ecb'",
                "default_storage_engine = 'MyISAM', innodb_ft_enable_stopword = 0, innodb_strict_mode = 0",
                "explicit_defaults_for_timestamp = 0, auto_increment_increment = 5, auto_increment_offset = 3",
                "collation_connection = 'latin2_bin', collation_server = 'utf16_bin', timestamp = 1700000000.25",
                "default_collation_for_utf8mb4 = 'utf8mb4_general_ci', foreign_key_checks = 0, unique_checks = 0",
                "last_insert_id = 3, old_alter_table = 1, rand_seed1 = 12345, rand_seed2 = 67890");
    }

    static SessionKind wordPress() {
        return of("WordPress", "sql_mode = 'NO_ENGINE_SUBSTITUTION'", "NAMES utf8mb4 COLLATE utf8mb4_unicode_520_ci");
    }

    static List<SessionKind> all() {
        List<SessionKind> kinds = new ArrayList<>(List.of(odd(), wordPress(), of("none")));
        kinds.addAll(frameworks());
        kinds.addAll(single());
        return kinds;
    }

    private static List<SessionKind> frameworks() {
        return List.of(
                of(
                        "Django",
                        "NAMES utf8mb4",
                        "sql_auto_is_null = 0, sql_mode = 'STRICT_TRANS_TABLES'",
                        "SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
                        "time_zone = '+00:00'"),
                of(
                        "Rails",
                        "sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES'), sql_auto_is_null = 0,"
                                + " wait_timeout = 2147483, time_zone = '+00:00'",
                        "NAMES utf8mb4"),
                of(
                        "Laravel",
                        "NAMES 'utf8mb4' COLLATE 'utf8mb4_unicode_ci'",
                        "time_zone = '+02:00', sql_mode = '" + STRICT + "'"),
                of(
                        "Connector/J, Hibernate",
                        "character_set_results = NULL, time_zone = '-08:00', sql_mode = '" + STRICT + "'"),
                of(
                        "Magento's set-up",
                        "sql_mode = '', time_zone = '+00:00', foreign_key_checks = 0, unique_checks = 0"),
                of(
                        "a dump that is read",
                        "NAMES utf8mb4",
                        "time_zone = '+00:00', unique_checks = 0, foreign_key_checks = 0,"
                                + " sql_mode = 'NO_AUTO_VALUE_ON_ZERO', sql_notes = 0"),
                of("Moodle", "sql_mode = 'STRICT_ALL_TABLES', collation_connection = 'utf8mb4_bin'"),
                of("Sequelize", "time_zone = '+00:00', sql_mode = 'ANSI_QUOTES'"),
                of("pt-online-schema-change", "sql_mode = 'NO_AUTO_VALUE_ON_ZERO', lock_wait_timeout = 60"),
                of("ANSI", "sql_mode = 'ANSI'"),
                of("TRADITIONAL", "sql_mode = 'TRADITIONAL'"),
                of(
                        "every mode",
                        "sql_mode = 'REAL_AS_FLOAT,PIPES_AS_CONCAT,IGNORE_SPACE,NO_UNSIGNED_SUBTRACTION,"
                                + "NO_DIR_IN_CREATE,NO_BACKSLASH_ESCAPES,ALLOW_INVALID_DATES,HIGH_NOT_PRECEDENCE,"
                                + "PAD_CHAR_TO_FULL_LENGTH,TIME_TRUNCATE_FRACTIONAL'"));
    }

    private static List<SessionKind> single() {
        return Stream.of(
                        "time_zone = '-12:59'",
                        "lc_time_names = 'ja_JP'",
                        "lc_messages = 'fr_FR'",
                        "default_week_format = 3",
                        "div_precision_increment = 0",
                        "block_encryption_mode = 'aes-256-cfb8'",
                        "default_storage_engine = 'MyISAM'",
                        "default_storage_engine = 'MEMORY', default_tmp_storage_engine = 'MyISAM'",
                        "character_set_client = 'latin1'",
                        "NAMES sjis",
                        "collation_connection = 'utf32_bin'",
                        "collation_database = 'latin5_bin', collation_server = 'cp1251_bin'",
                        "explicit_defaults_for_timestamp = 0",
                        "sql_require_primary_key = 1",
                        "sql_generate_invisible_primary_key = 1",
                        "sql_generate_invisible_primary_key = 1,"
                                + " show_gipk_in_create_table_and_information_schema = 0",
                        "foreign_key_checks = 0, unique_checks = 0",
                        "sql_auto_is_null = 1",
                        "last_insert_id = 9, timestamp = 1500000000",
                        "rand_seed1 = 1, rand_seed2 = 2",
                        "auto_increment_increment = 10, auto_increment_offset = 7",
                        "innodb_strict_mode = 0",
                        "innodb_ft_enable_stopword = 0",
                        "old_alter_table = 1, big_tables = 1",
                        "sql_quote_show_create = 0",
                        "binlog_row_image = 'MINIMAL'",
                        "binlog_row_image = 'NOBLOB', binlog_row_value_options = 'PARTIAL_JSON'",
                        "binlog_transaction_compression = 1, binlog_rows_query_log_events = 1",
                        "group_concat_max_len = 4, max_sort_length = 4, sql_select_limit = 1",
                        "completion_type = 'CHAIN'",
                        "autocommit = 0",
                        "default_table_encryption = 0, pseudo_thread_id = 4711",
                        "transaction_isolation = 'SERIALIZABLE'")
                .map(set -> of(set, set))
                .toList();
    }

    /** Definitions whose effect depends on a session, of a schema %1$s that isn't there yet. */
    static List<String> definitions() {
        return List.of(
                "CREATE TABLE %1$s.b (id INT PRIMARY KEY, d DATE, ts TIMESTAMP NULL, a INT, s VARCHAR(60),"
                        + " UNIQUE (a)) ENGINE = InnoDB",
                "INSERT INTO %1$s.b VALUES (1, '2026-01-01', '2026-03-15 01:30:00', 1, 'the servers'),"
                        + " (2, '2026-03-31', '2026-05-14 23:30:00', 2, 'quorate'), (3, NULL, NULL, NULL, NULL)",
                "ALTER TABLE %1$s.b ADD h INT AS (HOUR(ts)) STORED, ADD m VARCHAR(20) AS (MONTHNAME(d)) STORED,"
                        + " ADD w INT AS (WEEK(d)) STORED, ADD e INT AS (EXTRACT(WEEK FROM d)) STORED",
                "ALTER TABLE %1$s.b ADD q DECIMAL(25, 15) DEFAULT (a / 7), ADD c INT DEFAULT (CONNECTION_ID()),"
                        + " ADD n DATETIME(3) DEFAULT (NOW(3)),"
                        + " ADD f VARCHAR(60) DEFAULT (DATE_FORMAT(d, '%%W %%M'))",
                "ALTER TABLE %1$s.b ADD x VARBINARY(200) AS (AES_ENCRYPT(s, 'k')) STORED",
                "ALTER TABLE %1$s.b ADD INDEX fi ((MONTHNAME(d))), ADD FULLTEXT (s)",
                "ALTER TABLE %1$s.b ADD k INT AUTO_INCREMENT UNIQUE",
                "CREATE TABLE %1$s.plain (id INT, t TIMESTAMP, u TIMESTAMP, r REAL, s CHAR(9) DEFAULT 'é')",
                "CREATE TABLE %1$s.keyed (id INT PRIMARY KEY, t TIMESTAMP, d DATE DEFAULT '2026-01-01',"
                        + " n INT AS (NOT id BETWEEN 0 AND 2), CHECK (WEEK(d) < 60))",
                "CREATE TABLE %1$s.child (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES %1$s.nowhere (id))",
                "CREATE TABLE %1$s.filled ENGINE = InnoDB AS SELECT id, a / 7 AS q, MONTHNAME(d) AS m,"
                        + " HOUR(ts) AS h, 'é' AS s, WEEK(d) AS w, NOW() AS n, RAND() AS r,"
                        + " CONNECTION_ID() AS c, UUID() AS u, USER() AS who FROM %1$s.b",
                "CREATE TABLE %1$s.`od``d select` (PRIMARY KEY (`a b`)) ENGINE = InnoDB"
                        + " SELECT 1 AS `a b`, 'x' || 'y' AS `c``d`",
                "CREATE TABLE %1$s.alike LIKE %1$s.keyed",
                "CREATE VIEW %1$s.v AS SELECT WEEK(d), 'a' || 'b' AS o, 'é' AS e, a / 7 AS q,"
                        + " NOT a BETWEEN 0 AND 2 AS n FROM %1$s.b",
                "CREATE PROCEDURE %1$s.p (x CHAR(9)) SELECT 'é', x, NOW(), WEEK('2026-01-01')",
                "CREATE FUNCTION %1$s.f (x CHAR(9)) RETURNS CHAR(9) DETERMINISTIC RETURN CONCAT(x, 'é' || '')",
                "CREATE TRIGGER %1$s.g BEFORE INSERT ON %1$s.b FOR EACH ROW SET NEW.s = CONCAT('é', NEW.s)",
                "SET @days = 3",
                "CREATE EVENT %1$s.e1 ON SCHEDULE EVERY @days DAY STARTS '2090-01-01 00:00:00' DO SET @x = 'é'",
                "CREATE EVENT %1$s.e2 ON SCHEDULE AT '2090-01-01' + INTERVAL FLOOR(RAND() * 1000) HOUR DO SET @x = 1",
                "CREATE EVENT %1$s.e3 ON SCHEDULE EVERY 1 + LAST_INSERT_ID() %% 50 DAY DO SET @x = 1",
                "CREATE EVENT %1$s.e4 ON SCHEDULE EVERY 1 + (1 / 7) * 1e9 MINUTE DO SET @x = 1",
                "CREATE DATABASE %1$s_2",
                "CREATE TABLE %1$s_2.t (id INT PRIMARY KEY, a CHAR(3))",
                "ALTER DATABASE %1$s_2 CHARACTER SET latin2",
                "CREATE TABLE %1$s_2.u (id INT PRIMARY KEY, a CHAR(3))",
                "RENAME TABLE %1$s_2.t TO %1$s_2.t2",
                "DROP TABLE %1$s_2.u",
                "ANALYZE TABLE %1$s.b");
    }
}
