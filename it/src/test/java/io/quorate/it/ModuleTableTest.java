// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The README's module table, as rules. */
class ModuleTableTest {
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("io.quorate", "io.debezium.connector.binlog.tap");

    private static final String[] JDK = {"java..", "org.slf4j.."};

    /** What each module may use beside the JDK, slf4j and itself. */
    private static final Map<String, List<String>> MAY_USE = Map.of(
            "core", List.of(),
            "certification", List.of("io.quorate.core.."),
            "ist", List.of("io.quorate.core..", "com.github.luben.zstd.."),
            "capture",
                    List.of(
                            "io.quorate.core..",
                            "io.debezium..",
                            "com.github.shyiko..",
                            "org.apache.kafka..",
                            "com.github.luben..",
                            "com.mysql..",
                            "javax.sql.."),
            "transport", List.of("io.quorate.core..", "org.apache.ratis..", "io.netty.."),
            "applier", List.of("io.quorate.core..", "com.mysql..", "javax.sql.."),
            "sst", List.of("io.quorate.core..", "com.mysql.."));

    @Test
    void everyModuleUsesOnlyWhatTheTableAllows() {
        MAY_USE.forEach((module, others) -> {
            List<String> allowed = new java.util.ArrayList<>(List.of(JDK));
            allowed.add("io.quorate." + module + "..");
            allowed.addAll(others);
            assertThat(CLASSES.stream().anyMatch(in(module)))
                    .as(module + " has classes")
                    .isTrue();
            ArchRuleDefinition.classes()
                    .that()
                    .resideInAPackage("io.quorate." + module + "..")
                    .should()
                    .onlyDependOnClassesThat(DescribedPredicate.describe(
                            "are in " + allowed,
                            c -> c.isPrimitive()
                                    || c.isArray()
                                    || JavaClass.Predicates.resideInAnyPackage(allowed.toArray(String[]::new))
                                            .test(c)))
                    .check(CLASSES);
        });
    }

    @Test
    void coreAndCertificationHaveNoThreadClockNetworkOrChanceOfTheirOwn() {
        noClasses()
                .that()
                .resideInAnyPackage("io.quorate.core..", "io.quorate.certification..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("java.net..", "java.sql..", "java.nio.channels..", "java.nio.file..")
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

    private static java.util.function.Predicate<JavaClass> in(String module) {
        return c -> c.getPackageName().startsWith("io.quorate." + module);
    }
}
