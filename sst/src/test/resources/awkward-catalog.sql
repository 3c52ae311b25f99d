CREATE TABLESPACE `b-c` ADD DATAFILE 'b.ibd' FILE_BLOCK_SIZE = 8192
;;
CREATE TABLESPACE `räum` ADD DATAFILE 'a''b.ibd' AUTOEXTEND_SIZE = 8M
;;
CREATE SPATIAL REFERENCE SYSTEM 40000 NAME 'it''s\\flat' ORGANIZATION 'o' IDENTIFIED BY 7 DEFINITION 'PROJCS["Popular Visualisation CRS / Mercator",GEOGCS["Popular Visualisation CRS",DATUM["Popular Visualisation Datum",SPHEROID["Popular Visualisation Sphere",6378137,0,AUTHORITY["EPSG","7059"]],TOWGS84[0,0,0,0,0,0,0],AUTHORITY["EPSG","6055"]],PRIMEM["Greenwich",0,AUTHORITY["EPSG","8901"]],UNIT["degree",0.017453292519943278,AUTHORITY["EPSG","9122"]],AXIS["Lat",NORTH],AXIS["Lon",EAST],AUTHORITY["EPSG","4055"]],PROJECTION["Mercator (1SP)",AUTHORITY["EPSG","9804"]],PARAMETER["Latitude of natural origin",0,AUTHORITY["EPSG","8801"]],PARAMETER["Longitude of natural origin",0,AUTHORITY["EPSG","8802"]],PARAMETER["Scale factor at natural origin",1,AUTHORITY["EPSG","8805"]],PARAMETER["False easting",0,AUTHORITY["EPSG","8806"]],PARAMETER["False northing",0,AUTHORITY["EPSG","8807"]],UNIT["metre",1,AUTHORITY["EPSG","9001"]],AXIS["X",EAST],AXIS["Y",NORTH],AUTHORITY["EPSG","3785"]]' DESCRIPTION 'd'
;;
CREATE SERVER `far away` FOREIGN DATA WRAPPER mysql OPTIONS (HOST 'h''', USER 'u', PASSWORD 'p\\', DATABASE 'd', PORT 7)
;;
CREATE DATABASE shop CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
;;
CREATE DATABASE `o,d)d ``sch{ema` CHARACTER SET latin1
;;
CREATE DATABASE frozen
;;
CREATE TABLE shop.in_space (id INT PRIMARY KEY, p POINT NOT NULL SRID 40000, SPATIAL KEY (p)) TABLESPACE `räum`
;;
CREATE TABLE frozen.t (id INT PRIMARY KEY, a INT, KEY (a))
;;
SET SESSION sql_mode = ''
;;
CREATE TABLE shop.plain (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, a INT NOT NULL, b VARCHAR(50) COLLATE utf8mb4_0900_ai_ci, c TEXT, d JSON, `desc` INT,
  t TIMESTAMP NOT NULL DEFAULT '2020-01-02 03:04:05', t2 TIMESTAMP NULL, t3 DATETIME(6) DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6),
  z DATE NOT NULL DEFAULT '0000-00-00', bin VARBINARY(8) DEFAULT 0x00FF27, hid INT INVISIBLE DEFAULT 5,
  UNIQUE KEY u_ab (a, b), KEY b_part (b(7) DESC, a), KEY inv (a) INVISIBLE COMMENT 'it''s (a, "comment\\") `\n,next', KEY f ((a + 1), (upper(b))), KEY `multi` ((CAST(d->'$.n' AS UNSIGNED ARRAY))),
  KEY `k,ey (``odd``)` (`desc`), FULLTEXT KEY ft1 (c), FULLTEXT KEY ft2 (b) WITH PARSER ngram, UNIQUE KEY nn (a), KEY hashy (a) USING BTREE KEY_BLOCK_SIZE=4,
  CONSTRAINT positive CHECK (a > 0 AND b <> 'x'',) KEY `y` ('), CONSTRAINT lax CHECK (c <> '(') NOT ENFORCED
) AUTO_INCREMENT = 77 COMMENT = 'quotes '' and "two" (paren, comma) \\ back\nline `tick` KEY `k` (a),\n  KEY `z` (a)'
;;
CREATE TABLE shop.`we``ird ,(name
two lines` (`id,)
x` INT PRIMARY KEY, `KEY ``k` INT COMMENT '),\n) ENGINE=MyISAM AUTO_INCREMENT', KEY `KEY (` (`KEY ``k`), UNIQUE KEY `CONSTRAINT ``x`` FOREIGN KEY` (`KEY ``k`, `id,)
x`)) CHARACTER SET sjis
;;
CREATE TABLE shop.latin (a CHAR(10) CHARACTER SET latin1, b VARCHAR(10) CHARACTER SET ucs2 DEFAULT 'äö', c VARCHAR(9) CHARACTER SET utf8mb3 COLLATE utf8mb3_bin, e ENUM('a,b', 'c''d', '(', 'ß') DEFAULT 'ß', s SET('x)', 'y`') CHARACTER SET binary,
  KEY (a), UNIQUE KEY (b)) CHARACTER SET latin2 COMMENT 'no primary key'
