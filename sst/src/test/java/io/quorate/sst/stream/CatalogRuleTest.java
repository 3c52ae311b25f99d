// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.QuorateException;
import io.quorate.fuzz.Fuzz;
import io.quorate.sst.stream.Catalog.Account;
import io.quorate.sst.stream.Catalog.Clause;
import io.quorate.sst.stream.Catalog.Program;
import io.quorate.sst.stream.Catalog.Role;
import io.quorate.sst.stream.Catalog.Schema;
import io.quorate.sst.stream.Catalog.Shared;
import io.quorate.sst.stream.Catalog.Table;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A donor doesn't choose what is run on a joiner, beyond what a copy consists of. */
class CatalogRuleTest {
    private static final Schema SHOP = new Schema(
            "shop",
            "CREATE DATABASE `shop` /*!40100 DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci */"
                    + " /*!80016 DEFAULT ENCRYPTION='N' */ /* READ ONLY=1 */",
            "utf8mb4_0900_ai_ci",
            false);
    private static final String DEFINER = "CREATE DEFINER=`root`@`localhost` ";

    private static Catalog catalog(
            List<Shared> shared,
            List<Schema> schemas,
            List<Table> tables,
            List<Program> routines,
            List<Program> views,
            List<Program> triggers,
            List<Program> events,
            List<Account> accounts) {
        return new Catalog(Omitted.NOTHING, shared, schemas, tables, routines, views, triggers, events, accounts);
    }

    private static Catalog of(Shared shared) {
        return catalog(List.of(shared), List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of());
    }

    private static Catalog of(Table table) {
        return catalog(List.of(), List.of(SHOP), List.of(table), List.of(), List.of(), List.of(), List.of(), List.of());
    }

    private static Catalog of(Account account) {
        return catalog(List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of(account));
    }

    private static Catalog of(Program program) {
        List<Program> one = List.of(program);
        return catalog(
                List.of(),
                List.of(SHOP),
                List.of(),
                program.kind().matches("PROCEDURE|FUNCTION|LIBRARY") ? one : List.of(),
                program.kind().equals("VIEW") ? one : List.of(),
                program.kind().equals("TRIGGER") ? one : List.of(),
                program.kind().equals("EVENT") ? one : List.of(),
                List.of());
    }

    private static Table table(String create, Clause... clauses) {
        List<Clause> keys = List.of(clauses);
        return new Table(
                "shop",
                "item",
                create,
                keys.stream()
                        .filter(c -> !c.definition().startsWith("CONSTRAINT"))
                        .toList(),
                keys.stream()
                        .filter(c -> c.definition().startsWith("CONSTRAINT"))
                        .toList(),
                "InnoDB",
                true);
    }

    private static Program program(String kind, String create, String sqlMode) {
        return new Program(
                kind, "shop", "p", create, sqlMode, "utf8mb4", "utf8mb4_general_ci", "utf8mb4_general_ci", "", true);
    }

    private static Account account(String create, String... grants) {
        return new Account(
                "app", "%", create, List.of(grants), List.of(new Role("'reader'@'%'", false)), List.of("'reader'@'%'"));
    }

