// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.core.WriteSetLog;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Whatever ends one of the applier's threads ends the applier, and its listener hears of it. */
@Timeout(300)
class ApplierThreadsIT extends OriginAndServer {
    @BeforeEach
    void makeTable() {
        both("CREATE TABLE " + schema + ".t (a INT PRIMARY KEY)");
    }

    @Test
    void theReader() throws Exception {
        CompletableFuture<QuorateException> failure = new CompletableFuture<>();
        WriteSetLog unreadable = new MemoryLog() {
            @Override
            public Cursor read(long seqno) {
                throw new StackOverflowError("on purpose");
            }
        };
        ApplierListener listener = new ApplierListener() {
            @Override
            public void applied(long seqno, int transactions, long originCommittedMicros) {}

            @Override
            public void failed(QuorateException cause) {
                failure.complete(cause);
            }

            @Override
            public void databaseLost(SQLException cause) {}
        };
        try (Applier applier = new Applier(
                Replica.SETTINGS,
                replica.source(),
                unreadable,
                UUID.fromString(server.uuid()),
                Replica.INCARNATION,
                (seqno, undone, isHere) -> SharedOwnWrites.none(),
                Verdicts.NONE,
                DefinitionTexts.UNREAD,
                listener)) {
            applier.start();
            expect(failure.get(2, TimeUnit.MINUTES), "quorate-applier-reader");
        }
    }

    @Test
    void aWorker() throws Exception {
        replica.onApplied(() -> {
            throw new StackOverflowError("on purpose");
        });
        replica.start(Replica.SETTINGS);
        origin.execute("INSERT INTO " + schema + ".t VALUES (1)");
        replica.take(seqno -> seqno - 1);
        expect(replica.awaitFailure(), "quorate-applier-");
    }

    @Test
    void theWatchOfLocks() throws Exception {
        DataSource source = replica.source();
        replica.start(Replica.SETTINGS, proxy(DataSource.class, source));
        try (Connection client = server.connect();
                Statement statement = client.createStatement()) {
            client.setAutoCommit(false);
            statement.execute("INSERT INTO " + schema + ".t VALUES (1)");
            origin.execute("INSERT INTO " + schema + ".t VALUES (1)");
            replica.take(seqno -> seqno - 1); // It waits for the client, and the watch looks for who that is.
            expect(replica.awaitFailure(), "quorate-applier-locks");
            client.rollback();
        }
    }

    private static void expect(QuorateException failure, String thread) {
        assertThat(failure.code()).isEqualTo(ErrorCode.APPLY_FAILED);
        assertThat(failure)
                .hasMessageContaining(thread)
                .hasMessageContaining("ended because of java.lang.StackOverflowError: on purpose");
    }

    /** The same, but its connections fail the thread that watches locks. */
    private static <T> T proxy(Class<T> type, T of) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (self, method, arguments) -> call(of, method, arguments)));
    }

    private static Object call(Object of, Method method, Object[] arguments) throws Throwable {
        if (of instanceof Connection
                && method.getName().equals("createStatement")
                && Thread.currentThread().getName().equals("quorate-applier-locks")) {
            throw new StackOverflowError("on purpose");
        }
        try {
            Object result = method.invoke(of, arguments);
            return result instanceof Connection connection ? proxy(Connection.class, connection) : result;
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
