// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import com.mysql.cj.jdbc.Driver;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Callable;
import java.util.logging.Level;
import java.util.logging.Logger;
import liquibase.GlobalConfiguration;
import liquibase.Scope;
import liquibase.command.CommandScope;
import liquibase.command.core.UpdateCommandStep;
import liquibase.command.core.helpers.DbUrlConnectionArgumentsCommandStep;
import liquibase.database.DatabaseFactory;
import liquibase.database.jvm.JdbcConnection;
import liquibase.resource.DirectoryResourceAccessor;
import liquibase.ui.LoggerUIService;

/** An application that migrates its schema by Liquibase when it boots. */
public record LiquibaseInstance(String url, Path directory, String log) implements Callable<Void> {
    private static final Logger LIQUIBASE = Logger.getLogger("liquibase");

    @Override
    public Void call() throws Exception {
        LIQUIBASE.setLevel(Level.WARNING);
        Properties account = new Properties();
        account.setProperty("user", "app");
        account.setProperty("password", "app");
        try (Connection connection = new Driver().connect(url, account)) {
            Scope.child(
                    Map.of(
                            Scope.Attr.resourceAccessor.name(), new DirectoryResourceAccessor(directory),
                            Scope.Attr.ui.name(), new LoggerUIService(),
                            GlobalConfiguration.CHANGELOGLOCK_POLL_RATE.getKey(), 1),
                    () -> new CommandScope(UpdateCommandStep.COMMAND_NAME)
                            .addArgumentValue(
                                    DbUrlConnectionArgumentsCommandStep.DATABASE_ARG,
                                    DatabaseFactory.getInstance()
                                            .findCorrectDatabaseImplementation(new JdbcConnection(connection)))
                            .addArgumentValue(UpdateCommandStep.CHANGELOG_FILE_ARG, log)
                            .execute());
        }
        return null;
    }
}
