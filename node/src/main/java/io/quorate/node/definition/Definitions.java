// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.definition;

import io.quorate.capture.DefinitionText;
import io.quorate.capture.DefinitionWriter;
import io.quorate.certification.OrderedStream;
import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.core.TotalOrder;
import io.quorate.core.WriteSetLog;
import io.quorate.core.answer.DefinitionAnswer;
import io.quorate.node.server.ServerAccess;
import io.quorate.node.thread.FaultHandler;
import io.quorate.node.thread.OwnedThread;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Has definitions ordered before any server runs them, one at a time. Each is asked for with an account of the server
 * beside this node. The servers run it with the service's own account, so the account that asks needs all privileges
 * that the service's account has: nobody gets more here than without it.
 */
public final class Definitions implements AutoCloseable {
    private static final Duration SERVER_PATIENCE = Duration.ofSeconds(10);
    private static final DefinitionAnswer NONE =
            new DefinitionAnswer("", 0, "", "none was asked for", null, 0, List.of(), Map.of(), null);

    /** What this needs of the node. */
    public record Ports(
            String node,
            ServerAccess access,
            OrderedStream stream,
            WriteSetLog cache,
            TotalOrder order,
            Asking asking,
            BooleanSupplier synced) {}

    /**
     * What somebody asks for.
     *
     * @param schema the default schema, empty for none
     */
    public record Request(String statement, String schema, String user, String password) {}

    /** What is to be ordered, as the server beside this node reads it. */
    record Written(byte[] event, DefinitionText text, long micros) {}

    private final Ports ports;
    private final FaultHandler faults;
    /** Refuses everything; null where there is a server. */
    private final Supplier<QuorateException> refusal;

    private long number;
    private OwnedThread thread;
    private volatile DefinitionCourse course;

    public Definitions(Ports ports, FaultHandler faults) {
        this.ports = ports;
        this.faults = faults;
        this.refusal = null;
    }

    private Definitions(Supplier<QuorateException> refusal) {
        this.ports = null;
        this.faults = null;
        this.refusal = refusal;
    }

    /** Of a node that has no server to read definitions. */
    public static Definitions none(Supplier<QuorateException> refusal) {
        return new Definitions(refusal);
    }

    /**
     * Begins.
     *
     * @return the number by which {@link #answer} tells what became of it
     * @throws QuorateException when it can't be done, or another one isn't done yet
     */
    public synchronized long begin(Request request) {
        if (refusal != null) {
            throw refusal.get();
        }
        if (course != null && !course.answer().known()) {
            throw new QuorateException(
                    ErrorCode.DEFINITION_NOT_ORDERED,
                    ports.node() + " is not done with \"" + course.answer().statement() + "\"; wait for it");
        }
        if (!ports.synced().getAsBoolean()) {
            throw new QuorateException(
                    ErrorCode.DEFINITION_NOT_ORDERED, ports.node() + " isn't SYNCED; ask a node that is");
        }
        Written written = write(request);
        number++;
        DefinitionCourse next = new DefinitionCourse(ports, number, written);
        course = next;
        thread = OwnedThread.task("quorate-definition", next::run, faults).start();
        return number;
    }

    private Written write(Request request) {
        try (Connection client = ports.access().connectAs(request.user(), request.password(), SERVER_PATIENCE);
                Connection own = ports.access().connectAlone(SERVER_PATIENCE)) {
            String account = ServerAccess.account(client);
            requirePrivileges(account, client, own);
            DefinitionWriter writer = DefinitionWriter.of(own, request.schema());
            DefinitionText text = writer.read(request.statement());
            int at = account.lastIndexOf('@');
            byte[] event = writer.event(text, account.substring(0, at), account.substring(at + 1));
            return new Written(event, text, writer.micros());
        } catch (SQLException e) {
            throw new QuorateException(
                    ErrorCode.DEFINITION_NOT_ORDERED,
                    "the server of " + ports.node() + " says to " + request.user() + ": " + e.getMessage(),
                    e);
        }
    }

    private static void requirePrivileges(String account, Connection client, Connection own) throws SQLException {
        TreeSet<String> missing = new TreeSet<>(ServerAccess.privileges(own));
        missing.removeAll(ServerAccess.privileges(client));
        if (!missing.isEmpty()) {
            throw new QuorateException(
                    ErrorCode.DEFINITION_NOT_ORDERED,
                    "the servers run it with the service's privileges, of which " + account + " lacks "
                            + String.join(", ", missing) + " on *.*; ask with an account that has them");
        }
    }

    /** The latest. */
    public DefinitionAnswer answer() {
        DefinitionCourse latest = course;
        return latest == null ? NONE : latest.answer();
    }

    @Override
    public synchronized void close() {
        if (thread != null) {
            thread.expectEnd();
            thread.close();
        }
        if (ports == null) {
            return;
        }
        ports.asking().close();
    }
}
