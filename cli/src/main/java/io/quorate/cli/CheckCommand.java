// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * {@code quorate check}: what keeps a server out, and what one should know about its schemas. The service's own jar
 * does the check.
 */
@Command(
        name = "check",
        description = {
            "Looks at a MySQL server before a service is put beside it: settings, grants, schemas.",
            "Exit code 0 when nothing keeps the service from starting. The password is taken from"
                    + " QUORATE_MYSQL_PASSWORD."
        },
        mixinStandardHelpOptions = true)
final class CheckCommand implements Callable<Integer> {
    @Parameters(paramLabel = "HOST:PORT", description = "of the server")
    private String address;

    @Option(names = "--user", paramLabel = "U", defaultValue = "quorate", description = "default: ${DEFAULT-VALUE}")
    private String user;

    @Option(names = "-o", paramLabel = "text|json", description = "text by default")
    private Output output = Output.TEXT;

    @Option(
            names = "--tls",
            paramLabel = "MODE",
            defaultValue = "auto",
            description = "verify-identity, verify-ca, required or disabled; by default none on loopback, else"
                    + " verify-identity")
    private String tls;

    @Option(
            names = "--ca",
            paramLabel = "FILE",
            defaultValue = "",
            description = "certificates (PEM) of who may have signed the server's; by default those of the JVM")
    private String ca;

    @Override
    public Integer call() throws InterruptedException {
        return NodeJar.run(List.of("check", address, user, output == Output.JSON ? "json" : "text", tls, ca));
    }
}