    private static void refused(Catalog catalog) {
        assertThatThrownBy(catalog::require)
                .isInstanceOf(QuorateException.class)
                .hasMessageContaining("QRT-7001");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "CREATE TABLE `item` (\n  `id` int NOT NULL,\n  `n` varchar(9) DEFAULT 'a;b -- /* ('"
                        + " COMMENT 'it''s \\\\',\n"
                        + "  PRIMARY KEY (`id`)\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COMMENT='SELECT'",
                "CREATE TABLE `item` (\n  `select` int /*!80023 INVISIBLE */,\n  CONSTRAINT `c` CHECK"
                        + " ((`select` > 0))\n"
                        + ") ENGINE=InnoDB\n/*!50100 PARTITION BY RANGE (`select`)\n(PARTITION p0 VALUES LESS THAN (5)"
                        + " ENGINE = InnoDB,\n PARTITION p1 VALUES LESS THAN MAXVALUE ENGINE = InnoDB) */",
                "CREATE TABLE `item` (\n  `a` int,\n  `b` int GENERATED ALWAYS AS (if((`a` like _utf8mb4'x%'),1,0))"
                        + " VIRTUAL\n) /*!50100 TABLESPACE `ts` */ ENGINE=InnoDB"
            })
    void tables(String create) {
        of(table(
                        create,
                        new Clause("k", "UNIQUE KEY `k` (`a`,`b`(10)) USING BTREE COMMENT 'a,b' /*!80000 INVISIBLE */"),
                        new Clause("f", "FULLTEXT KEY `f` (`n`) /*!50100 WITH PARSER `ngram` */"),
                        new Clause(
                                "fk",
                                "CONSTRAINT `fk` FOREIGN KEY (`a`, `b`) REFERENCES `other`.`t` (`x`,"
                                        + " `y`) ON DELETE CASCADE")))
                .require();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "DROP DATABASE shop",
                "CREATE TABLE `mysql`.`item` (`a` int)",
                "CREATE TABLE `other` (`a` int)",
                "CREATE TABLE `item` (LIKE `mysql`.`user`)",
                "CREATE TABLE `item` LIKE `mysql`.`user`",
                "CREATE TABLE `item` (`a` int) SELECT * FROM mysql.user",
                "CREATE TABLE `item` (`a` int) /*!50100 SELECT 1 */",
                "CREATE TABLE `item` (`a` int) TABLE mysql.user",
                "CREATE TABLE `item` (`a` int); DROP DATABASE shop",
                "CREATE TABLE `item` (`a` int) -- ",
                "CREATE TABLE `item` (`a` int)) ENGINE=InnoDB",
                "CREATE TABLE `item` (`a` int COMMENT 'x) ENGINE=InnoDB",
                "CREATE TABLE /* */ `item` (`a` int)",
                "CREATE TABLE IF NOT EXISTS `item` (`a` int)",
                ""
            })
    void whatIsNoTable(String create) {
        refused(of(table(create)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "KEY `k` (`a`), RENAME TO `mysql`.`x`",
                "KEY `k` (`a`) , ADD COLUMN x int",
                "KEY `other` (`a`)",
                "KEY `k` (`a`) /*!50100 , DROP COLUMN `a` */",
                "KEY `k` (`a`); DROP TABLE t",
                "COLUMN `k` int",
                "CONSTRAINT `k` FOREIGN KEY (`a`) REFERENCES `t` (`b`), DROP COLUMN `a`",
                "CONSTRAINT `k` CHECK (1)"
            })
    void whatIsNoKey(String definition) {
        refused(of(table("CREATE TABLE `item` (`a` int)", new Clause("k", definition))));
    }

    @ParameterizedTest
    @ValueSource(strings = {"mysql", "MYSQL", "quorate", "sys", "performance_schema", "information_schema", ""})
    void nothingIsMadeInTheSystemsSchemas(String schema) {
        refused(catalog(
                List.of(),
                List.of(new Schema(schema, "CREATE DATABASE `" + schema + "`", "utf8mb4_bin", false)),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of()));
        refused(of(new Program(
                "TRIGGER",
                schema,
                "p",
                DEFINER + "TRIGGER p BEFORE INSERT ON t FOR EACH ROW SET @a = 1",
                "",
                "utf8mb4",
                "utf8mb4_bin",
                "utf8mb4_bin",
                "",
                true)));
        refused(of(new Table(schema, "item", "CREATE TABLE `item` (`a` int)", List.of(), List.of(), "InnoDB", true)));
    }

    @Test
    void programs() {
        of(program(
                        "PROCEDURE",
                        DEFINER + "PROCEDURE `p`(IN a int)\n SQL SECURITY INVOKER\nBEGIN DROP TABLE x; END",
                        ""))
                .require();
        of(program(
                        "FUNCTION",
                        "CREATE DEFINER=\"root\"@\"%\" FUNCTION \"p\"() RETURNS int RETURN 1",
                        "REAL_AS_FLOAT,ANSI_QUOTES"))
                .require();
        of(program(
                        "VIEW",
                        "CREATE ALGORITHM=UNDEFINED DEFINER=`root`@`localhost` SQL SECURITY DEFINER VIEW"
                                + " `shop`.`p` (`a`)"
                                + " AS select /*+ NO_MERGE() */ ';' AS `;` from `t`",
                        ""))
                .require();
        of(program(
                        "TRIGGER",
                        DEFINER + "TRIGGER shop . P\n -- mine\n before insert ON `shop`.`t` FOR EACH ROW BEGIN END",
                        ""))
                .require();
        of(program("EVENT", DEFINER + "EVENT `p` ON SCHEDULE EVERY 1 DAY STARTS '2026-01-01' DO DELETE FROM t", ""))
                .require();
    }

    @Test
    void libraries() {
        of(program("LIBRARY", "CREATE LIBRARY `p`\n    COMMENT 'd'\n    LANGUAGE JAVASCRIPT\nAS $$ f() $$", ""))
                .require();
        of(program("LIBRARY", "CREATE LIBRARY \"p\"\n    LANGUAGE JAVASCRIPT\nAS $$ f() $$", "ANSI_QUOTES"))
                .require();
        for (String create : List.of(
                "CREATE LIBRARY `q` LANGUAGE JAVASCRIPT AS $$ $$",
                "CREATE LIBRARY `p` SONAME 'evil.so'",
                DEFINER + "FUNCTION `p`() RETURNS int RETURN 1")) {
            refused(of(program("LIBRARY", create, "")));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "CREATE FUNCTION `p` RETURNS STRING SONAME 'evil.so'",
                "CREATE AGGREGATE FUNCTION `p` RETURNS STRING SONAME 'evil.so'",
                DEFINER + "FUNCTION `mysql`.`p`() RETURNS int RETURN 1",
                DEFINER + "FUNCTION `q`() RETURNS int RETURN 1",
                DEFINER + "PROCEDURE `p`() SET GLOBAL read_only = OFF",
                "SET GLOBAL read_only = OFF",
                "GRANT ALL ON *.* TO app",
                "CREATE USER evil"
            })
    void whatIsNoFunction(String create) {
        refused(of(program("FUNCTION", create, "")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"DATABASE", "VIEW shop.v; DROP DATABASE shop; --", "PROCEDURE", "TRIGGER"})
    void theKindIsOneThatIsMadeThere(String kind) {
        Program odd = program(kind, DEFINER + "EVENT `p` ON SCHEDULE EVERY 1 DAY DO DELETE FROM t", "");
        refused(catalog(List.of(), List.of(SHOP), List.of(), List.of(), List.of(), List.of(), List.of(odd), List.of()));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                DEFINER + "TRIGGER p BEFORE INSERT ON mysql.user FOR EACH ROW SET @a = 1",
                DEFINER + "TRIGGER mysql.p BEFORE INSERT ON t FOR EACH ROW SET @a = 1",
                DEFINER + "TRIGGER p AFTER TRUNCATE ON t FOR EACH ROW SET @a = 1"
            })
    void whatIsNoTrigger(String create) {
        refused(of(program("TRIGGER", create, "")));
    }

    @Test
    void accounts() {
        of(account(
                        "CREATE USER `app`@`%` IDENTIFIED WITH 'mysql_native_password' AS '*A,;--'"
                                + " REQUIRE NONE PASSWORD EXPIRE"
                                + " DEFAULT ACCOUNT UNLOCK ATTRIBUTE '{\"a\": 1, \"b\": 2}'",
                        "GRANT USAGE ON *.* TO `app`@`%`",
                        "GRANT SELECT (`a`, `b`), INSERT ON `to`.`t` TO `app`@`%` WITH GRANT OPTION",
                        "GRANT PROXY ON ``@`` TO `app`@`%` WITH GRANT OPTION",
                        "REVOKE SELECT ON `secret`.* FROM `app`@`%`"))
                .require();
        of(account("CREATE USER `app`@`%` IDENTIFIED WITH 'x' AS 0x0A0B DEFAULT ROLE `a`@`%`,`b`@`%` REQUIRE NONE"))
                .require();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "CREATE USER `root`@`%` IDENTIFIED BY 'x'",
                "CREATE USER `app`@`%` IDENTIFIED BY 'x', `root`@`%` IDENTIFIED BY 'x'",
                "CREATE USER `app`@`%`; DROP DATABASE shop",
                "CREATE USER `app`@`%` /*!80000 , `root`@`%` */",
                "CREATE DATABASE `app`"
            })
    void whatIsNoAccount(String create) {
        refused(of(account(create)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GRANT ALL PRIVILEGES ON *.* TO `other`@`%`",
                "GRANT ALL PRIVILEGES ON *.* TO `app`@`%`, `other`@`%`",
                "GRANT SELECT ON *.* TO `app`@`%` AS `root`@`localhost`",
                "GRANT SELECT ON *.* TO `app`@`%`; DROP DATABASE shop",
                "REVOKE SELECT ON *.* FROM `root`@`localhost`",
                "DROP DATABASE shop",
                "SET GLOBAL offline_mode = OFF"
            })
    void whatIsNoGrant(String grant) {
        refused(of(account("CREATE USER `app`@`%`", grant)));
    }

    @Test
    void rolesAreNamesOfAccounts() {
        refused(of(new Account(
                "app", "%", "CREATE USER `app`@`%`", List.of(), List.of(new Role("ALL ON *.*", false)), List.of())));
        refused(of(new Account(
                "app", "%", "CREATE USER `app`@`%`", List.of(), List.of(), List.of("'a'@'%' TO 'b'@'%'; --"))));
        refused(of(new Account(
                "mysql.session",
                "localhost",
                "CREATE USER `mysql.session`@`localhost`",
                List.of(),
                List.of(),
                List.of())));
    }

    @Test
    void whatNoSchemaHas() {
        of(new Shared(Shared.Kind.TABLESPACE, "ts", "CREATE TABLESPACE `ts` ADD DATAFILE 'ts.ibd'"))
                .require();
        of(new Shared(
                        Shared.Kind.REFERENCE_SYSTEM,
                        "40000",
                        "CREATE SPATIAL REFERENCE SYSTEM 40000 NAME 'a' DEFINITION 'b'"))
                .require();
        of(new Shared(Shared.Kind.SERVER, "s", "CREATE SERVER `s` FOREIGN DATA WRAPPER `mysql` OPTIONS (PORT 1)"))
                .require();
        refused(of(new Shared(
                Shared.Kind.SERVER, "s", "CREATE SERVER `t` FOREIGN DATA WRAPPER `mysql` OPTIONS (PORT 1)")));
        refused(of(new Shared(
                Shared.Kind.REFERENCE_SYSTEM, "1; DROP DATABASE shop", "CREATE SPATIAL REFERENCE SYSTEM 1 NAME 'a'")));
        refused(of(new Shared(
                Shared.Kind.TABLESPACE, "ts", "CREATE TABLESPACE `ts` ADD DATAFILE 'ts.ibd'; DROP DATABASE a")));
        refused(of(new Shared(null, "ts", "CREATE TABLESPACE `ts` ADD DATAFILE 'ts.ibd'")));
    }

    @Test
    void corrections() {
        CatalogRule.requireCorrection(
                "s",
                "t",
                "UPDATE `s`.`t` SET `j` = JSON_OBJECT(JSON_UNQUOTE(_utf8mb4 X'2261'), CAST('1.50' AS DECIMAL(3, 2)),"
                        + " JSON_UNQUOTE(_utf8mb4 X'22'), JSON_ARRAY(CAST(5 AS UNSIGNED),"
                        + " CAST('10:00:00' AS TIME(6)))),"
                        + " `at` = `at` WHERE `id` = -5 AND `n` = _latin1 X'41' AND `d` = 'it''s; --'");
        for (String other : List.of(
                "UPDATE `s`.`u` SET `j` = 1",
                "UPDATE `mysql`.`user` SET `j` = 1",
                "UPDATE `s`.`t`, `mysql`.`user` SET `j` = 1",
                "UPDATE `s`.`t` SET `j` = (SELECT 1)",
                "UPDATE `s`.`t` SET `j` = LOAD_FILE('/etc/passwd')",
                "UPDATE `s`.`t` SET `j` = @@global.read_only",
                "UPDATE `s`.`t` SET `j` = 1; DROP TABLE x",
                "DELETE FROM `s`.`t`")) {
            assertThatThrownBy(() -> CatalogRule.requireCorrection("s", "t", other))
                    .as(other)
                    .isInstanceOf(QuorateException.class);
        }
    }

    @Test
    void statementsTamperedWith() {
        String table = "CREATE TABLE `item` (\n  `id` int NOT NULL COMMENT 'a''b',\n  PRIMARY KEY (`id`)\n)"
                + " /*!50100 TABLESPACE `ts` */";
        List<byte[]> valid = List.of(table.getBytes(StandardCharsets.UTF_8));
        Fuzz.of(valid).refusing(QuorateException.class).run(text -> of(table(new String(text, StandardCharsets.UTF_8)))
                .require());
    }
}
