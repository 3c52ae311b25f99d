// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import io.quorate.cli.CertificateAuthority;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One real {@code mysqld} on loopback, or at a {@link Place}, with the settings Quorate asks for: GTIDs, row format,
 * full images and metadata, durable unless told otherwise. Its account is {@code root} without a password.
 *
 * <pre>{@code
 * try (MySqlServer server = MySqlServer.builder().start()) {
 *     server.execute("CREATE DATABASE shop");
 * }
 * }</pre>
 *
 * <p>The running process is recorded in its directory: an object that is made later for the same directory, even by
 * another program, is the same server. Not thread-safe, except for the methods that talk to the server.
 */
public final class MySqlServer implements AutoCloseable {
    private static final int SOCKET_PATH_MAX = 100;
    private static final Duration STOP_LIMIT = Duration.ofSeconds(60);

    /** Null until needed: finding one takes time, and a server can be stopped without it. */
    private final String series;

    private MySqlDistribution distribution;

    private final Path directory;
    private final boolean temporary;
    private final boolean detached;
    private final int port;
    private final Place place;
    private final int serverId;
    private final Duration startLimit;
    private final Map<String, String> options;
    private final Thread endWithUs = new Thread(this::kill9, "end-mysqld");

    private MySqlServer(Builder builder) {
        distribution = builder.distribution;
        series = builder.series;
        temporary = builder.directory == null;
        directory = temporary
                ? temporaryDirectory()
                : builder.directory.toAbsolutePath().normalize();
        detached = builder.detached;
        port = builder.port == 0 ? Ports.free() : builder.port;
        place = builder.place;
        serverId = builder.serverId;
        startLimit = builder.startLimit;
        options = new LinkedHashMap<>(defaults());
        options.putAll(builder.options);
    }

    public static Builder builder() {
        return new Builder();
    }

