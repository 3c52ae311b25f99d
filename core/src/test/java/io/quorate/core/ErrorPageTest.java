// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Holds {@code docs/errors.md} to {@link ErrorCode}, and every code that is cited anywhere to its existence. */
class ErrorPageTest {
    private static final Path ROOT = Path.of("..");
    private static final Pattern ROW =
            Pattern.compile("\\| (QRT-\\d+) \\| (\\w+) \\| (\\w+) \\| ([^|]+) \\| ([^|]+) \\|");
    private static final Pattern CITED = Pattern.compile("QRT-\\d+");
    private static final Set<String> TEXT =
            Set.of("java", "md", "yaml", "yml", "xml", "properties", "sh", "sql", "Dockerfile", "proto");
    /** The page of contributions shows with it what a code looks like. */
    private static final String EXAMPLE = "QRT-1234";

    private static List<String> rows() throws IOException {
        return Files.readAllLines(ROOT.resolve("docs/errors.md")).stream()
                .filter(line -> line.startsWith("| QRT-"))
                .toList();
    }

    @Test
    void thePageHasARowForEveryCodeInTheirOrderAndNoOther() throws IOException {
        List<String> expected = Arrays.stream(ErrorCode.values())
                .map(code -> code.code() + " " + code.name() + " "
                        + code.kind().name().toLowerCase(Locale.ROOT))
                .sorted()
                .toList();
        List<String> there = new ArrayList<>();
        for (String line : rows()) {
            Matcher row = ROW.matcher(line);
            assertThat(row.matches()).as(line).isTrue();
            there.add(row.group(1) + " " + row.group(2) + " " + row.group(3));
        }
        assertThat(there).isEqualTo(expected);
    }

    @Test
    void everyRowSaysInWholeSentencesWhatHappenedAndWhatToDo() throws IOException {
        for (String line : rows()) {
            Matcher row = ROW.matcher(line);
            assertThat(row.matches()).as(line).isTrue();
            assertThat(row.group(4)).as(line).matches("[A-Zm].*\\.");
            assertThat(row.group(5)).as(line).matches("[A-Z`\\[].*\\.");
        }
    }

    /** Whatever else stops a node is to be mended. */
    @Test
    void whatIsFatalHasARowThatSaysWhyNoCopyMendsIt() throws IOException {
        String page = Files.readString(ROOT.resolve("docs/what-can-go-wrong.md"));
        String section = page.substring(page.indexOf("## What stops a node"), page.indexOf("## Clients have errors"));
        List<String> there = section.lines()
                .filter(line -> line.startsWith("| QRT-"))
                .map(line -> line.substring(2, line.indexOf(" |")))
                .toList();
        assertThat(there)
                .isEqualTo(Arrays.stream(ErrorCode.values())
                        .filter(code -> code.kind() == ErrorCode.Kind.FATAL)
                        .map(ErrorCode::code)
                        .sorted()
                        .toList());
    }

    @Test
    void noTwoCodesShareANumber() {
        assertThat(Arrays.stream(ErrorCode.values()).map(ErrorCode::code)).doesNotHaveDuplicates();
    }

    @Test
    void noCodeIsCitedThatDoesNotExist() throws IOException {
        Set<String> known =
                Arrays.stream(ErrorCode.values()).map(ErrorCode::code).collect(Collectors.toSet());
        Set<String> unknown = new TreeSet<>();
        int files = 0;
        for (Path file : cited()) {
            files++;
            Matcher code = CITED.matcher(Files.readString(file, StandardCharsets.UTF_8));
            while (code.find()) {
                if (!known.contains(code.group()) && !code.group().equals(EXAMPLE)) {
                    unknown.add(code.group() + " in " + file);
                }
            }
        }
        assertThat(files).as("files that were read").isGreaterThan(200);
        assertThat(unknown).isEmpty();
    }

    /** Whatever a person may read a code in. */
    private static List<Path> cited() throws IOException {
        List<Path> files = new ArrayList<>();
        try (Stream<Path> top = Files.list(ROOT)) {
            top.filter(ErrorPageTest::isText).forEach(files::add);
        }
        List<Path> trees = new ArrayList<>(List.of(ROOT.resolve("docs")));
        try (Stream<Path> modules = Files.list(ROOT)) {
            for (Path module : modules.filter(Files::isDirectory).toList()) {
                trees.add(module.resolve("src/main"));
                trees.add(module.resolve("docker"));
                files.add(module.resolve("README.md"));
            }
        }
        files.removeIf(file -> !Files.isRegularFile(file));
        for (Path tree : trees) {
            if (Files.isDirectory(tree)) {
                try (Stream<Path> all = Files.walk(tree)) {
                    all.filter(ErrorPageTest::isText).forEach(files::add);
                }
            }
        }
        return files;
    }

    private static boolean isText(Path file) {
        String name = file.getFileName().toString();
        return Files.isRegularFile(file) && TEXT.contains(name.substring(name.lastIndexOf('.') + 1));
    }
}
