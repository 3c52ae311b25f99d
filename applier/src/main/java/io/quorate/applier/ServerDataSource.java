// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import com.mysql.cj.jdbc.MysqlDataSource;
import io.quorate.core.ServerPassword;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * Connections of the service's account, whose password may change. All that the service makes with JDBC are of this
 * class, each with some of {@link io.quorate.core.SessionSettings}.
 */
public final class ServerDataSource extends MysqlDataSource {
    private static final long serialVersionUID = 1L;

    private final String account;
    private final transient ServerPassword secret;

    /**
     * @param jdbcUrl of Connector/J, without a schema
     * @param sessionSettings as the driver's property has them
     */
    public ServerDataSource(String jdbcUrl, String user, ServerPassword password, String sessionSettings)
            throws SQLException {
        setUrl(jdbcUrl);
        setUser(user);
        setSessionVariables(sessionSettings);
        this.account = user;
        this.secret = password;
    }

    @Override
    public Connection getConnection() throws SQLException {
        return secret.login(password -> getConnection(account, password), ServerDataSource::isDenied);
    }

    private static boolean isDenied(Exception e) {
        return e instanceof SQLException refused && refused.getErrorCode() == ServerPassword.ACCESS_DENIED;
    }
}