;;
CREATE TABLE shop.clustered (a INT NOT NULL, b INT, UNIQUE KEY u (a), KEY (b))
;;
CREATE TABLE shop.second_auto (a INT, n BIGINT NOT NULL AUTO_INCREMENT, b INT, x INT, PRIMARY KEY (a, n), KEY before_it (b), UNIQUE KEY uniq (x), KEY n (n), KEY after_it (x, b))
;;
CREATE TABLE shop.docs (id INT PRIMARY KEY, FTS_DOC_ID BIGINT UNSIGNED NOT NULL, body TEXT, title VARCHAR(100), UNIQUE KEY FTS_DOC_ID_INDEX (FTS_DOC_ID), KEY t (title), FULLTEXT KEY b (body))
;;
CREATE TABLE shop.generated_columns (id INT PRIMARY KEY, a INT, s INT GENERATED ALWAYS AS (a * 2) STORED, v VARCHAR(20) GENERATED ALWAYS AS (CONCAT(a, ',(\\''')) VIRTUAL NOT NULL COMMENT 'AUTO_INCREMENT', KEY sk (s), KEY vk (v), UNIQUE KEY both_of (v, s))
;;
CREATE TABLE shop.places (id INT PRIMARY KEY, p POINT NOT NULL SRID 4326, g GEOMETRY NOT NULL, n INT, SPATIAL KEY sp (p), KEY n (n), SPATIAL KEY sg (g))
;;
CREATE TABLE shop.parts (id INT NOT NULL, d DATE NOT NULL, r VARCHAR(10), PRIMARY KEY (id, d), KEY r (r)) PARTITION BY RANGE (YEAR(d)) SUBPARTITION BY HASH (id) SUBPARTITIONS 2 (PARTITION p0 VALUES LESS THAN (2000) COMMENT = 'a, (b', PARTITION p1 VALUES LESS THAN MAXVALUE)
;;
CREATE TABLE shop.listed (id INT, c VARCHAR(5), PRIMARY KEY (id, c), KEY k (c)) PARTITION BY LIST COLUMNS (c) (PARTITION a VALUES IN ('x)', 'ä'), PARTITION b VALUES IN ('y'))
;;
CREATE TABLE shop.isam (a INT, n INT NOT NULL AUTO_INCREMENT, t TEXT, PRIMARY KEY (a, n), KEY k (a), FULLTEXT KEY f (t)) ENGINE = MyISAM
;;
CREATE TABLE shop.mem (a INT PRIMARY KEY, b INT, KEY h USING HASH (b)) ENGINE = MEMORY
;;
CREATE TABLE shop.archived (a INT, b BLOB) ENGINE = ARCHIVE
;;
SET SESSION sql_generate_invisible_primary_key = ON
;;
CREATE TABLE shop.gipk (a INT, b INT, KEY k (a), UNIQUE KEY u (b))
;;
SET SESSION sql_generate_invisible_primary_key = OFF
;;
CREATE TABLE shop.tree (id INT PRIMARY KEY, parent INT, CONSTRAINT `up, (a)` FOREIGN KEY (parent) REFERENCES tree (id) ON DELETE CASCADE ON UPDATE SET NULL)
;;
CREATE TABLE `o,d)d ``sch{ema`.child (id INT PRIMARY KEY, product BIGINT UNSIGNED NOT NULL, a INT NOT NULL, KEY other (a, product), CONSTRAINT z FOREIGN KEY (product) REFERENCES shop.plain (id), CONSTRAINT a_unique FOREIGN KEY (a) REFERENCES shop.plain (a), FOREIGN KEY (id) REFERENCES shop.tree (id))
;;
CREATE TABLE shop.compressed (id INT PRIMARY KEY, a INT, KEY (a)) ROW_FORMAT = COMPRESSED KEY_BLOCK_SIZE = 8 STATS_PERSISTENT = 1 MAX_ROWS = 5
;;
INSERT INTO shop.tree VALUES (1, 1), (2, 1)
;;
CREATE TABLE shop.doomed (a INT PRIMARY KEY, b INT)
;;
USE shop
;;
CREATE FUNCTION shop.f1(x BIGINT) RETURNS VARCHAR(30) CHARACTER SET utf8mb4 DETERMINISTIC RETURN CONCAT(x, '{d it''s}')
;;
CREATE FUNCTION shop.unsafe() RETURNS INT RETURN (SELECT COUNT(*) FROM plain) + RAND()
;;
USE `o,d)d ``sch{ema`
;;
CREATE FUNCTION `o,d)d ``sch{ema`.g(t TEXT) RETURNS TEXT NO SQL RETURN t
;;
CREATE VIEW shop.z_last AS SELECT p.id, `o,d)d ``sch{ema`.g(p.a) AS `a (b```, 'ä' AS umlaut FROM shop.plain p JOIN `o,d)d ``sch{ema`.child c ON c.product = p.id
;;
CREATE ALGORITHM = MERGE DEFINER = `gone`@`%` SQL SECURITY INVOKER VIEW shop.a_first AS SELECT id, shop.f1(id) AS y FROM shop.z_last WHERE id > 1 WITH LOCAL CHECK OPTION
;;
CREATE VIEW shop.m_middle (one, `two,`) AS SELECT a.y, (SELECT COUNT(*) FROM `o,d)d ``sch{ema`.child) FROM shop.a_first a
;;
CREATE VIEW shop.invalid AS SELECT * FROM shop.doomed
;;
CREATE VIEW shop.invalid2 AS SELECT b FROM shop.invalid
;;
CREATE VIEW shop.invalid3 AS SELECT hid FROM shop.plain
;;
ALTER TABLE shop.plain DROP COLUMN hid
;;
DROP TABLE shop.doomed
;;
USE shop
;;
SET SESSION sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES'
;;
CREATE PROCEDURE shop."odd ' proc"(IN "a ""b" CHAR(5), OUT o VARCHAR(10)) COMMENT 'it''s one' SQL SECURITY INVOKER
BEGIN
  -- a comment; with {braces} and 'quote
  SELECT "a ""b" || '\' INTO o FROM "plain";
