// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.node.server.ServerCheck.Finding;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SchemaAdviceTest {
    private Function<String, List<String>> answers = query -> List.of();
    private final List<String> asked = new ArrayList<>();

    /** A server that answers every query with one column. */
    private Connection server() {
        Statement statement = fake(Statement.class, (self, method, arguments) -> {
            if (!method.getName().equals("executeQuery")) {
                return null;
            }
            asked.add((String) arguments[0]);
            return rows(answers.apply((String) arguments[0]).iterator());
        });
        return fake(
                Connection.class,
                (self, method, arguments) -> method.getName().equals("createStatement") ? statement : null);
    }

    private static ResultSet rows(Iterator<String> names) {
        return fake(ResultSet.class, (self, method, arguments) -> switch (method.getName()) {
            case "next" -> names.hasNext();
            case "getString" -> names.next();
            default -> null;
        });
    }

    private static <T> T fake(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    @Test
    void hasNothingToSayOfASchemaWithoutAny() throws SQLException {
        assertThat(SchemaAdvice.findings(server())).isEmpty();
        assertThat(asked).hasSize(9).allMatch(query -> query.contains("LIMIT 100") && query.contains("'quorate'"));
    }

    @Test
    void namesWhatItFindsWithTheWayOut() throws SQLException {
        answers = query -> query.contains("REFERENTIAL_CONSTRAINTS") ? List.of("s.t.fk", "s.u.fk") : List.of();
        assertThat(SchemaAdvice.findings(server())).singleElement().satisfies(finding -> assertThat(finding.toString())
                .contains("cascade", "s.t.fk, s.u.fk", "ON DELETE RESTRICT")
                .doesNotContain("..."));
    }

    @Test
    void eachQuestionHasAnAdviceOfItsOwn() throws SQLException {
        answers = query -> List.of("s.t");
        assertThat(SchemaAdvice.findings(server()))
                .hasSize(9)
                .doesNotHaveDuplicates()
                .extracting(Finding::toString)
                .allMatch(text -> text.contains("s.t"));
    }

    /** Each in one of three advices, by its engine. */
    @Test
    void tablesWithoutTransactionsAreAskedForByEngine() throws SQLException {
        answers = query -> query.contains("t.ENGINE = 'MEMORY'") ? List.of("s.t (MEMORY)") : List.of();
        assertThat(SchemaAdvice.findings(server())).singleElement().satisfies(finding -> assertThat(finding.toString())
                .contains("s.t (MEMORY)", "restart"));
        assertThat(asked)
                .filteredOn(query -> query.contains("ENGINES"))
                .hasSize(3)
                .doesNotHaveDuplicates();
    }

    @Test
    void saysWhereTheListIsCutOff() throws SQLException {
        answers = query -> query.equals(SchemaAdvice.KEYLESS)
                ? IntStream.range(0, 100).mapToObj(i -> "s.t" + i).toList()
                : List.of();
        assertThat(SchemaAdvice.findings(server())).singleElement().satisfies(finding -> assertThat(finding.toString())
                .contains("s.t99, ..."));
    }

    @Test
    void tablesWithoutKeysAreThoseOfTheLastLook() throws SQLException {
        KeylessTables keyless = new KeylessTables();
        assertThat(keyless.names()).isEmpty();
        answers = query -> List.of("s.a", "s.b");
        keyless.look(server());
        assertThat(keyless.names()).containsExactly("s.a", "s.b");
        answers = query -> List.of("s.b");
        keyless.look(server());
        assertThat(keyless.names()).containsExactly("s.b");
        assertThat(asked).containsOnly(SchemaAdvice.KEYLESS);
    }
}
