// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The README's table of modules, as the packages that each of them may use. */
record ModuleTable(Map<String, Rule> rules) {
    private static final Pattern ROW = Pattern.compile("\\| `(\\w+)/` \\| [^|]+ \\| ([^|]+) \\|");
    private static final String ALL = "all";
    private static final String ALL_BUT = "all but ";

    /** What the table's words stand for, but for names of modules. */
    private static final Map<String, List<String>> WORDS = Map.of(
            "JDK",
                    List.of(
                            "java..",
                            "javax.naming..",
                            "javax.net.ssl..",
                            "javax.security.auth.x500..",
                            "com.sun.net.httpserver.."),
            "slf4j", List.of("org.slf4j.."),
            "JDBC", List.of("java.sql..", "javax.sql..", "com.mysql.."),
            "Debezium", List.of("io.debezium..", "com.github.shyiko..", "org.apache.kafka.."),
            "Ratis", List.of("org.apache.ratis.."),
            "Netty", List.of("io.netty.."),
            "zstd", List.of("com.github.luben.zstd.."),
            "picocli", List.of("picocli.."),
            "Bouncy Castle", List.of("org.bouncycastle.."),
            "Jackson", List.of("tools.jackson..", "com.fasterxml.jackson.annotation.."));

    /** For every module, whatever its row says. */
    private static final List<String> EVERYWHERE = List.of("JDK", "slf4j");

    /** What a module may use beside its own packages. */
    sealed interface Rule {
        /** @param packages in ArchUnit's words */
        record Only(List<String> packages) implements Rule {}

        /** Everything else; nothing for {@code all}. */
        record AllBut(List<String> packages) implements Rule {}
    }

    /** @throws IllegalArgumentException for a word that nobody knows */
    static ModuleTable read(String readme) {
        Map<String, String> cells = new LinkedHashMap<>();
        Matcher row = ROW.matcher(readme);
        while (row.find()) {
            if (cells.put(row.group(1), row.group(2).strip()) != null) {
                throw new IllegalArgumentException("the README's table has two rows for " + row.group(1));
            }
        }
        Map<String, Rule> rules = new LinkedHashMap<>();
        cells.forEach((module, cell) -> rules.put(module, rule(module, cell, cells.keySet())));
        return new ModuleTable(rules);
    }

    private static Rule rule(String module, String cell, Set<String> modules) {
        if (cell.equals(ALL)) {
            return new Rule.AllBut(List.of());
        }
        if (cell.startsWith(ALL_BUT)) {
            return new Rule.AllBut(
                    packages(module, cell.substring(ALL_BUT.length()).split(" and |, "), modules));
        }
        List<String> may = new ArrayList<>(packages(module, cell.split(", "), modules));
        may.addAll(packages(module, EVERYWHERE.toArray(String[]::new), modules));
        return new Rule.Only(List.copyOf(may));
    }

    private static List<String> packages(String module, String[] words, Set<String> modules) {
        return Arrays.stream(words)
                .flatMap(word -> {
                    if (modules.contains(word)) {
                        return packagesOf(word).stream();
                    }
                    if (WORDS.containsKey(word)) {
                        return WORDS.get(word).stream();
                    }
                    throw new IllegalArgumentException("the README's table says that " + module + "/ may use \"" + word
                            + "\"; that is neither a module nor one of " + new TreeSet<>(WORDS.keySet()) + ", \"" + ALL
                            + "\" or \"" + ALL_BUT + "...\"");
                })
                .toList();
    }

    /** The packages that a module owns. */
    static List<String> packagesOf(String module) {
        String own = "io.quorate." + module + "..";
        // In a package of Debezium's, for it rests on a protected method there.
        return module.equals("capture") ? List.of(own, "io.debezium.connector.binlog.tap..") : List.of(own);
    }

    /** The root of the source tree, which tests run below. */
    static Path root() {
        Path tree = Path.of("").toAbsolutePath();
        while (!Files.exists(tree.resolve("README.md")) || !Files.exists(tree.resolve("quorate"))) {
            tree = tree.getParent();
        }
        return tree;
    }

    /** The modules that the root pom names. */
    static List<String> modules(Path root) throws IOException {
        return Pattern.compile("<module>([^<]+)</module>")
                .matcher(Files.readString(root.resolve("pom.xml")))
                .results()
                .map(module -> module.group(1))
                .toList();
    }
}
