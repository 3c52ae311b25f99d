// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.core.FromOutside;
import io.quorate.core.SessionSettings;
import io.quorate.node.server.ServerCheck.Finding;
import java.io.IOException;
import java.io.PrintStream;
import java.security.GeneralSecurityException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import tools.jackson.databind.json.JsonMapper;

/**
 * {@code java -jar quorate-node.jar check HOST:PORT USER [json|text [TLS [CA-FILE]]]}, password in {@value #PASSWORD}:
 * checks a server before a service is put beside it. TLS is as for {@code quorate.mysql.tls.mode}. The exit code is 0
 * when nothing keeps the service from starting, otherwise 1.
 */
public final class CheckMain {
    static final String PASSWORD = "QUORATE_MYSQL_PASSWORD";

    private static final int ACCESS_DENIED = 1045;
    private static final String WAY_IN = "\n  " + PASSWORD + " in the environment has the account's password;"
            + " docs/accounts.md has the statements that make the account";

    private CheckMain() {}

    public static int run(String[] arguments, PrintStream out, PrintStream err) {
        if (arguments.length < 3) {
            err.println("usage: check HOST:PORT USER [json|text [TLS [CA-FILE]]]; the password in " + PASSWORD);
            return 2;
        }
        if (!FromOutside.isHostAndPort(arguments[1])) {
            err.println("quorate: " + arguments[1] + " is no address of a server: HOST:PORT");
            return 2;
        }
        boolean asJson = arguments.length > 3 && arguments[3].equals("json");
        String mode = arguments.length > 4 ? arguments[4] : "auto";
        try (CheckTls tls = CheckTls.of(
                arguments[1].substring(0, arguments[1].lastIndexOf(':')),
                mode,
                arguments.length > 5 ? arguments[5] : "")) {
            return check(arguments[1], arguments[2], tls, asJson, out);
        } catch (SQLException e) {
            err.println("quorate: "
                    + ServerAccess.unreachable(arguments[2] + "@" + arguments[1], e)
                            .detail()
                    + (e.getErrorCode() == ACCESS_DENIED ? WAY_IN : ""));
            return 1;
        } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
            err.println("quorate: " + e.getMessage());
            return 2;
        }
    }

    private static int check(String address, String user, CheckTls tls, boolean asJson, PrintStream out)
            throws SQLException {
        Properties properties = new Properties();
        properties.setProperty("user", user);
        properties.setProperty("password", System.getenv().getOrDefault(PASSWORD, ""));
        properties.setProperty("connectTimeout", "5000");
        properties.setProperty(SessionSettings.PROPERTY, SessionSettings.forAnyAccount());
        properties.putAll(tls.tls().driverProperties());
        try (Connection connection = DriverManager.getConnection("jdbc:mysql://" + address + "/", properties)) {
            List<Finding> wrong = ServerCheck.findingsOfNew(connection);
            List<Finding> advice = new ArrayList<>(AccountAdvice.findings(connection, true));
            advice.addAll(VersionAdvice.findings(connection));
            advice.addAll(ServerCheck.adviceOnNumbers(connection));
            advice.addAll(SchemaAdvice.findings(connection));
            advice.addAll(AccountAdvice.notGrantable(connection, user));
            if (asJson) {
                out.println(json(wrong, advice));
            } else {
                print(out, "must be changed", wrong);
                print(out, "should be known", advice);
                if (wrong.isEmpty()) {
                    out.println(address + " is fit for Quorate");
                }
            }
            return wrong.isEmpty() ? 0 : 1;
        }
    }

    private static void print(PrintStream out, String title, List<Finding> findings) {
        if (!findings.isEmpty()) {
            out.println(title + ":");
            findings.forEach(f -> out.println("  - " + f));
        }
    }

    private static String json(List<Finding> wrong, List<Finding> advice) {
        Map<String, List<Finding>> all = new LinkedHashMap<>();
        all.put("wrong", wrong);
        all.put("advice", advice);
        return JsonMapper.shared().writeValueAsString(all);
    }
}