    private static Path temporaryDirectory() {
        try {
            return Files.createTempDirectory("quorate-mysql-");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Map<String, String> defaults() {
        Map<String, String> defaults = new LinkedHashMap<>();
        defaults.put("server-id", Integer.toString(serverId));
        defaults.put("bind-address", place.bindAddress());
        defaults.put("mysqlx", "OFF");
        defaults.put("gtid-mode", "ON");
        defaults.put("enforce-gtid-consistency", "ON");
        defaults.put("log-bin", "binlog");
        defaults.put("binlog-format", "ROW");
        defaults.put("binlog-row-image", "FULL");
        defaults.put("binlog-row-metadata", "FULL");
        defaults.put("sync-binlog", "1");
        defaults.put("innodb-flush-log-at-trx-commit", "1");
        defaults.put("innodb-buffer-pool-size", "128M");
        defaults.put("innodb-redo-log-capacity", "128M");
        // The size of performance_schema follows from these; with the server's own defaults it takes 200 MB more.
        defaults.put("table-open-cache", "1000");
        defaults.put("table-definition-cache", "400");
        defaults.put("log-error-verbosity", "2");
        // From 9.6 on cascades run outside InnoDB; 9.7.4 leaves rows behind where they are deep. Others don't know it.
        defaults.put("loose-innodb-native-foreign-keys", "ON");
        return defaults;
    }

    /** mysqld refuses to run as root unless it is told so. */
    static List<String> asUser() {
        return "root".equals(System.getProperty("user.name")) ? List.of("--user=root") : List.of();
    }

    /** Makes the data directory if there is none. {@link #start()} does so too. */
    public void initialize() {
        if (!Files.exists(dataDirectory())) {
            new DataDirectory(distribution()).create(dataDirectory(), options);
        }
        if (!Files.exists(optionFile())) {
            try {
                Files.writeString(
                        optionFile(), "[mysqld]\n# What is set here is read unless the command line sets it, too.\n");
            } catch (IOException e) {
                throw new UncheckedIOException("cannot write " + optionFile(), e);
            }
        }
    }

    private Path optionFile() {
        return directory.resolve("my.cnf");
    }

    /**
     * Starts the server, unless it runs, and returns when it accepts connections.
     *
     * @throws SandboxException when it doesn't; the message has the end of its error log
     */
    public void start() {
        if (isAlive()) {
            return;
        }
        initialize();
        if (!Ports.isFree(port)) {
            throw new SandboxException("port " + port + " is in use by another program; mysqld needs it");
        }
        forgetSocketOfTheDead();
        OwnedProcess process = OwnedProcess.start(
                command(), distribution().environment(), directory, directory.resolve("mysqld.out"), processFile());
        if (!detached) {
            Runtime.getRuntime().addShutdownHook(endWithUs);
        }
        awaitConnections(process);
    }

    /**
     * A killed process keeps its number until its parent has waited for it, and mysqld takes that number for a running
     * server.
     */
    private void forgetSocketOfTheDead() {
        try {
            Files.deleteIfExists(Path.of(socket() + ".lock"));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot delete the lock of " + socket(), e);
        }
    }

    private List<String> command() {
        List<String> command = new ArrayList<>(place.command());
        command.addAll(List.of(
                distribution().mysqld().toString(),
                // Not --no-defaults: with that mysqld forgets what SET PERSIST has set.
                "--defaults-file=" + optionFile(),
                "--datadir=" + dataDirectory(),
                "--port=" + port,
                "--socket=" + socket(),
                "--pid-file=" + directory.resolve("mysqld.pid"),
                "--log-error=" + errorLog()));
        command.addAll(asUser());
        options.forEach((name, value) -> command.add("--" + name + (value.isEmpty() ? "" : "=" + value)));
        return command;
    }

    /**
     * Writes a shell script that starts the server as this object would, after waiting for a process of it that is
     * ending: for starting it without this program.
     */
    void writeStartScript(Path script) {
        StringBuilder text = new StringBuilder("""
                #!/bin/sh
                # Starts this node's mysqld when it has ended, and records its process.
                cd "$(dirname "$0")" || exit 1
                started() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | awk '$1 != "Z" && $1 != "X" { print $20 }'; }
                read -r pid at <mysqld.process
                for _ in $(seq 300); do
                  [ "$(started "$pid")" = "$at" ] || break
                  sleep 0.2
                done
                """);
        text.append("rm -f ").append(quoted(socket() + ".lock")).append('\n');
        distribution().environment().forEach((name, value) -> text.append("export ")
                .append(name)
                .append('=')
                .append(quoted(value))
                .append('\n'));
        text.append("setsid");
        // Without the place's command, because whoever calls the script is at that place already.
        command().subList(place.command().size(), command().size()).forEach(word -> text.append(' ')
                .append(quoted(word)));
        text.append(" >>mysqld.out 2>&1 </dev/null &\necho \"$! $(started $!)\" >mysqld.process\n");
        try {
            Files.writeString(script, text.toString());
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write " + script, e);
        }
    }

    private static String quoted(String word) {
        return "'" + word.replace("'", "'\\''") + "'";
    }

    private void awaitConnections(OwnedProcess process) {
        long deadline = System.nanoTime() + startLimit.toNanos();
        String last = "";
        while (System.nanoTime() < deadline) {
            if (!process.isAlive()) {
                throw new SandboxException("mysqld ended while starting; " + logTail());
            }
            try {
                connect().close();
                return;
            } catch (SQLException e) {
                last = e.getMessage();
            }
            process.awaitEnd(Duration.ofMillis(50));
        }
        process.kill();
        throw new SandboxException("mysqld did not accept connections on port " + port + " within "
                + startLimit.toSeconds() + " s (" + last + "); " + logTail());
    }

    private String logTail() {
        Path log = Files.exists(errorLog()) ? errorLog() : directory.resolve("mysqld.out");
        try {
            List<String> lines = new String(Files.readAllBytes(log), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
            return "the end of " + log + ":\n"
                    + String.join("\n", lines.subList(Math.max(0, lines.size() - 15), lines.size()));
        } catch (IOException e) {
            return "there is no log in " + directory;
        }
    }

    /** Shuts the server down normally (SIGTERM), and by force when that takes longer than a minute. */
    public void stop() {
        process().ifPresent(process -> process.stop(STOP_LIMIT));
        forget();
    }

    /** SIGKILL, as a crash would do it. Returns when the process is gone. */
    public void kill9() {
        process().ifPresent(OwnedProcess::kill);
        if (Thread.currentThread() != endWithUs) {
            forget();
        }
    }

    private void forget() {
        try {
            Runtime.getRuntime().removeShutdownHook(endWithUs);
        } catch (IllegalStateException e) {
            // The JVM is ending already: the hook has run or will run, and finds nothing to end.
            return;
        }
    }

    /** Stops and starts again, with the same data. */
    public void restart() {
        stop();
        start();
    }

    /** Stops the server; deletes its directory unless it was named in the builder. */
    @Override
    public void close() {
        if (!temporary) {
            stop();
            return;
        }
        kill9();
        try {
            CacheDirectory.deleteTree(directory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Optional<OwnedProcess> process() {
        return OwnedProcess.recordedIn(processFile());
    }

    private Path processFile() {
        return directory.resolve("mysqld.process");
    }

    public boolean isAlive() {
        return process().isPresent();
    }

    /** The process id, or -1 when the server doesn't run. */
    public long pid() {
        return process().map(OwnedProcess::pid).orElse(-1L);
    }

    public int port() {
        return port;
    }

    public int serverId() {
        return serverId;
    }

    /** How statements are written for it. */
    public MySqlDialect dialect() {
        return new MySqlDialect(distribution().version());
    }

    public synchronized MySqlDistribution distribution() {
        if (distribution == null) {
            distribution = MySqlDistribution.find(series, System.err::println);
        }
        return distribution;
    }

    /** The directory of the data directory and the logs. */
    public Path directory() {
        return directory;
    }

    public Path dataDirectory() {
        return directory.resolve("data");
    }

    public Path errorLog() {
        return directory.resolve("mysqld.log");
    }

    /** The Unix socket: in the directory, or in /tmp if its path would be too long for the system. */
    public Path socket() {
        Path here = directory.resolve("mysqld.sock");
        return here.toString().length() <= SOCKET_PATH_MAX
                ? here
                : Path.of(System.getProperty("java.io.tmpdir"), "quorate-mysqld-" + port + ".sock");
    }

    /** The server's UUID, the origin of its GTIDs. */
    public String uuid() {
        return queryOne("SELECT @@server_uuid");
    }

    /** The address for JDBC, without account and schema. */
    public String jdbcUrl() {
        return jdbcUrl("");
    }

    /** The address for JDBC with a default schema ({@code ""}: none). */
    public String jdbcUrl(String schema) {
        return "jdbc:mysql://" + place.host() + ":" + port + "/" + schema
                + "?sslMode=DISABLED&allowPublicKeyRetrieval=true&connectTimeout=10000";
    }

    /**
     * From now on the server shows this certificate, and trusts those of clients that the same authority signed.
     *
     * @param issued a directory as {@link CertificateAuthority#issue} makes it
     */
    public void useCertificate(Path issued) {
        Path absolute = issued.toAbsolutePath();
        execute(
                "SET GLOBAL ssl_ca = '" + absolute.resolve(CertificateAuthority.AUTHORITY) + "'",
                "SET GLOBAL ssl_cert = '" + absolute.resolve(CertificateAuthority.CERTIFICATE) + "'",
                "SET GLOBAL ssl_key = '" + absolute.resolve(CertificateAuthority.KEY) + "'",
                "ALTER INSTANCE RELOAD TLS");
    }

    /** A new connection as root. */
    public Connection connect() throws SQLException {
        return connect("root", "", "");
    }

    /** A new connection; {@code schema} may be empty. */
    public Connection connect(String user, String password, String schema) throws SQLException {
        return DriverManager.getConnection(jdbcUrl(schema), user, password);
    }

    /** Runs statements as root, one after the other in one session, each committed by itself unless they say BEGIN. */
    public void execute(String... statements) {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        } catch (SQLException e) {
            throw new SandboxException("mysqld on port " + port + ": " + e.getMessage(), e);
        }
    }

    /** The rows of a query run as root, every value as a string or null. */
    public List<List<String>> query(String sql) {
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            List<List<String>> result = new ArrayList<>();
            int columns = rows.getMetaData().getColumnCount();
            while (rows.next()) {
                List<String> row = new ArrayList<>(columns);
                for (int i = 1; i <= columns; i++) {
                    row.add(rows.getString(i));
                }
                result.add(row);
            }
            return result;
        } catch (SQLException e) {
            throw new SandboxException("mysqld on port " + port + ": " + e.getMessage(), e);
        }
    }

    /** The first column of the first row of a query run as root, or null when there is no row. */
    public String queryOne(String sql) {
        List<List<String>> rows = query(sql);
        return rows.isEmpty() ? null : rows.get(0).get(0);
    }

    /** Like {@link #queryOne}, as a number. */
    public long queryLong(String sql) {
        return Long.parseLong(queryOne(sql));
    }

    @Override
    public String toString() {
        return "mysqld on port " + port + " in " + directory;
    }

    /** The settings of a server; everything has a default. */
    public static final class Builder {
        private MySqlDistribution distribution;
        private String series = MySqlSeries.ANY;
        private Path directory;
        private boolean detached;
        private int port;
        private Place place = Place.LOOPBACK;
        private int serverId = 1;
        private Duration startLimit = Duration.ofMinutes(2);
        private final Map<String, String> options = new LinkedHashMap<>();

        private Builder() {}

        /** The program to run; by default {@link MySqlDistribution#find()}. */
        public Builder distribution(MySqlDistribution value) {
            distribution = value;
            return this;
        }

        /** Of which series the program is, such as {@code 9.7}; by default of any. It is found when it is needed. */
        public Builder series(String value) {
            series = value;
            return this;
        }

        /** Where data and logs are; by default a temporary directory that {@link MySqlServer#close()} deletes. */
        public Builder directory(Path value) {
            directory = value;
            return this;
        }

        /** Whether the server goes on when this JVM ends; by default it is killed then. */
        public Builder detached(boolean value) {
            detached = value;
            return this;
        }

        /** The TCP port; by default any free one. */
        public Builder port(int value) {
            port = value;
            return this;
        }

        /** Where it runs; by default on loopback, and only there. */
        public Builder place(Place value) {
            place = value;
            return this;
        }

        /** {@code server_id}; by default 1. */
        public Builder serverId(int value) {
            serverId = value;
            return this;
        }

        /** How long a start may take; by default two minutes. */
        public Builder startLimit(Duration value) {
            startLimit = value;
            return this;
        }

        /** An option of mysqld with its value ({@code ""}: none). Dashes and underscores mean the same. */
        public Builder option(String name, String value) {
            String plain = name.replaceFirst("^--", "").replace('_', '-');
            options.put(plain, value);
            return this;
        }

        public Builder options(Map<String, String> values) {
            values.forEach(this::option);
            return this;
        }

        /**
         * Neither binlog nor redo log are flushed at commit: faster, but a crash may lose transactions. InnoDB has no
         * threads of their own for its log, which spin.
         */
        public Builder relaxed() {
            return option("sync-binlog", "0")
                    .option("innodb-flush-log-at-trx-commit", "2")
                    .option("innodb-log-writer-threads", "OFF");
        }

        public MySqlServer build() {
            return new MySqlServer(this);
        }

        /** Builds, initializes and starts. */
        public MySqlServer start() {
            MySqlServer server = build();
            boolean started = false;
            try {
                server.start();
                started = true;
                return server;
            } finally {
                if (!started && server.temporary) {
                    server.kill9();
                }
            }
        }
    }
}
