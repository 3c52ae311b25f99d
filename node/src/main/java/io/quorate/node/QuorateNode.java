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
     * A start that fails ends the process, whatever threads a part had begun: a supervisor restarts what has ended
     * only.
     */
    public static void main(String[] args) {
        try {
            SpringApplication.run(QuorateNode.class, args);
        } catch (RuntimeException | Error e) {
            // Spring Boot has reported it.
            System.exit(1);
        }
    }
}
