// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The README's module table, as rules. */
class ModuleTableTest {
    static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("io.quorate", "io.debezium.connector.binlog.tap");

    /** On its own, with its own dependencies: a jar of benchmarks, which this module doesn't see. */
    private static final String ELSEWHERE = "bench";

    private static ModuleTable table() throws IOException {
        return ModuleTable.read(Files.readString(ModuleTable.root().resolve("README.md")));
    }

    static Stream<String> modules() throws IOException {
        return table().rules().keySet().stream().filter(module -> !module.equals(ELSEWHERE));
    }

    @Test
    void everyModuleHasARow() throws IOException {
        assertThat(table().rules().keySet())
                .containsExactlyInAnyOrderElementsOf(ModuleTable.modules(ModuleTable.root()));
    }

    /** Once a module had integration tests that no build ever ran. */
    @Test
    void aModuleWithIntegrationTestsRunsThem() throws IOException {
        for (String module : ModuleTable.modules(ModuleTable.root())) {
            Path tests = ModuleTable.root().resolve(module).resolve("src/test/java");
            if (!Files.exists(tests)) {
                continue;
            }
            try (Stream<Path> files = Files.walk(tests)) {
                if (files.anyMatch(file -> file.toString().endsWith("IT.java"))) {
                    assertThat(ModuleTable.root().resolve(module).resolve("pom.xml"))
                            .content()
                            .contains("<artifactId>maven-failsafe-plugin</artifactId>");
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("modules")
    void aModuleUsesOnlyWhatTheTableAllows(String module) throws IOException {
        String[] own = ModuleTable.packagesOf(module).toArray(String[]::new);
        assertThat(CLASSES.stream().anyMatch(JavaClass.Predicates.resideInAnyPackage(own)))
                .as(module + " has classes")
                .isTrue();
        ModuleTable.Rule rule = table().rules().get(module);
        if (rule instanceof ModuleTable.Rule.Only only) {
            List<String> allowed = new ArrayList<>(List.of(own));
            allowed.addAll(only.packages());
            classes()
                    .that()
                    .resideInAnyPackage(own)
                    .should()
                    .onlyDependOnClassesThat(areIn(allowed))
                    .check(CLASSES);
        } else if (rule instanceof ModuleTable.Rule.AllBut but
                && !but.packages().isEmpty()) {
            noClasses()
                    .that()
                    .resideInAnyPackage(own)
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(but.packages().toArray(String[]::new))
                    .check(CLASSES);
        }
    }

    private static DescribedPredicate<JavaClass> areIn(List<String> packages) {
        DescribedPredicate<JavaClass> allowed =
                JavaClass.Predicates.resideInAnyPackage(packages.toArray(String[]::new));
        return DescribedPredicate.describe(
                "are in " + packages, c -> c.isPrimitive() || c.isArray() || allowed.test(c));
    }

    @Test
    void whatModulesMayUseIsReadFromTheTable() {
        ModuleTable table = ModuleTable.read("""
                | module | owns | may use |
                |---|---|---|
                | `core/` | values | JDK, slf4j |
                | `ist/` | the cache | core, zstd |
                | `cli/` | commands | core |
                | `node/` | wiring | all but cli and ist |
                | `it/` | tests | all |
                """);
        assertThat(table.rules().get("ist"))
                .isEqualTo(new ModuleTable.Rule.Only(List.of(
                        "io.quorate.core..",
                        "com.github.luben.zstd..",
                        "java..",
                        "javax.naming..",
                        "javax.net.ssl..",
                        "javax.security.auth.x500..",
                        "com.sun.net.httpserver..",
                        "org.slf4j..")));
        assertThat(table.rules().get("node"))
                .isEqualTo(new ModuleTable.Rule.AllBut(List.of("io.quorate.cli..", "io.quorate.ist..")));
        assertThat(table.rules().get("it")).isEqualTo(new ModuleTable.Rule.AllBut(List.of()));
    }

    @Test
    void aWordThatNobodyKnowsIsAnError() {
        assertThatThrownBy(() -> ModuleTable.read("| `core/` | values | JDK, Guava |"))
                .hasMessageContaining("core/ may use \"Guava\"");
    }

    @Test
    void coreAndCertificationHaveNoThreadClockNetworkOrChanceOfTheirOwn() {
        noClasses()
                .that()
                .resideInAnyPackage("io.quorate.core..", "io.quorate.certification..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("java.net..", "javax.net..", "java.sql..", "java.nio.channels..", "java.nio.file..")
                .orShould()
                .dependOnClassesThat()
                .belongToAnyOf(Thread.class, Random.class, java.util.Timer.class, java.time.Clock.class)
                .orShould()
                .callMethod(System.class, "currentTimeMillis")
                .orShould()
                .callMethod(System.class, "nanoTime")
                .orShould()
                .callMethod(java.time.Instant.class, "now")
                .orShould()
                .callMethod(java.util.UUID.class, "randomUUID")
                .check(CLASSES);
    }
}
