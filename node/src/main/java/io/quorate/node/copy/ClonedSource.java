// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.copy.CopyQuestion.CloneLogin;
import io.quorate.node.copy.CopyQuestion.CloneSource;
import io.quorate.node.question.Answers;
import io.quorate.node.server.ServerAccess;
import io.quorate.node.server.ServerLifeFile;
import io.quorate.sst.CloneAccount;
import io.quorate.sst.CloneCopy;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The donor's side of method {@code clone}: prepares this node's server for it, and says where the server is. The two
 * servers do the rest.
 */
final class ClonedSource {
    private static final Logger log = LoggerFactory.getLogger(ClonedSource.class);

    private static final String NOT_COPIED = """
            SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME, ' (', ENGINE, ')') FROM information_schema.TABLES
            WHERE TABLE_TYPE = 'BASE TABLE' AND ENGINE <> 'InnoDB'
              AND TABLE_SCHEMA NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema') LIMIT 10""";

    private final NodeProperties properties;
    private final ServerAccess access;
    private final BooleanSupplier gives;

    /** @param gives whether this node's server holds what the order says */
    ClonedSource(NodeProperties properties, ServerAccess access, BooleanSupplier gives) {
        this.properties = properties;
        this.access = access;
        this.gives = gives;
    }

    void register(Answers answers) {
        answers.on(CopyQuestion.CloneFrom.class, question -> ready());
        answers.from(CopyQuestion.CloneWith.class, this::account);
        answers.from(CopyQuestion.CloneOver.class, (joiner, question) -> forget(joiner));
    }

    private CloneLogin account(String joiner, CopyQuestion.CloneWith question) {
        boolean tls = question.tls() || properties.sst().tls() == NodeProperties.Sst.Encryption.REQUIRED;
        try (Connection connection = access.connect()) {
            CloneAccount made = CloneAccount.create(connection, joiner, tls);
            log.info("{} may copy this node's server: {}", joiner, made);
            return new CloneLogin(made.user(), made.password(), made.tls());
        } catch (SQLException e) {
            // The message of a statement that was refused can have a part of it, not so this one's.
            throw refused(
                    ErrorCode.COPY_NO_DONOR,
                    "can't make an account for the copy: MySQL says " + e.getErrorCode() + ", " + e.getSQLState());
        }
    }

    private CopyQuestion.CloneForgotten forget(String joiner) {
        try (Connection connection = access.connect()) {
            CloneAccount.drop(connection, joiner);
            return new CopyQuestion.CloneForgotten(joiner);
        } catch (SQLException e) {
            throw refused(ErrorCode.COPY_NO_DONOR, access.unreachable(e).getMessage());
        }
    }

    private CloneSource ready() throws IOException {
        if (!gives.getAsBoolean()) {
            throw refused(ErrorCode.COPY_NO_DONOR, "is not SYNCED");
        }
        try (Connection connection = access.connect();
                Statement statement = connection.createStatement()) {
            CloneCopy.prepareDonor(connection, "the server of " + properties.node());
            List<String> not = new ArrayList<>();
            try (ResultSet row = statement.executeQuery(NOT_COPIED)) {
                while (row.next()) {
                    not.add(row.getString(1));
                }
            }
            if (!not.isEmpty()) {
                throw refused(
                        ErrorCode.COPY_REFUSED,
                        "has tables that CLONE leaves empty: " + String.join(", ", not)
                                + "; ALTER TABLE ... ENGINE=InnoDB");
            }
            try (ResultSet row = statement.executeQuery("SELECT @@version, (SELECT SUM(FILE_SIZE)"
                    + " FROM information_schema.INNODB_TABLESPACES WHERE SPACE_TYPE <> 'Temporary')")) {
                row.next();
                return new CloneSource(
                        host(),
                        port(),
                        ServerAccess.uuid(connection),
                        row.getString(1),
                        ServerLifeFile.read(properties.dataDir())
                                .reservedOf(ServerAccess.purged(connection))
                                .toString(),
                        row.getLong(2));
            }
        } catch (SQLException e) {
            throw refused(ErrorCode.COPY_NO_DONOR, access.unreachable(e).getMessage());
        }
    }

    /** A server that this node reaches by loopback is on the node's own host, which is where others find it. */
    private String host() throws UnknownHostException {
        NodeProperties.MySql mysql = properties.mysql();
        String advertised = mysql.advertise();
        if (!advertised.isEmpty()) {
            int colon = advertised.lastIndexOf(':');
            return colon < 0 ? advertised : advertised.substring(0, colon);
        }
        return InetAddress.getByName(mysql.host()).isLoopbackAddress()
                ? properties.self().host()
                : mysql.host();
    }

    private int port() {
        String advertised = properties.mysql().advertise();
        int colon = advertised.lastIndexOf(':');
        return colon < 0 ? properties.mysql().port() : Integer.parseInt(advertised.substring(colon + 1));
    }

    private QuorateException refused(ErrorCode code, String why) {
        return new QuorateException(code, properties.node() + " " + why);
    }
}
