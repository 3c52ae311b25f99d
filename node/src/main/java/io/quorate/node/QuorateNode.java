// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;

/** The service beside one MySQL server. */
@SpringBootApplication
@EnableConfigurationProperties(NodeProperties.class)
public class QuorateNode {
    /**
     * With {@code check} as its first argument it only looks at a server, with {@code log} at a writeset cache. A start that fails ends the process, whatever threads a part had begun: a supervisor restarts what has ended
     * only.
     */
    public static void main(String[] args) {
        String tool = args.length == 0 ? "" : args[0];
        if (tool.equals("check")) {
            System.exit(CheckMain.run(args, System.out, System.err));
        } else if (tool.equals("log")) {
            System.exit(LogMain.run(args, System.out, System.err));
        }
        try {
            SpringApplication.run(QuorateNode.class, args);
        } catch (RuntimeException | Error e) {
            // Spring Boot has reported it.
            System.exit(1);
        }
    }
}
