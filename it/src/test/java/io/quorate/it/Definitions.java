// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;

/** Schema {@code d} of a cluster of three, with a table {@code still} that no definition of a test is about. */
record Definitions(Cluster cluster) {
    void begin(List<String> setUp) throws InterruptedException {
        cluster.awaitQuery(1, "SELECT @@read_only", "0");
        cluster.mysql(1).execute("DROP DATABASE IF EXISTS d", "CREATE DATABASE d");
        run(1, List.of("CREATE TABLE still (id INT PRIMARY KEY, a INT)", "INSERT INTO still VALUES (1, 1), (2, 2)"));
        run(1, setUp);
        cluster.assertConverged();
    }

    /** By InnoDB's number of a table nobody can have made it anew unnoticed. */
    List<Long> untouched() {
        return Stream.of(1, 2, 3)
                .map(n -> cluster.mysql(n)
                        .queryLong("SELECT TABLE_ID FROM information_schema.INNODB_TABLES WHERE NAME = 'd/still'"))
                .toList();
    }

    void run(int node, List<String> statements) {
        cluster.mysql(node)
                .execute(Stream.concat(Stream.of("USE d"), statements.stream()).toArray(String[]::new));
    }

    String definition(int node) {
        return cluster.mysql(node).query("SHOW CREATE TABLE d.t").get(0).get(1);
    }

    /** Asks again and again, until the answer is that it is done. */
    static void untilDone(Callable<String> request) throws Exception {
        String answer = "";
        for (long end = System.nanoTime() + Cluster.LIMIT.toNanos(); !answer.contains("\"done\":true"); ) {
            assertThat(System.nanoTime()).as(answer).isLessThan(end);
            answer = request.call();
        }
    }

    String rows(int node, String table) {
        return cluster.mysql(node)
                .query("SELECT IFNULL(GROUP_CONCAT(id, ':', a ORDER BY id), '') FROM d." + table)
                .get(0)
                .get(0);
    }
}
