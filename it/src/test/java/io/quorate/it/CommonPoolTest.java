// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.AccessTarget.CodeUnitCallTarget;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Ratis completes what followers append in the JDK's common pool, which has one or two threads on a small machine.
 * Whatever else is run there may keep a node from acknowledging what it has on disk, so nothing of ours is.
 */
class CommonPoolTest {
    private static final Set<String> SERVICE =
            Set.of("core", "certification", "capture", "transport", "applier", "ist", "sst", "node");

    @Test
    void theServiceRunsNothingInTheCommonPool() {
        assertThat(inTheCommonPool(ModuleTableTest.CLASSES.stream().filter(CommonPoolTest::isOfTheService)))
                .isEmpty();
    }

    private static boolean isOfTheService(JavaClass c) {
        String[] packages = c.getPackageName().split("\\.");
        return packages.length > 2 && SERVICE.contains(packages[2]);
    }

    private static Stream<JavaAccess<?>> inTheCommonPool(Stream<JavaClass> classes) {
        return classes.flatMap(c -> c.getAccessesFromSelf().stream())
                .<JavaAccess<?>>map(access -> access)
                .filter(CommonPoolTest::isOfTheCommonPool);
    }

    private static boolean isOfTheCommonPool(JavaAccess<?> access) {
        String owner = access.getTargetOwner().getName();
        String name = access.getTarget().getName();
        return switch (owner) {
            case "java.util.concurrent.CompletableFuture", "java.util.concurrent.CompletionStage" ->
                (name.endsWith("Async") || name.equals("delayedExecutor")) && !isGivenAnExecutor(access)
                        || name.equals("defaultExecutor");
            case "java.util.concurrent.ForkJoinPool" -> name.equals("commonPool");
            case "java.util.Arrays" -> name.startsWith("parallel");
            default ->
                name.equals("parallelStream") || (owner.startsWith("java.util.stream.") && name.equals("parallel"));
        };
    }

    private static boolean isGivenAnExecutor(JavaAccess<?> access) {
        return access.getTarget() instanceof CodeUnitCallTarget called
                && called.getRawParameterTypes().stream()
                        .anyMatch(type -> type.getName().equals(Executor.class.getName()));
    }

    /** What the rule above is to find. */
    @Test
    void whatRunsThereIsFound() {
        JavaClasses planted = new ClassFileImporter().importClasses(Planted.class);
        assertThat(inTheCommonPool(planted.stream())).hasSize(3);
    }

    private static final class Planted {
        CompletableFuture<Void> one(Executor own) {
            return CompletableFuture.runAsync(() -> {}, own).thenRunAsync(() -> {});
        }

        CompletableFuture<Void> another() {
            return CompletableFuture.runAsync(() -> {});
        }

        int third() {
            return List.of(1).parallelStream().mapToInt(i -> i).sum();
        }
    }
}
