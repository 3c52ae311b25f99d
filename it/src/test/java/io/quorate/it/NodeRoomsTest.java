// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.springframework.jmx.export.annotation.ManagedResource;

/** The rooms of {@code node} and their order, as its package's documentation names them. */
class NodeRoomsTest {
    private static final String NODE = "io.quorate.node";
    private static final List<String> ROOMS = List.of(
            "thread",
            "config",
            "trace",
            "question",
            "order",
            "server",
            "member",
            "scheduler",
            "copy",
            "join",
            "audit",
            "conflict",
            "definition",
            "endpoint",
            "http");
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages(NODE);

    @Test
    void everyRoomIsKnown() {
        TreeSet<String> found = new TreeSet<>();
        CLASSES.forEach(c -> {
            String name = c.getPackageName();
            found.add(name.equals(NODE) ? "" : name.substring(NODE.length() + 1));
        });
        found.remove("");
        assertThat(found).containsExactlyInAnyOrderElementsOf(ROOMS);
    }

    @Test
    void aRoomUsesOnlyThoseBeforeIt() {
        for (int i = 0; i < ROOMS.size(); i++) {
            String[] after = ROOMS.subList(i + 1, ROOMS.size()).stream()
                    .map(room -> NODE + "." + room)
                    .toArray(String[]::new);
            if (after.length > 0) {
                noClasses()
                        .that()
                        .resideInAPackage(NODE + "." + ROOMS.get(i))
                        .should()
                        .dependOnClassesThat()
                        .resideInAnyPackage(after)
                        .check(CLASSES);
            }
            noClasses()
                    .that()
                    .resideInAPackage(NODE + "." + ROOMS.get(i))
                    .should()
                    .dependOnClassesThat()
                    .resideInAPackage(NODE)
                    .check(CLASSES);
        }
    }

    /** The door of a room is what others need of it; nothing else is public, but for what JMX wants to be. */
    @Test
    void aClassIsPublicOnlyIfSomebodyOutsideItsRoomUsesIt() {
        JavaClasses all = new ClassFileImporter()
                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                .importPackages("io.quorate");
        assertThat(all.stream()
                        .filter(c -> c.getPackageName().startsWith(NODE + "."))
                        .filter(c -> c.isTopLevelClass() && c.getModifiers().contains(JavaModifier.PUBLIC))
                        .filter(c -> !c.isAnnotatedWith(ManagedResource.class))
                        .filter(c -> all.stream()
                                .filter(part -> (part.getName() + "$").startsWith(c.getName() + "$"))
                                .flatMap(part -> part.getDirectDependenciesToSelf().stream())
                                .allMatch(
                                        d -> d.getOriginClass().getPackageName().equals(c.getPackageName())))
                        .map(JavaClass::getName))
                .isEmpty();
    }

    @Test
    void thereIsNoCircle() {
        slices().matching(NODE + ".(*)..").should().beFreeOfCycles().check(CLASSES);
    }
}
