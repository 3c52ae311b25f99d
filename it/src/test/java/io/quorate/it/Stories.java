// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.LifecycleMethodExecutionExceptionHandler;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.opentest4j.TestAbortedException;

/**
 * Where a test fails, keeps what the nodes have said in {@code target/stories}: their logs say why it failed, and are
 * deleted with their directories. Registered for every test of this module.
 */
public final class Stories
        implements TestExecutionExceptionHandler, LifecycleMethodExecutionExceptionHandler, BeforeEachCallback {
    private static final Path DIRECTORY = Path.of("target", "stories");

    private static final int LINES = 60;

    private static final Map<Object, Supplier<String>> RUNNING = new LinkedHashMap<>();
    /** Of those that ended during this test: a test that closes its nodes itself has done so when it fails. */
    private static final List<String> ENDED = new ArrayList<>();

    /** The last of a service's own lines in its log. */
    static String told(Stream<String> log) {
        List<String> own = log.filter(line -> line.contains(" io.quorate.")).toList();
        return String.join("\n", own.subList(Math.max(0, own.size() - LINES), own.size()));
    }

    /** From now on these nodes are asked when a test fails. */
    static synchronized void begin(Object nodes, Supplier<String> story) {
        RUNNING.put(nodes, story);
    }

    /** These nodes are about to be deleted. */
    static synchronized void end(Object nodes) {
        Supplier<String> story = RUNNING.remove(nodes);
        if (story != null) {
            ENDED.add(story.get());
        }
    }

    /** Writes down what the nodes have said, and gives back the failure. */
    private static synchronized Throwable kept(ExtensionContext test, Throwable failure) {
        if (failure instanceof TestAbortedException) {
            return failure;
        }
        List<String> all = new ArrayList<>(ENDED);
        RUNNING.values().forEach(story -> all.add(story.get()));
        String name = test.getRequiredTestClass().getSimpleName()
                + test.getTestMethod().map(method -> "." + method.getName()).orElse("");
        try {
            Files.createDirectories(DIRECTORY);
            Files.writeString(DIRECTORY.resolve(name + ".txt"), failure + "\n" + String.join("\n", all) + "\n");
        } catch (IOException e) {
            failure.addSuppressed(e);
        }
        return failure;
    }

    @Override
    public void beforeEach(ExtensionContext test) {
        synchronized (Stories.class) {
            ENDED.clear();
        }
    }

    @Override
    public void handleTestExecutionException(ExtensionContext test, Throwable failure) throws Throwable {
        throw kept(test, failure);
    }

    @Override
    public void handleBeforeAllMethodExecutionException(ExtensionContext test, Throwable failure) throws Throwable {
        throw kept(test, failure);
    }

    @Override
    public void handleBeforeEachMethodExecutionException(ExtensionContext test, Throwable failure) throws Throwable {
        throw kept(test, failure);
    }

    @Override
    public void handleAfterEachMethodExecutionException(ExtensionContext test, Throwable failure) throws Throwable {
        throw kept(test, failure);
    }
}
