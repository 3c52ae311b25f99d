// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.util.List;

/** The demo's tables: secondary indexes, a second unique key, a compound key, a binary key, and various types. */
final class DemoSchema {
    static final String NAME = "demo";

    static final List<String> STATEMENTS =
            List.of("CREATE DATABASE " + NAME + " CHARACTER SET utf8mb4", """
            CREATE TABLE demo.account (
              id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
              owner VARCHAR(40) NOT NULL,
              email VARCHAR(80) NOT NULL,
              balance DECIMAL(12,2) NOT NULL,
              active BIT(1) NOT NULL DEFAULT b'1',
              changed TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6),
              UNIQUE KEY by_email (email),
              KEY by_owner (owner, changed))""", """
            CREATE TABLE demo.purchase (
              id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
              account BIGINT UNSIGNED NOT NULL,
              status ENUM('new', 'paid', 'sent', 'returned') NOT NULL,
              placed DATETIME(3) NOT NULL,
              note TEXT,
              labels SET('gift', 'express', 'fragile') NOT NULL DEFAULT '',
              KEY by_account (account),
              KEY by_status (status, placed))""", """
            CREATE TABLE demo.item (
              purchase BIGINT UNSIGNED NOT NULL,
              line SMALLINT NOT NULL,
              product CHAR(8) NOT NULL,
              pieces MEDIUMINT UNSIGNED NOT NULL,
              price DOUBLE NOT NULL,
              details JSON,
              PRIMARY KEY (purchase, line),
              KEY by_product (product))""", """
            CREATE TABLE demo.document (
              id BINARY(16) NOT NULL PRIMARY KEY,
              title VARCHAR(60) CHARACTER SET latin1,
              day DATE,
              duration TIME(2),
              score FLOAT,
              body BLOB NOT NULL,
              length INT UNSIGNED AS (LENGTH(body)) STORED,
              KEY by_day (day))""", """
            CREATE TABLE demo.heartbeat (
              node VARCHAR(8) NOT NULL PRIMARY KEY,
              beat BIGINT NOT NULL)""");

    private DemoSchema() {}
}
