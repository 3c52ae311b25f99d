// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import io.quorate.sst.stream.StatementReader.Kind;
import io.quorate.sst.stream.StatementReader.Token;
import java.util.Locale;
import java.util.Set;

/**
 * What a statement has to be, word for word, as far as that decides what it makes. Each of these methods takes a part
 * of the statement, and throws an {@link IllegalArgumentException} if that part is another one.
 */
final class StatementRule {
    private final StatementReader in;

    /** @param sqlMode that of the session in which the statement is run */
    StatementRule(String text, String sqlMode) {
        this.in = new StatementReader(text, sqlMode);
    }

    StatementRule words(String... words) {
        for (String word : words) {
            Token token = in.next();
            if (!token.isWord(word)) {
                throw new IllegalArgumentException(word + " was expected, not " + token.value());
            }
        }
        return this;
    }

    /** One of several words. */
    StatementRule oneOf(Set<String> words) {
        Token token = in.next();
        if (token.kind() != Kind.WORD || !words.contains(token.value())) {
            throw new IllegalArgumentException("one of " + words + " was expected, not " + token.value());
        }
        return this;
    }

    /** The words, if the first of them is there. */
    StatementRule perhaps(String... words) {
        return in.peek().isWord(words[0]) ? words(words) : this;
    }

    StatementRule sign(char sign) {
        Token token = in.next();
        if (!token.isSign(sign)) {
            throw new IllegalArgumentException(sign + " was expected, not " + token.value());
        }
        return this;
    }

    /** What may stand before the kind of a view or a stored program: who defined it, and how it is run. */
    StatementRule definer() {
        while (true) {
            if (in.peek().isWord("DEFINER")) {
                words("DEFINER").sign('=');
                if (in.peek().isWord("CURRENT_USER")) {
                    in.next();
                } else {
                    anyAccount();
                }
            } else if (in.peek().isWord("ALGORITHM")) {
                words("ALGORITHM").sign('=').oneOf(Set.of("UNDEFINED", "MERGE", "TEMPTABLE"));
            } else if (in.peek().isWord("SQL")) {
                words("SQL", "SECURITY").oneOf(Set.of("DEFINER", "INVOKER"));
            } else if (in.peek().isWord("MATERIALIZED")) {
                in.next();
            } else {
                return this;
            }
        }
    }

    private void anyAccount() {
        part();
        if (in.peek().isSign('@')) {
            in.next();
            part();
        }
    }

    private String part() {
        Token token = in.next();
        if (token.kind() != Kind.NAME && token.kind() != Kind.TEXT && token.kind() != Kind.WORD) {
            throw new IllegalArgumentException("a name was expected, not " + token.value());
        }
        return token.value();
    }

    /** This account. */
    StatementRule account(String user, String host) {
        String first = part();
        sign('@');
        String second = part();
        if (!first.equals(user) || !second.equals(host)) {
            throw new IllegalArgumentException("it is about another account");
        }
        return this;
    }

    /** Any account, as a text in quotes, and nothing else. */
    void accountAlone() {
        if (in.next().kind() != Kind.TEXT || !in.next().isSign('@') || in.next().kind() != Kind.TEXT) {
            throw new IllegalArgumentException("not the name of an account");
        }
        end();
    }

    /** This name, as it is. */
    StatementRule name(String name) {
        requireNamed(part(), name);
        return this;
    }

    /** This name, perhaps with that of its schema. */
    StatementRule name(String schema, String name) {
        String first = part();
        if (in.peek().isSign('.')) {
            in.next();
            requireNamed(first, schema);
            first = part();
        }
        requireNamed(first, name);
        return this;
    }

    /** A table of this schema, perhaps with the schema's name; its own name. */
    String tableOf(String schema) {
        String first = part();
        if (!in.peek().isSign('.')) {
            return first;
        }
        in.next();
        requireNamed(first, schema);
        return part();
    }

    private static void requireNamed(String name, String wanted) {
        // A server may keep names in lower case.
        if (!name.toLowerCase(Locale.ROOT).equals(wanted.toLowerCase(Locale.ROOT))) {
            throw new IllegalArgumentException("it is about " + name + ", not about " + wanted);
        }
    }

    StatementRule sign(char sign, String unlessWord) {
        sign(sign);
        if (in.peek().isWord(unlessWord)) {
            throw new IllegalArgumentException("it has " + unlessWord);
        }
        return this;
    }

    /** Everything else: one statement without comments, and without these words. */
    void rest(Set<String> without) {
        rest(without, true, true);
        requireNoComments();
    }

    /** Everything else: one statement without these words, perhaps with comments. */
    void restWithComments(Set<String> without) {
        rest(without, true, true);
    }

    /** As {@link #rest}, and only one clause of it: no comma stands outside of parentheses. */
    void clause() {
        rest(Set.of(), false, true);
        requireNoComments();
    }

    /** As {@link #clause}, of names and words alone. */
    void clauseWithoutTexts() {
        rest(Set.of(), false, false);
        requireNoComments();
    }

    private void rest(Set<String> without, boolean commas, boolean texts) {
        boolean roles = false;
        for (Token token = in.next(); token.kind() != Kind.END; token = in.next()) {
            roles |= token.isWord("ROLE");
            if (token.isSign(';')) {
                throw new IllegalArgumentException("a statement follows");
            } else if (token.isSign(',') && token.depth() == 0 && !commas && !roles) {
                throw new IllegalArgumentException("something follows after a comma");
            } else if (token.kind() == Kind.TEXT && !texts) {
                throw new IllegalArgumentException("it has a text");
            } else if (token.kind() == Kind.WORD && without.contains(token.value())) {
                throw new IllegalArgumentException("it has " + token.value());
            }
        }
    }

    /**
     * Everything up to this word outside of parentheses, that word included. It is a keyword: names are in quotes.
     */
    StatementRule upTo(String word) {
        Token token = in.next();
        while (!(token.depth() == 0 && token.isWord(word))) {
            if (token.kind() == Kind.END || token.isSign(';')) {
                throw new IllegalArgumentException("it has no " + word);
            }
            token = in.next();
        }
        return this;
    }

    void end() {
        if (in.next().kind() != Kind.END) {
            throw new IllegalArgumentException("something follows");
        }
        requireNoComments();
    }

    private void requireNoComments() {
        if (in.hadComments()) {
            throw new IllegalArgumentException("it has comments");
        }
    }

    /** Whether all that is left is of these words, names, texts, numbers and signs. */
    void only(Set<String> words) {
        for (Token token = in.next(); token.kind() != Kind.END; token = in.next()) {
            boolean known = token.kind() != Kind.WORD
                    || words.contains(token.value())
                    || Character.isDigit(token.value().charAt(0))
                    || token.value().charAt(0) == '_';
            if (!known || token.isSign(';') || token.isSign('@')) {
                throw new IllegalArgumentException("it has " + token.value());
            }
        }
        requireNoComments();
    }
}
