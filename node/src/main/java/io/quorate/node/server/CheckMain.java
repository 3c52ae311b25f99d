// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.node.server.ServerCheck.Finding;
import java.io.PrintStream;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import tools.jackson.databind.json.JsonMapper;

/**
 * {@code java -jar quorate-node.jar check HOST:PORT USER [json]}, password in {@value #PASSWORD}: checks a server
 * before a service is put beside it. The exit code is 0 when nothing keeps the service from starting, otherwise 1.
 */
public final class CheckMain {
    static final String PASSWORD = "QUORATE_MYSQL_PASSWORD";

    private CheckMain() {}

    public static int run(String[] arguments, PrintStream out, PrintStream err) {
        if (arguments.length < 3) {
            err.println("usage: check HOST:PORT USER [json]; the password in " + PASSWORD);
            return 2;
        }
        Properties properties = new Properties();
        properties.setProperty("user", arguments[2]);
        properties.setProperty("password", System.getenv().getOrDefault(PASSWORD, ""));
        properties.setProperty("allowPublicKeyRetrieval", "true");
        properties.setProperty("connectTimeout", "5000");
        try (Connection connection = DriverManager.getConnection("jdbc:mysql://" + arguments[1] + "/", properties)) {
            List<Finding> wrong = ServerCheck.findingsOfNew(connection);
            List<Finding> advice = SchemaAdvice.findings(connection);
            if (arguments.length > 3 && arguments[3].equals("json")) {
                out.println(json(wrong, advice));
            } else {
                print(out, "must be changed", wrong);
                print(out, "should be known", advice);
                if (wrong.isEmpty()) {
                    out.println(arguments[1] + " is fit for Quorate");
                }
            }
            return wrong.isEmpty() ? 0 : 1;
        } catch (SQLException e) {
            err.println("quorate: " + arguments[2] + "@" + arguments[1] + ": " + e.getMessage());
            return 1;
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
