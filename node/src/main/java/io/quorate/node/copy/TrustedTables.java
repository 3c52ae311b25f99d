// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import io.quorate.capture.DefinedTables;
import io.quorate.capture.DefinitionText;
import io.quorate.capture.DefinitionWriter;
import io.quorate.core.Certified;
import io.quorate.core.Difference;
import io.quorate.core.ErrorCode;
import io.quorate.core.Identifiers;
import io.quorate.core.OrderedFirst;
import io.quorate.core.QuorateException;
import io.quorate.core.TableName;
import io.quorate.core.WriteSet;
import io.quorate.core.binlog.TableMap;
import io.quorate.node.copy.DifferingTables.NotByTables;
import io.quorate.node.order.NextDefinition;
import io.quorate.node.server.ServerAccess;
import io.quorate.sst.stream.Catalog;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes the tables in which this server differs for right. That is the way out where the servers of all nodes differ at
 * one time, so that none can give the others what the order says; somebody has to choose.
 *
 * <p>The choice is ordered ({@link OrderedFirst#isTrust}). At its place every other server is known to differ in these
 * tables, also one that is away today, and gets a copy of them. Here they are as if they had just been copied: nothing
 * before that place concerns them any more, and the rest of the server is brought there by {@link CopiedTables}.
 */
final class TrustedTables {
    private static final Logger log = LoggerFactory.getLogger(TrustedTables.class);
    private static final int TRIES = 5;
    private static final int NAMED_MAX = 20;

    private final Copying owner;
    private final Copying.Ports ports;

    TrustedTables(Copying owner, Copying.Ports ports) {
        this.owner = owner;
        this.ports = ports;
    }

    /**
     * Finds the tables and orders the choice. The server is closed, and the order has all that it has committed.
     *
     * @return what is to be brought to the choice's place; null when it isn't ordered, so that this is to be repeated
     */
    CopyPlan choose(Connection connection) throws NotByTables, SQLException, IOException, InterruptedException {
        UUID server = ServerAccess.uuid(connection);
        Catalog here = Catalog.read(connection, ports.properties().sst().omitted());
        long position = ServerAccess.applied(connection);
        DefinedTables defined = DefinedTables.at(connection);
        Set<TableName> tables = find(defined, server, position, ports.stream().lastOrdered(), here);
        for (int i = 0; i < TRIES; i++) {
            Certified choice = order(connection, server, tables);
            if (choice == null) {
                return null;
            }
            Set<TableName> then = find(defined, server, position, choice.seqno(), here);
            if (then.equals(tables)) {
                tell(tables, position, choice.seqno(), server);
                return new CopyPlan(
                        UUID.randomUUID().toString(),
                        choice.seqno(),
                        choice.position(),
                        here.only(tables),
                        0,
                        choice.seqno(),
                        null,
                        tables,
                        Set.of(),
                        false);
            }
            // Other nodes have had definitions ordered meanwhile.
            tables = then;
        }
        throw new NotByTables("definitions are ordered faster than it is found what they concern");
    }

    private Set<TableName> find(DefinedTables defined, UUID server, long position, long upTo, Catalog here)
            throws NotByTables, IOException, InterruptedException {
        return DifferingTables.of(defined, ports.cache(), server)
                .find(owner.note().where(), position, upTo, here)
                .alone();
    }

    /** Null when it isn't ordered. */
    private Certified order(Connection connection, UUID server, Set<TableName> tables)
            throws SQLException, IOException, InterruptedException {
        DefinitionWriter writer = DefinitionWriter.of(connection, "");
        // Names the tables; nobody ever runs it.
        DefinitionText names = writer.read("RENAME TABLE "
                + tables.stream()
                        .map(TrustedTables::quoted)
                        .sorted()
                        .map(name -> name + " TO " + name)
                        .collect(Collectors.joining(", ")));
        NextDefinition next = new NextDefinition(ports.stream(), ports.cache(), ports.order());
        long nonce = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);
        long after = next.last();
        long seen = ports.stream().lastOrdered();
        WriteSet choice = OrderedFirst.definition(
                after,
                nonce,
                seen,
                writer.micros(),
                OrderedFirst.trust(names.keys(), server),
                writer.event(names, ports.properties().mysql().user(), "localhost"));
        if (!next.propose(choice, after)) {
            throw new QuorateException(
                    ErrorCode.COPY_TOO_EARLY, "no majority orders that this server's tables are taken for right");
        }
        return next.find(nonce, after, seen);
    }

    private static String quoted(TableName name) {
        return Identifiers.quoted(name.schema(), name.table());
    }

    /** Says what these tables don't have. */
    private void tell(Set<TableName> tables, long position, long at, UUID server)
            throws IOException, InterruptedException {
        List<Long> left = new ArrayList<>();
        eachRows(position, at, c -> {
            if (c.passed()
                    && !isOf(c, server)
                    && TableMap.tables(c.writeSet().payload()).stream().anyMatch(tables::contains)) {
                left.add(c.seqno());
            }
        });
        List<Long> named = left.stream().limit(NAMED_MAX).toList();
        log.warn(
                "from seqno {} on, this server's {} are right as they are, and the other nodes get copies of them. {}"
                        + " transactions of other nodes that are ordered after seqno {} and wrote to them are not in"
                        + " them{}{}",
                at,
                TableName.some(tables),
                left.size(),
                position,
                left.isEmpty() ? "" : ": seqnos " + named,
                left.size() > named.size() ? " and so on" : "");
    }

    /**
     * What is right too, because the order can't be applied under it.
     *
     * @param besides where the server has shown to differ besides; if nothing is known of that, it is what its own
     *     later transactions wrote, which can't be taken back
     */
    Difference more(Connection connection, @Nullable Difference besides)
            throws SQLException, IOException, InterruptedException {
        if (besides != null && !besides.mayBeAnywhere()) {
            return besides;
        }
        UUID server = ServerAccess.uuid(connection);
        Set<TableName> tables = new HashSet<>();
        eachRows(ServerAccess.applied(connection), ports.stream().lastOrdered(), c -> {
            if (isOf(c, server)) {
                tables.addAll(TableMap.tables(c.writeSet().payload()));
            }
        });
        return tables.isEmpty() ? owner.note().where() : Difference.in(tables);
    }

    /** The writesets of rows that are ordered after {@code position}, up to {@code upTo}. */
    private void eachRows(long position, long upTo, Consumer<Certified> rows) throws IOException, InterruptedException {
        ports.cache().each(position + 1, upTo, c -> {
            if (!c.writeSet().isDefinition()) {
                rows.accept(c);
            }
        });
    }

    private static boolean isOf(Certified c, UUID server) {
        return c.writeSet().gtid().source().equals(server);
    }
}
