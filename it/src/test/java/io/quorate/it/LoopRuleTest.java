// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaModifier;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;

/**
 * The loop that owns a node's state has the server closed when the majority is lost, so nothing that it does may wait
 * for a disk, a network, the server, or whoever waits for these. What it does is followed through all of our classes,
 * but not into what is handed over as a function.
 */
class LoopRuleTest {
    /** What the loop calls: its look, what follows from a new state, and the machine itself. */
    private static final Set<String> BEGINNINGS = Set.of(
            "io.quorate.node.NodeEvents.look",
            "io.quorate.node.NodeEvents.stateChanged",
            "io.quorate.core.NodeMachine.on");

    /** These locks are never held while their holder waits for something. */
    private static final Set<String> BRIEF = Set.of("io.quorate.node.server.LinkSignals.set");

    private static final Set<String> WAITING =
            Set.of("await", "sleep", "join", "get", "take", "put", "lock", "lockInterruptibly", "acquire", "wait");

    private final Map<String, Set<String>> monitors = new HashMap<>();

    @Test
    void whatTheLoopDoesWaitsForNothing() throws Exception {
        assertThat(waits(BEGINNINGS)).isEmpty();
    }

    /** What the loop once did with each look. */
    @Test
    void whatWaitsIsFound() throws Exception {
        assertThat(waits(Set.of("io.quorate.node.order.Forgetting.run")))
                .contains(
                        "io.quorate.certification.OrderedStream.oldestOwnTold is synchronized",
                        "io.quorate.ist.WriteSetCache.retain is synchronized",
                        "io.quorate.ist.WriteSetCache.delete calls java.nio.file.Files.deleteIfExists("
                                + "java.nio.file.Path)");
    }

    private Set<String> waits(Set<String> beginnings) throws IOException {
        Deque<JavaCodeUnit> toDo = new ArrayDeque<>();
        ModuleTableTest.CLASSES.stream()
                .flatMap(c -> c.getCodeUnits().stream())
                .filter(unit -> beginnings.contains(name(unit)))
                .forEach(toDo::add);
        assertThat(toDo).extracting(LoopRuleTest::name).containsAll(beginnings);
        Set<JavaCodeUnit> seen = new HashSet<>(toDo);
        Set<String> waits = new TreeSet<>();
        while (!toDo.isEmpty()) {
            JavaCodeUnit unit = toDo.remove();
            if (BRIEF.contains(name(unit))) {
                continue;
            }
            if (unit.getModifiers().contains(JavaModifier.SYNCHRONIZED) || enters(unit)) {
                waits.add(name(unit) + " is synchronized");
            }
            for (JavaAccess<?> access : unit.getCallsFromSelf()) {
                JavaClass owner = access.getTargetOwner();
                if (owner.getName().startsWith("io.quorate.")) {
                    called(owner, access).filter(seen::add).forEach(toDo::add);
                } else if (isWaiting(owner.getName(), access.getTarget().getName())) {
                    waits.add(name(unit) + " calls " + access.getTarget().getFullName());
                }
            }
        }
        return waits;
    }

    /** The method itself, and those that implement it. */
    private static Stream<JavaCodeUnit> called(JavaClass owner, JavaAccess<?> access) {
        return Stream.concat(
                        Stream.concat(Stream.of(owner), owner.getAllRawSuperclasses().stream()),
                        owner.getAllSubclasses().stream())
                .filter(c -> c.getName().startsWith("io.quorate."))
                .flatMap(c -> c.getCodeUnits().stream())
                .filter(unit -> unit.getName().equals(access.getTarget().getName()));
    }

    private static boolean isWaiting(String owner, String method) {
        boolean outside = Stream.of("java.nio.file.", "java.nio.channels.", "java.net.", "java.sql.", "javax.sql.")
                .anyMatch(owner::startsWith);
        boolean concurrent = owner.startsWith("java.util.concurrent.")
                && !owner.contains(".atomic.")
                && !owner.contains("Concurrent");
        boolean thread = owner.equals("java.lang.Thread") || owner.equals("java.lang.Object");
        return outside || ((concurrent || thread) && WAITING.contains(method));
    }

    private static String name(JavaCodeUnit unit) {
        return unit.getOwner().getName() + "." + unit.getName();
    }

    /** Whether it has a synchronized block. */
    private boolean enters(JavaCodeUnit unit) throws IOException {
        JavaClass owner = unit.getOwner();
        if (!monitors.containsKey(owner.getName())) {
            monitors.put(owner.getName(), monitors(owner));
        }
        return monitors.get(owner.getName()).contains(unit.getName());
    }

    private static Set<String> monitors(JavaClass owner) throws IOException {
        Set<String> found = new HashSet<>();
        try (InputStream in = owner.getSource().orElseThrow().getUri().toURL().openStream()) {
            new ClassReader(in)
                    .accept(
                            new ClassVisitor(Opcodes.ASM9) {
                                @Override
                                public MethodVisitor visitMethod(
                                        int access, String name, String type, String generic, String[] thrown) {
                                    return new MethodVisitor(Opcodes.ASM9) {
                                        @Override
                                        public void visitInsn(int opcode) {
                                            if (opcode == Opcodes.MONITORENTER) {
                                                found.add(name);
                                            }
                                        }
                                    };
                                }
                            },
                            ClassReader.SKIP_DEBUG);
        }
        return found;
    }
}
