// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.IFactory;

/** The commands of this module, for a command line that has others too. */
public final class OperatorCommands {
    /** In the order in which help lists them. */
    private static final List<Class<?>> ALL = List.of(
            StatusCommand.class,
            TopCommand.class,
            DoctorCommand.class,
            ConflictsCommand.class,
            TransferCommand.class,
            AuditCommand.class,
            HealCommand.class,
            MembersCommand.class,
            MembersCommand.Admit.class,
            MembersCommand.Join.class,
            MembersCommand.Leave.class,
            MembersCommand.Lead.class,
            MembersCommand.Desync.class,
            MembersCommand.Resync.class,
            DdlCommand.class,
            OutcomeCommand.class,
            DrainCommand.class,
            RecoverCommand.class,
            CertsCommand.class,
            CheckCommand.class,
            LogCommand.class,
            CompletionCommand.class);

    private OperatorCommands() {}

    /**
     * Makes a command line with these commands after those that the command itself declares.
     *
     * @param command annotated with picocli's {@code Command}
     * @param nodes asked when the user names no node
     */
    public static CommandLine added(Object command, LocalNodes nodes) {
        return added(command, nodes, System.getenv());
    }

    /** @param environment where the token may be */
    static CommandLine added(Object command, LocalNodes nodes, Map<String, String> environment) {
        CommandLine line = new CommandLine(command, factory(nodes, environment));
        ALL.forEach(line::addSubcommand);
        return line;
    }

    private static IFactory factory(LocalNodes nodes, Map<String, String> environment) {
        IFactory others = CommandLine.defaultFactory();
        return new IFactory() {
            @Override
            public <K> K create(Class<K> type) throws Exception {
                return type == NodeAddress.class ? type.cast(new NodeAddress(nodes, environment)) : others.create(type);
            }
        };
    }
}
