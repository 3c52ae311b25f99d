// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.node.config.CommandVariables;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.conflict.LogMain;
import io.quorate.node.server.CheckMain;
import java.security.Security;
import org.slf4j.LoggerFactory;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;

/** The service beside one MySQL server. */
@SpringBootApplication
@EnableConfigurationProperties(NodeProperties.class)
public class QuorateNode {
    private static final String POOL_THREADS = "java.util.concurrent.ForkJoinPool.common.parallelism";
    private static final String ADDRESS_SECONDS = "networkaddress.cache.ttl";
    /** The exit status of the JVM itself under -XX:+ExitOnOutOfMemoryError. */
    private static final int OUT_OF_MEMORY = 3;

    /**
     * With {@code check} as its first argument it only checks a server, with {@code log} it only reads a writeset
     * cache. A start that fails ends the process, whatever threads are running by then: a supervisor restarts only a
     * process that has ended.
     */
    public static void main(String[] args) {
        String tool = args.length == 0 ? "" : args[0];
        if (tool.equals("check")) {
            System.exit(CheckMain.run(args, System.out, System.err));
        } else if (tool.equals("log")) {
            System.exit(LogMain.run(args, System.out, System.err));
        }
        shareThreads();
        forgetAddressesSoon();
        endWithoutMemory();
        try {
            SpringApplication service = new SpringApplication(QuorateNode.class);
            service.addInitializers(context -> CommandVariables.hide(context.getEnvironment()));
            service.run(args);
        } catch (RuntimeException | Error e) {
            // Spring Boot has reported it.
            System.exit(1);
        }
    }

    /**
     * Has the asynchronous steps of a {@code CompletableFuture} share threads on machines of one or two cores too.
     * Where the common pool would have one thread, the JDK (before 25) starts a new thread for each such step instead,
     * and Ratis takes one for every entry that a follower appends: 25,000 threads for 24,000 commits.
     */
    private static void shareThreads() {
        if (System.getProperty(POOL_THREADS) == null && Runtime.getRuntime().availableProcessors() <= 2) {
            System.setProperty(POOL_THREADS, "2");
        }
    }

    /**
     * Ends the process when a thread has ended for lack of memory: the node would look alive and do nothing. A
     * supervisor should restart it.
     */
    private static void endWithoutMemory() {
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> {
            LoggerFactory.getLogger(QuorateNode.class).error("The thread {} has ended", thread.getName(), e);
            if (e instanceof OutOfMemoryError) {
                Runtime.getRuntime().halt(OUT_OF_MEMORY);
            }
        });
    }

    /**
     * Makes names be looked up again soon. A node that comes back in another container has another address under its
     * name; the JVM would go on using the old one for 30 seconds.
     */
    private static void forgetAddressesSoon() {
        if (Security.getProperty(ADDRESS_SECONDS) == null) {
            Security.setProperty(ADDRESS_SECONDS, "3");
        }
    }
}
