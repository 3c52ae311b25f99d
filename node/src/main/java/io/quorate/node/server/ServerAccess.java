// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import com.zaxxer.hikari.HikariDataSource;
import io.quorate.applier.ApplierDataSource;
import io.quorate.applier.PositionTable;
import io.quorate.applier.PositionTable.Position;
import io.quorate.applier.ServerDataSource;
import io.quorate.applier.StaleSessions;
import io.quorate.core.ErrorCode;
import io.quorate.core.Gtid;
import io.quorate.core.GtidSet;
import io.quorate.core.QuorateException;
import io.quorate.core.ServerPassword;
import io.quorate.core.ServerTls;
import io.quorate.core.SessionSettings;
import io.quorate.core.TableName;
import io.quorate.node.config.NodeProperties;
import io.quorate.sst.stream.RowLoader;
import io.quorate.transport.AdmissionPlan.Holds;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The node's connections to its MySQL server, and the few statements that the node itself needs. */
public final class ServerAccess implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(ServerAccess.class);

    static final String STARTED =
            "SELECT UNIX_TIMESTAMP() - CAST(VARIABLE_VALUE AS SIGNED) FROM performance_schema.global_status"
                    + " WHERE VARIABLE_NAME = 'Uptime'";

    private final String account;
    private final String user;
    private final String passwordWayOut;
    private final ServerPassword password;
    private final ServerTls tls;
    private final String address;
    private final HikariDataSource pool = new HikariDataSource();
    /** Of whatever account. */
    private final DataSource anybodys;

    private final DataSource alone;
    private final DataSource loading;
    private final DataSource workers;
    private final ClientWrites clientWrites;
    /** When the mysqld was started that has been drained. */
    private volatile long drained = -1;

    /** @param tls how connections to the server are encrypted */
    public ServerAccess(NodeProperties properties, ServerTls tls) {
        NodeProperties.MySql mysql = properties.mysql();
        this.clientWrites = new ClientWrites(
                properties.commitMode() == NodeProperties.CommitMode.AFTER_SYNC
                        ? new SemiSyncSource(properties.commitWithoutService() == NodeProperties.WithoutService.WAIT)
                        : null,
                properties.commitTimeout());
        this.account = mysql.user() + "@" + mysql.host() + ":" + mysql.port();
        this.user = mysql.user();
        this.passwordWayOut = mysql.passwordFile().isEmpty()
                ? "quorate.mysql.password says, and it is read when the service starts"
                : mysql.passwordFile() + " has, and the file is read again at each attempt";
        this.password = new ServerPassword(mysql::secret);
        this.tls = tls;
        StringBuilder url =
                new StringBuilder("jdbc:mysql://" + mysql.host() + ":" + mysql.port() + "/?connectTimeout=3000");
        tls.driverProperties().forEach((name, value) -> url.append('&')
                .append(name)
                .append('=')
                .append(URLEncoder.encode(value, StandardCharsets.UTF_8)));
        this.address = url.toString();
        this.anybodys = source(url, "", SessionSettings.forAnyAccount());
        this.alone = source(url, "", SessionSettings.forService());
        this.loading = source(
                url,
                "&" + RowLoader.CONNECTION_PARAMETER + "&connectionAttributes=" + StaleSessions.ATTRIBUTE + ":"
                        + StaleSessions.ROLE,
                SessionSettings.forService());
        this.workers = ApplierDataSource.of(url.toString(), mysql.user(), password);
        pool.setPoolName("quorate-server");
        // It has to get as far as being asked what its account lacks.
        pool.setDataSource(source(url, "&socketTimeout=20000", SessionSettings.forAnyAccount()));
        pool.setMaximumPoolSize(2);
        pool.setMinimumIdle(0);
        // What is open works also while nobody can connect (Committing.isAnyOfAccounts).
        pool.setMaxLifetime(0);
        pool.setConnectionTimeout(4000);
        pool.setInitializationFailTimeout(-1);
    }

    private DataSource source(CharSequence url, String more, String sessionSettings) {
        try {
            return new ServerDataSource(url + more, user, password, sessionSettings);
        } catch (SQLException e) {
            // The parameters may have passwords.
            throw new QuorateException(ErrorCode.CONFIGURATION, "no connections to " + account + " can be made", e);
        }
    }

    /** The password of the service's account. */
    ServerPassword password() {
        return password;
    }

    /** How connections to the server are encrypted. */
    ServerTls tls() {
        return tls;
    }

    public static String version(Connection connection) throws SQLException {
        return ask(connection, "SELECT @@version");
    }

    public Connection connect() throws SQLException {
        return pool.getConnection();
    }

    /** Refuses a server whose settings or grants are wrong, with everything that is. */
    public static void requireSettings(Connection connection) throws SQLException {
        ServerCheck.require(connection);
    }

    /**
     * Opens a connection outside the pool, which may be used as long as necessary. Fails at once where nobody listens.
     */
    public Connection connectAlone() throws SQLException {
        return alone.getConnection();
    }

    /** As above, with an attribute that the server shows. */
    Connection connectWith(String attribute, String value) throws SQLException {
        return source(
                        address,
                        "&socketTimeout=20000&connectionAttributes=" + attribute + ":" + value,
                        SessionSettings.forService())
                .getConnection();
    }

    /** A connection of another account, which need not be one of the service's. */
    public Connection connectAs(String name, String secret, Duration limit) throws SQLException {
        return limited(anybodys.getConnection(name, secret), limit);
    }

    /** As above, but stops waiting for an answer of the server after {@code limit}. */
    public Connection connectAlone(Duration limit) throws SQLException {
        // Also while it connects: a statement of accounts that waits in its commit keeps everybody from that.
        return limited(
                source(address, "&socketTimeout=" + limit.toMillis(), SessionSettings.forService())
                        .getConnection(),
                limit);
    }

    private static Connection limited(Connection connection, Duration limit) throws SQLException {
        try {
            connection.setNetworkTimeout(Runnable::run, (int) limit.toMillis());
            return connection;
        } catch (SQLException | RuntimeException e) {
            connection.close();
            throw e;
        }
    }

    /** Whether nobody takes connections there: mysqld is being stopped, or is gone. */
    boolean refusesConnections() {
        try {
            connectAlone().close();
            return false;
        } catch (SQLException e) {
            return e.getErrorCode() == 0; // The server's own refusals have a number.
        }
    }

    /**
     * Opens a connection outside the pool for {@link RowLoader}. If this service doesn't end its session, the
     * next one does.
     */
    public Connection connectToLoad() throws SQLException {
        return loading.getConnection();
    }

    /** Connections for the applier's workers, which keep them. */
    public DataSource workers() {
        return workers;
    }

    /** Opens the server for clients' writes or closes it, {@link ClientWrites}. */
    public void readOnly(Connection connection, boolean on) throws SQLException {
        if (on) {
            clientWrites.close(connection, false);
        } else {
            clientWrites.open(connection);
        }
    }

    /** Closes it while a capture goes on acknowledging what is committed all the same. */
    void closeCaptured(Connection connection) throws SQLException {
        clientWrites.close(connection, true);
    }

    /** From now on commits wait for their verdict, in mode {@code after-sync}. */
    void holdCommits(Connection connection) throws SQLException {
        clientWrites.hold(connection);
    }

    /** As above, at each look; says so if somebody has changed that. */
    void keepHolding(Connection connection) throws SQLException {
        clientWrites.keepHolding(connection);
    }

    /**
     * Lets commits through that wait for a verdict which nobody is there to give, and closes the server ({@link
     * ClientWrites}). Only then does its position say all that it holds: what an applier had committed may be among
     * those that wait.
     */
    void settleCommits(Connection connection) throws SQLException {
        clientWrites.settle(connection);
    }

    /** Closes the server for clients' writes; false when their running statements don't end within {@code limit}. */
    public static boolean closeWithin(Connection connection, Duration limit) throws SQLException {
        return ClientWrites.closeWithin(connection, limit);
    }

    /** The server's part of commit mode {@code after-sync}; null in mode {@code async}. */
    SemiSyncSource semiSync() {
        return clientWrites.semiSync();
    }

    /**
     * Has mysqld start read-only from now on, as well as be so now: nobody may write to a server that has just been
     * started with another server's data before this service has closed it. Somebody's own setting is left alone.
     */
    public static void closeAtStart(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            if (persisted(connection).isEmpty()) {
                statement.execute("SET PERSIST read_only = ON");
            }
        }
    }

    /** Takes {@link #closeAtStart} back. */
    public static void closeAtStartNoMore(Connection connection) throws SQLException {
        if (persisted(connection).equals(user(connection))) {
            try (Statement statement = connection.createStatement()) {
                statement.execute("RESET PERSIST IF EXISTS read_only");
            }
        }
    }

    /** The name of the user who has persisted {@code read_only}; empty when nobody has. */
    private static String persisted(Connection connection) throws SQLException {
        return ask(connection, """
                SELECT COALESCE(MAX(COALESCE(i.SET_USER, '?')), '') FROM performance_schema.persisted_variables p
                JOIN performance_schema.variables_info i USING (VARIABLE_NAME) WHERE p.VARIABLE_NAME = 'read_only'""");
    }

    /**
     * The account that has switched a global variable on; empty where that is this service, or whoever started mysqld;
     * null where it is off.
     */
    static @Nullable String switchedOnBy(Connection connection, String variable) throws SQLException {
        return ask(
                connection,
                "SELECT IF(NOT @@GLOBAL." + variable + ", NULL, (SELECT COALESCE(MAX(CONCAT(SET_USER, '@', SET_HOST)),"
                        + " '') FROM performance_schema.variables_info WHERE VARIABLE_NAME = '" + variable
                        + "' AND VARIABLE_SOURCE = 'DYNAMIC' AND SET_USER <> SUBSTRING_INDEX(USER(), '@', 1)))");
    }

    public static boolean isReadOnly(Connection connection) throws SQLException {
        return ask(connection, "SELECT @@GLOBAL.read_only").equals("1");
    }

    public static GtidSet executed(Connection connection) throws SQLException {
        return GtidSet.parse(ask(connection, "SELECT @@GLOBAL.gtid_executed"));
    }

    /** GTIDs that the server has executed and that are not in its binlog. */
    public static GtidSet purged(Connection connection) throws SQLException {
        return GtidSet.parse(ask(connection, "SELECT @@GLOBAL.gtid_purged"));
    }

    /** Executes an empty transaction with that GTID. */
    static void executeEmpty(Connection connection, Gtid gtid) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET SESSION gtid_next = '" + gtid + "'");
            try {
                statement.execute("BEGIN");
                statement.execute("COMMIT");
            } finally {
                statement.execute("SET SESSION gtid_next = AUTOMATIC");
            }
        }
    }

    /** Reserves these GTIDs, none of which the server has executed, so that it never gives them out. */
    public static void reserve(Connection connection, GtidSet gtids) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET GLOBAL gtid_purged = '+" + gtids + "'");
        }
    }

    /**
     * When mysqld was started, in seconds by its clock. The result is the same as long as mysqld runs, because both
     * values in the query are of one moment.
     */
    public static long started(Connection connection) throws SQLException {
        return Long.parseLong(ask(connection, STARTED));
    }

    public static boolean forcesBinlog(Connection connection) throws SQLException {
        return ask(connection, "SELECT @@GLOBAL.sync_binlog").equals("1");
    }

    public static boolean forcesRedoLog(Connection connection) throws SQLException {
        return ask(connection, "SELECT @@GLOBAL.innodb_flush_log_at_trx_commit").equals("1");
    }

    public static UUID uuid(Connection connection) throws SQLException {
        return UUID.fromString(ask(connection, "SELECT @@server_uuid"));
    }

    /**
     * The size of the tables' files. The statistics of the tables would be out of date for a while after much was
     * written.
     */
    public static long tableBytes(Connection connection) throws SQLException {
        return Long.parseLong(ask(
                connection,
                "SELECT COALESCE(SUM(FILE_SIZE), 0) FROM information_schema.INNODB_TABLESPACES WHERE"
                        + " SPACE_TYPE = 'Single'"));
    }

    /** The size of some tables, by the server's statistics. Those that aren't there count nothing. */
    public static long tableBytes(Connection connection, Collection<TableName> tables) throws SQLException {
        long bytes = 0;
        try (PreparedStatement statement = connection.prepareStatement(
                "SELECT COALESCE(SUM(DATA_LENGTH + INDEX_LENGTH), 0) FROM information_schema.TABLES WHERE"
                        + " TABLE_SCHEMA = ? AND TABLE_NAME = ?")) {
            for (TableName table : tables) {
                statement.setString(1, table.schema());
                statement.setString(2, table.table());
                try (ResultSet row = statement.executeQuery()) {
                    row.next();
                    bytes += row.getLong(1);
                }
            }
        }
        return bytes;
    }

    public static boolean hasSchema(Connection connection, String schema) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("SELECT 1 FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ?")) {
            statement.setString(1, schema);
            try (ResultSet row = statement.executeQuery()) {
                return row.next();
            }
        }
    }

    /** The server's process; empty where its PID file can't be read or names no process of this host. */
    public static Optional<ProcessHandle> process(Connection connection) throws SQLException {
        try {
            Path file = Path.of(ask(connection, "SELECT @@datadir")).resolve(ask(connection, "SELECT @@pid_file"));
            return ProcessHandle.of(Long.parseLong(Files.readString(file).trim()));
        } catch (IOException | NumberFormatException e) {
            log.debug("mysqld's process is not known: {}", e.toString());
            return Optional.empty();
        }
    }

    /** The seqno up to which the server holds everything; 0 when the server never took part. */
    public static long applied(Connection connection) throws SQLException {
        return position(connection).seqno();
    }

    /** As above, with the position in the order's log. */
    public static Position position(Connection connection) throws SQLException {
        boolean there = !ask(
                        connection,
                        "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'quorate' AND"
                                + " table_name = 'position'")
                .equals("0");
        return there ? PositionTable.read(connection) : Position.NONE;
    }

    /** What somebody has made on the server, besides accounts. */
    static Holds holds(Connection connection) throws SQLException {
        String others = SchemaAdvice.OURS;
        String made = ask(
                connection,
                "SELECT EXISTS (SELECT * FROM information_schema.tables WHERE table_schema" + others + ")"
                        + " OR EXISTS (SELECT * FROM information_schema.routines WHERE routine_schema" + others + ")"
                        + " OR EXISTS (SELECT * FROM information_schema.events WHERE event_schema" + others + ")");
        if (made.equals("1")) {
            return Holds.TABLES;
        }
        String schemas = ask(
                connection,
                "SELECT EXISTS (SELECT * FROM information_schema.schemata WHERE schema_name" + others + ")");
        return schemas.equals("1") ? Holds.SCHEMAS : Holds.NOTHING;
    }

    /** The name with which a connection has logged in. */
    static String user(Connection connection) throws SQLException {
        return ask(connection, "SELECT SUBSTRING_INDEX(USER(), '@', 1)");
    }

    /** Sets a global variable until mysqld ends, to a value as SQL has it. */
    public static void set(Connection connection, String variable, String value) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET GLOBAL " + variable + " = " + value);
        }
    }

    /** Switches a global variable on until {@link #turnOffAgain}. Where it is on, it stays whoever's it is. */
    public static void turnOn(Connection connection, String variable) throws SQLException {
        if (ask(connection, "SELECT @@GLOBAL." + variable).equals("0")) {
            set(connection, variable, "ON");
        }
    }

    /** Switches a global variable off if it is this account that has switched it on. */
    public static void turnOffAgain(Connection connection, String variable) throws SQLException {
        if (isOurs(connection, variable)) {
            set(connection, variable, "OFF");
        }
    }

    /** Whether it is this account that has set a global variable last. */
    private static boolean isOurs(Connection connection, String variable) throws SQLException {
        return ask(
                        connection,
                        "SELECT COUNT(*) FROM performance_schema.variables_info WHERE VARIABLE_NAME = '" + variable
                                + "' AND VARIABLE_SOURCE = 'DYNAMIC' AND SET_USER = SUBSTRING_INDEX(USER(), '@', 1)")
                .equals("1");
    }

    /** Whether another account than this one has set a global variable since mysqld was started. */
    static boolean isSetBySomebody(Connection connection, String variable) throws SQLException {
        return ask(
                        connection,
                        "SELECT COUNT(*) FROM performance_schema.variables_info WHERE VARIABLE_NAME = '" + variable
                                + "' AND VARIABLE_SOURCE = 'DYNAMIC'"
                                + " AND SET_USER <> SUBSTRING_INDEX(USER(), '@', 1)")
                .equals("1");
    }

    /** Notes that the mysqld of these connections is drained, or no more. */
    void drained(Connection connection, boolean on) throws SQLException {
        drained = on ? started(connection) : -1;
    }

    /** Whether the mysqld of a connection is drained. It is no more when it is started again. */
    public boolean isDrained(Connection connection) throws SQLException {
        return drained == started(connection);
    }

    /**
     * Keeps a drained server offline. One that a service with this account has put offline, and that isn't getting a
     * copy, counts as drained: that service was started again since it was drained, or killed while it put clients out.
     */
    void keepDrained(Connection connection) throws SQLException {
        boolean offline = ask(connection, "SELECT @@GLOBAL.offline_mode").equals("1");
        if (isDrained(connection)) {
            if (!offline) {
                set(connection, "offline_mode", "ON");
                log.warn("somebody has set offline_mode=OFF on this server, which is drained: it is ON again; quorate"
                        + " drain --end lets clients connect");
            }
        } else if (offline && isOurs(connection, "offline_mode")) {
            if (clientWrites.isPuttingOut()) {
                Drain.end(connection); // The connection broke before that.
                clientWrites.puttingOut(false);
            } else {
                drained(connection, true);
                log.warn("the server was drained before this service was started, and stays so; quorate drain --end"
                        + " lets clients connect");
            }
        }
    }

    /** The same for a mysqld of which it is known when it was started. */
    boolean isDrained(long started) {
        return drained == started;
    }

    /** The first column of the one row that answers a query. */
    public static String ask(Connection connection, String query) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            row.next();
            return row.getString(1);
        }
    }

    /** The account that a connection has: name, {@code @}, host. */
    public static String account(Connection connection) throws SQLException {
        return ask(connection, "SELECT CURRENT_USER()");
    }

    /** All that a connection's account has been granted, as the server says it. */
    static String grants(Connection connection) throws SQLException {
        StringBuilder grants = new StringBuilder();
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SHOW GRANTS")) {
            while (rows.next()) {
                grants.append(rows.getString(1)).append('\n');
            }
        }
        return grants.toString();
    }

    /** The privileges on everything that a connection's account has, without those of roles. */
    public static Set<String> privileges(Connection connection) throws SQLException {
        return privileges(connection, "");
    }

    /** Those of them that the account may pass on. */
    static Set<String> grantablePrivileges(Connection connection) throws SQLException {
        return privileges(connection, " AND IS_GRANTABLE = 'YES'");
    }

    private static Set<String> privileges(Connection connection, String which) throws SQLException {
        String account = account(connection);
        int at = account.lastIndexOf('@');
        Set<String> privileges = new TreeSet<>();
        try (PreparedStatement statement = connection.prepareStatement(
                "SELECT PRIVILEGE_TYPE FROM information_schema.USER_PRIVILEGES WHERE GRANTEE = ?" + which)) {
            statement.setString(1, "'" + account.substring(0, at) + "'@'" + account.substring(at + 1) + "'");
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    privileges.add(row.getString(1));
                }
            }
        }
        return privileges;
    }

    /** The account of a connection's client; null when the connection doesn't exist any more. */
    public String accountOf(long session) {
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "SELECT CONCAT(PROCESSLIST_USER, '@', PROCESSLIST_HOST) FROM performance_schema.threads"
                                + " WHERE PROCESSLIST_ID = " + session)) {
            return row.next() ? row.getString(1) : null;
        } catch (SQLException e) {
            return null;
        }
    }

    public QuorateException unreachable(SQLException e) {
        QuorateException named = unreachable(account, e);
        return e.getErrorCode() != ServerPassword.ACCESS_DENIED
                ? named
                : new QuorateException(
                        named.code(), named.detail() + "; the password is what " + passwordWayOut, named.getCause());
    }

    /** @param account with which the server was called */
    static QuorateException unreachable(String account, SQLException e) {
        Throwable root = e;
        String wayOut = "";
        while (root.getCause() != null) {
            root = root.getCause();
            if (wayOut.isEmpty() && isRefusedCertificate(root)) {
                wayOut = ". The password was not sent. The server's certificate must be signed by an authority that"
                        + " quorate.mysql.tls.bundle (--ca of quorate check) names, for the name in quorate.mysql.host"
                        + " (docs/security.md#connections-to-the-server)";
            }
        }
        return new QuorateException(ErrorCode.SERVER_UNREACHABLE, account + ": " + root.getMessage() + wayOut, e);
    }

    private static boolean isRefusedCertificate(Throwable cause) {
        return cause instanceof CertificateException
                || cause instanceof SSLHandshakeException
                || cause instanceof SSLPeerUnverifiedException;
    }

    @Override
    public void close() {
        pool.close();
    }
}
