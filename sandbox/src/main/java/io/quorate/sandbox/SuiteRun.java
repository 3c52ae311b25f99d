// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * Runs scripts of MySQL's test suite on the first node of a cluster, one after the other, and looks after each of them
 * whether all nodes are SYNCED and hold the same. A cluster that has lost a node, or differs, is replaced by a new one.
 */
final class SuiteRun {
    private static final Duration SYNCED_LIMIT = Duration.ofMinutes(10);
    private static final long LEVEL_SECONDS = 300;

    /** All rights of an application that administers itself; none that replicates, or sets global variables. */
    private static List<String> account(MySqlDialect dialect) {
        String rights = "SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX, REFERENCES,"
                + " CREATE TEMPORARY TABLES, LOCK TABLES, CREATE VIEW, SHOW VIEW, CREATE ROUTINE, ALTER ROUTINE,"
                + " EXECUTE, EVENT, TRIGGER, PROCESS, FILE, RELOAD, SHOW DATABASES, CREATE USER, CREATE ROLE,"
                + " DROP ROLE, CREATE TABLESPACE, REPLICATION CLIENT, XA_RECOVER_ADMIN, SESSION_VARIABLES_ADMIN,"
                + " ROLE_ADMIN, SYSTEM_USER, " + dialect.anyDefiner();
        return List.of(
                "CREATE USER " + SuiteProgram.ACCOUNT + " IDENTIFIED BY '" + SuiteProgram.PASSWORD + "'",
                "GRANT " + rights + " ON *.* TO " + SuiteProgram.ACCOUNT + " WITH GRANT OPTION",
                "REVOKE INSERT, UPDATE, DELETE, CREATE, DROP, ALTER ON mysql.* FROM " + SuiteProgram.ACCOUNT);
    }

    /** As the suite's own driver has it: everybody may do anything in schema test but run routines of others. */
    private static final List<String> OPEN_SCHEMA = List.of(
            "SET SESSION sql_log_bin = 0",
            "INSERT INTO mysql.db SET host = '%', db = 'test', user = '', select_priv = 'Y', insert_priv = 'Y',"
                    + " update_priv = 'Y', delete_priv = 'Y', create_priv = 'Y', drop_priv = 'Y',"
                    + " references_priv = 'Y', index_priv = 'Y', alter_priv = 'Y', create_tmp_table_priv = 'Y',"
                    + " lock_tables_priv = 'Y', create_view_priv = 'Y', show_view_priv = 'Y',"
                    + " create_routine_priv = 'Y', event_priv = 'Y', trigger_priv = 'Y'",
            "FLUSH PRIVILEGES");

    private final Supplier<Sandbox> clusters;
    private final Path program;
    private final Path root;
    private final Duration limit;

    private Sandbox sandbox;
    private SuiteProgram mysqltest;
    private SuiteLeftovers leftovers;
    private SuiteWatch watch;

    /**
     * @param clusters makes a new cluster, which isn't started
     * @param program mysqltest
     * @param root the directory with {@code t/}
     * @param limit for each script
     */
    SuiteRun(Supplier<Sandbox> clusters, Path program, Path root, Duration limit) {
        this.clusters = clusters;
        this.program = program;
        this.root = root;
        this.limit = limit;
    }

    SuiteResult run(SuiteScript script) {
        if (sandbox == null) {
            begin();
        }
        long began = System.nanoTime();
        SuiteProgram.Outcome outcome = mysqltest.run(script, limit);
        double seconds = (System.nanoTime() - began) / 1e9;
        List<String> problems = problems();
        return new SuiteResult(
                script.name(), outcome.ending().toString().replace('_', ' '), outcome.detail(), seconds, problems);
    }

    private List<String> problems() {
        List<String> problems = new ArrayList<>();
        boolean usable = false;
        try {
            usable = look(problems);
        } catch (SandboxException e) {
            problems.add("LOST: " + watch.lost().orElse(e.getMessage()));
        }
        problems.addAll(watch.logged());
        if (!usable) {
            end();
        }
        return problems;
    }

    /** Whether the cluster can be used for the next script. */
    private boolean look(List<String> problems) {
        leftovers.quiet();
        Optional<String> lost = watch.awaitLevel(LEVEL_SECONDS);
        lost.ifPresent(problems::add);
        if (lost.isPresent()) {
            return false;
        }
        List<String> differences = watch.differences();
        differences.forEach(difference -> problems.add("DIFFERS " + difference));
        return leftovers.remove() && differences.isEmpty();
    }

    private void begin() {
        sandbox = clusters.get();
        sandbox.start(SYNCED_LIMIT);
        SandboxNode first = sandbox.nodes().get(0);
        List<String> account = account(first.mysql().dialect());
        List<String> statements = new ArrayList<>(account);
        statements.add("CREATE DATABASE test");
        statements.add("CREATE DATABASE " + SuiteLeftovers.MARKS);
        statements.add("CREATE TABLE " + SuiteLeftovers.MARKS + ".mark (id INT PRIMARY KEY, value BIGINT)");
        // Scripts say by it which warnings of the error log they expect.
        statements.add("CREATE DATABASE mtr");
        statements.add("CREATE PROCEDURE mtr.add_suppression(pattern TEXT) BEGIN END");
        first.mysql().execute(statements.toArray(new String[0]));
        sandbox.nodes().forEach(node -> node.mysql().execute(OPEN_SCHEMA.toArray(new String[0])));
        // Events run where scripts do, and when the leftovers stop them there, nobody takes over.
        sandbox.nodes().forEach(node -> node.mysql().execute("SET GLOBAL event_scheduler = " + (node == first)));
        mysqltest = new SuiteProgram(program, root, sandbox.directory(), first);
        mysqltest.prepare();
        leftovers = new SuiteLeftovers(first.mysql(), account);
        watch = new SuiteWatch(sandbox, first);
        watch.awaitLevel(LEVEL_SECONDS);
    }

    /** Ends the cluster; the next script gets a new one. */
    void end() {
        if (sandbox != null) {
            sandbox.killAll();
            sandbox = null;
        }
    }

    /** How many scripts ended in which way, and the names of those with problems. */
    static String summary(List<SuiteResult> results) {
        Map<String, Integer> endings = new TreeMap<>();
        StringBuilder text = new StringBuilder(1000);
        int found = 0;
        for (SuiteResult result : results) {
            boolean leftOut = result.ending().equals(SuiteResult.LEFT_OUT);
            endings.merge(leftOut ? result.ending() + ": " + result.detail() : result.ending(), 1, Integer::sum);
            if (!result.problems().isEmpty()) {
                found++;
                text.append(result.script()).append('\n');
                result.problems()
                        .forEach(problem -> text.append("  ").append(problem).append('\n'));
            }
        }
        text.append(String.format("%n%-60s %7s%n", "", "scripts"));
        endings.forEach((ending, count) -> text.append(String.format("%-60s %7d%n", ending, count)));
        text.append(String.format("%-60s %7d%n", "with a node lost, copied or different", found));
        return text.toString();
    }
}