END
;;
SET SESSION sql_mode = ''
;;
CREATE PROCEDURE shop.strange() MODIFIES SQL DATA BEGIN UPDATE plain SET c = "dou{ble" WHERE id = '0000-00-00'; END
;;
ALTER DATABASE shop COLLATE utf8mb4_german2_ci
;;
CREATE PROCEDURE shop.collated(x VARCHAR(10)) SELECT x
;;
CREATE TRIGGER shop.collated BEFORE DELETE ON shop.plain FOR EACH ROW SET @x = OLD.b
;;
ALTER DATABASE shop COLLATE utf8mb4_bin
;;
SET SESSION collation_connection = 'latin1_german1_ci'
;;
SET SESSION sql_mode = 'ANSI,TRADITIONAL'
;;
CREATE TRIGGER shop.z_runs_first BEFORE INSERT ON shop.plain FOR EACH ROW SET NEW.a = NEW.a + 1
;;
CREATE DEFINER = `mod`@`%` TRIGGER shop.a_runs_third BEFORE INSERT ON shop.plain FOR EACH ROW BEGIN SET NEW."b" = 'x' || 'ü'; END
;;
CREATE TRIGGER shop.m_runs_second BEFORE INSERT ON shop.plain FOR EACH ROW FOLLOWS z_runs_first SET NEW.a = NEW.a * 2
;;
SET NAMES utf8mb4
;;
SET SESSION sql_mode = DEFAULT, time_zone = '-05:00'
;;
CREATE EVENT shop.`often ``` ON SCHEDULE EVERY 3 HOUR STARTS '2035-01-01 00:00:00' ENDS '2036-01-01 00:00:00' ON COMPLETION PRESERVE COMMENT 'c''' DO BEGIN SET @a = '{'; END
;;
SET SESSION time_zone = 'SYSTEM', character_set_client = 'latin1'
;;
CREATE DEFINER = `x y`@`10.%` EVENT shop.once ON SCHEDULE AT '2036-01-01 00:00:00' DISABLE DO SET @a = 1
;;
SET SESSION sql_mode = 'REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,NO_UNSIGNED_SUBTRACTION,NO_BACKSLASH_ESCAPES,HIGH_NOT_PRECEDENCE,PAD_CHAR_TO_FULL_LENGTH'
;;
CREATE EVENT shop."every ON COMPLETION NOT PRESERVE mode" ON SCHEDULE EVERY 1 DAY COMMENT 'a\b''"ON COMPLETION NOT PRESERVE' DO SET @a = NOT 1 BETWEEN 0 AND 2 || '\'
;;
CREATE PROCEDURE shop.every_mode() COMMENT 'a\b''"' NOT DETERMINISTIC BEGIN DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END; SELECT NOT 1 BETWEEN 0 AND 2 || '\'; END
;;
CREATE TABLE shop.every_mode_table (id INT PRIMARY KEY)
;;
CREATE TRIGGER shop.every_mode BEFORE DELETE ON shop.every_mode_table FOR EACH ROW SET @a = NOT 1 BETWEEN 0 AND 2 || '\'
;;
CREATE VIEW shop.every_mode AS SELECT NOT 1 BETWEEN 0 AND 2 || '\' AS "x"
;;
SET SESSION sql_mode = DEFAULT
;;
CREATE EVENT shop.replica ON SCHEDULE EVERY 1 DAY DISABLE ON SLAVE DO SET @a = 1
;;
CREATE EVENT shop.long_ago ON SCHEDULE AT '2001-01-01 00:00:00' ON COMPLETION PRESERVE DO SET @a = 1
;;
SET NAMES utf8mb4
;;
SET GLOBAL partial_revokes = ON
;;
CREATE ROLE reader, `wri``ter`@`h%`, 'adm''in'
;;
CREATE USER native@`%` IDENTIFIED WITH mysql_native_password BY 'native''secret' WITH MAX_QUERIES_PER_HOUR 9 MAX_USER_CONNECTIONS 3 PASSWORD EXPIRE INTERVAL 90 DAY PASSWORD HISTORY 3 COMMENT 'has DEFAULT ROLE `x`@`y` '
;;
CREATE USER sha2@`%` IDENTIFIED WITH caching_sha2_password AS 0x2441243030352401275C22607F0A0D09253B2C2041424344451A292E2F303132333435363738394142434445464748494A4B4C4D4E4F505152535455565758595A6162636465
;;
CREATE USER login@`%` IDENTIFIED WITH caching_sha2_password BY 'sha2 sec''ret' DEFAULT ROLE reader, `wri``ter`@`h%` REQUIRE NONE FAILED_LOGIN_ATTEMPTS 3 PASSWORD_LOCK_TIME 2 ATTRIBUTE '{"a": "it''s"}'
;;
CREATE USER old@`%` IDENTIFIED WITH sha256_password BY 'x' REQUIRE SUBJECT '/CN=x, (y) DEFAULT ROLE `a`@`b`' ACCOUNT LOCK
;;
CREATE USER ''@'10.1.%', nopass@localhost IDENTIFIED WITH mysql_native_password
;;
CREATE USER `o'd ``d`@`10.%` IDENTIFIED BY 'DEFAULT ROLE' REQUIRE X509 PASSWORD EXPIRE
;;
GRANT SELECT, INSERT ON shop.* TO native@`%` WITH GRANT OPTION
;;
GRANT SELECT (id, b), UPDATE (b), INSERT ON shop.plain TO native@`%`
;;
GRANT EXECUTE ON PROCEDURE shop.`odd ' proc` TO login@`%`
;;
GRANT EXECUTE, ALTER ROUTINE ON FUNCTION `o,d)d ``sch{ema`.g TO reader
;;
GRANT SELECT ON `sh\_p%`.* TO reader
;;
GRANT SELECT ON shop.a_first TO `wri``ter`@`h%`
;;
GRANT SELECT, CREATE USER, PROCESS ON *.* TO `o'd ``d`@`10.%`
;;
REVOKE SELECT ON mysql.* FROM `o'd ``d`@`10.%`
;;
GRANT CONNECTION_ADMIN, SYSTEM_VARIABLES_ADMIN ON *.* TO 'adm''in' WITH GRANT OPTION
;;
GRANT SYSTEM_USER ON *.* TO old@`%`
;;
GRANT PROXY ON native@`%` TO login@`%` WITH GRANT OPTION
;;
GRANT reader, `wri``ter`@`h%` TO login@`%`
;;
GRANT 'adm''in' TO native@`%` WITH ADMIN OPTION
;;
GRANT reader TO 'adm''in'
;;
SET DEFAULT ROLE reader, `wri``ter`@`h%` TO login@`%`
;;
SET PERSIST mandatory_roles = 'reader'
;;
CREATE TABLE shop.gone (a INT, b INT)
;;
GRANT SELECT ON shop.gone TO native@`%`
;;
DROP TABLE shop.gone
;;
ALTER DATABASE frozen READ ONLY = 1
