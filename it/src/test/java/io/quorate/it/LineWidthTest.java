// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * No line of Java is wider than a screen. The formatter sees to that for code; it leaves comments, strings and text
 * blocks as they are.
 */
class LineWidthTest {
    private static final int COLUMNS = 120;
    /** An address can't be broken; a line with one may be as long as it is. */
    private static final String ADDRESS = "://";

    @Test
    void noLineIsWiderThan120Columns() throws IOException {
        List<String> tooWide = new ArrayList<>();
        int files = 0;
        for (String module : ModuleTable.modules(ModuleTable.root())) {
            for (Path file : sources(ModuleTable.root().resolve(module).resolve("src"))) {
                files++;
                int number = 0;
                for (String line : Files.readAllLines(file)) {
                    number++;
                    if (width(line) > COLUMNS && !line.contains(ADDRESS)) {
                        tooWide.add(ModuleTable.root().relativize(file) + ":" + number + ": " + width(line));
                    }
                }
            }
        }
        assertThat(files).as("files that were read").isGreaterThan(200);
        assertThat(tooWide).isEmpty();
    }

    private static int width(String line) {
        return line.codePointCount(0, line.length());
    }

    private static List<Path> sources(Path tree) throws IOException {
        try (Stream<Path> all = Files.walk(tree)) {
            return all.filter(file -> file.toString().endsWith(".java"))
                    .sorted()
                    .toList();
        }
    }
}
