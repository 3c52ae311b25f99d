// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.audit;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.node.audit.AuditQuestion.End;
import io.quorate.node.audit.AuditQuestion.Next;
import io.quorate.node.audit.AuditQuestion.Rows;
import io.quorate.node.audit.AuditQuestion.Settle;
import io.quorate.node.audit.AuditQuestion.Settled;
import io.quorate.node.audit.AuditQuestion.Shown;
import io.quorate.node.audit.AuditQuestion.ShownRows;
import io.quorate.node.audit.AuditQuestion.SumOf;
import io.quorate.node.audit.AuditQuestion.TableName;
import io.quorate.node.audit.AuditQuestion.Tables;
import io.quorate.node.audit.AuditQuestion.Versions;
import io.quorate.node.member.MemberReport;
import io.quorate.node.question.Answers;
import io.quorate.node.question.Question;
import io.quorate.node.question.Questions;
import io.quorate.sst.audit.AuditedTable.Row;
import io.quorate.sst.audit.AuditedTable.Stretch;
import io.quorate.sst.audit.AuditedTable.Sum;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import tools.jackson.databind.json.JsonMapper;

/**
 * Nodes whose tables are maps, and which answer what an audit asks; n1 carries out the audit. Tables have one column
 * {@code v}, and stretches of two rows.
 */
final class AuditedCluster implements AutoCloseable {
    private static final int STRETCH_ROWS = 2;

    private final JsonMapper json = JsonMapper.builder().build();
    private final Map<String, Node> all = new LinkedHashMap<>();
    private final List<BiConsumer<String, Question<?>>> listeners = new CopyOnWriteArrayList<>();
    /** What was asked of the nodes, in the order in which it came. */
    final List<Asked> asked = new CopyOnWriteArrayList<>();

    final AuditedNodes nodes;

    record Asked(String node, Question<?> question) {}

    /** One of the nodes. */
    final class Node {
        final String name;
        final Map<String, NavigableMap<String, String>> tables = new TreeMap<>();
        final Map<String, String> definitions = new TreeMap<>();
        final Answers answers = new Answers(json, peer -> true);
        volatile boolean synced = true;
        volatile long settled;
        volatile String unreadable;
        /** Which questions the node refuses. */
        volatile Predicate<Question<?>> refuses = question -> false;

        Node(String name) {
            this.name = name;
            answers.on(Tables.class, q -> heard(q, () -> new Versions(definitions)));
            answers.on(Settle.class, q -> heard(q, () -> new Settled(settled)));
            answers.on(Next.class, q -> heard(q, () -> end(q)));
            answers.on(SumOf.class, q -> heard(q, () -> sum(q)));
            answers.on(Rows.class, q -> heard(q, () -> new Versions(rows(q.table(), q.stretch()))));
            answers.on(Shown.class, q -> heard(q, () -> shown(q)));
        }

        private synchronized <A> A heard(Question<A> question, Supplier<A> answer) {
            asked.add(new Asked(name, question));
            listeners.forEach(each -> each.accept(name, question));
            if (refuses.test(question)) {
                throw new QuorateException(ErrorCode.AUDIT_REFUSED, name + " can't");
            }
            return answer.get();
        }

        void table(String table, String definition, Map<String, String> rows) {
            definitions.put(table, definition);
            tables.put(table, new TreeMap<>(rows));
        }

        private NavigableMap<String, String> table(TableName name) {
            return tables.getOrDefault(name.toString(), new TreeMap<>());
        }

        private End end(Next question) {
            List<String> keys = new ArrayList<>(
                    after(table(question.table()), question.from()).keySet());
            long rows = table(question.table()).size();
            return new End(keys.size() <= STRETCH_ROWS ? null : keys.get(STRETCH_ROWS - 1), rows, unreadable);
        }

        private static Map<String, String> after(NavigableMap<String, String> rows, String from) {
            return from == null ? rows : rows.tailMap(from, false);
        }

        private Map<String, String> rows(TableName table, Stretch stretch) {
            Map<String, String> rows = new TreeMap<>(after(table(table), stretch.from()));
            rows.keySet().removeIf(key -> stretch.to() != null && key.compareTo(stretch.to()) > 0);
            return rows;
        }

        private Sum sum(SumOf question) {
            Map<String, String> rows = rows(question.table(), question.stretch());
            return new Sum(rows.size(), rows.toString());
        }

        private ShownRows shown(Shown question) {
            Map<String, Row> rows = new TreeMap<>();
            for (String identity : question.identities()) {
                String version = table(question.table()).get(identity);
                if (version != null) {
                    rows.put(identity, new Row("", Map.of(), Map.of("v", version)));
                }
            }
            return new ShownRows(rows);
        }
    }

    AuditedCluster(int count) {
        for (int i = 1; i <= count; i++) {
            all.put("n" + i, new Node("n" + i));
        }
        Questions questions = new Questions("n1", node(1).answers, this::ask, json);
        nodes = new AuditedNodes("n1", questions, () -> all.values().stream()
                .filter(node -> !node.name.equals("n1") && node.synced)
                .map(AuditedCluster::report)
                .toList());
    }

    private ByteArrayInputStream ask(String node, byte[] request) throws IOException {
        Node peer = all.get(node);
        if (!peer.synced) {
            throw new IOException(node + " is gone");
        }
        ByteArrayOutputStream answer = new ByteArrayOutputStream();
        peer.answers.serve("n1", request, answer);
        return new ByteArrayInputStream(answer.toByteArray());
    }

    private static MemberReport report(Node node) {
        return new MemberReport(
                node.name,
                "",
                1,
                "",
                null,
                "host:3306",
                "SYNCED",
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                null,
                false,
                0L,
                0L,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null);
    }

    Node node(int number) {
        return all.get("n" + number);
    }

    /** Gives all nodes the same table. */
    void table(String table, Map<String, String> rows) {
        all.values().forEach(node -> node.table(table, "definition", rows));
    }

    /** The listener is told of every question before it is answered. */
    void onQuestion(BiConsumer<String, Question<?>> listener) {
        listeners.add(listener);
    }

    /** How often a node was asked a question of this type. */
    long asked(String node, Class<? extends Question<?>> type) {
        return asked.stream()
                .filter(each -> each.node().equals(node) && type.isInstance(each.question()))
                .count();
    }

    @Override
    public void close() {
        nodes.close();
    }
}
