// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;

/** The service beside one MySQL server. */
@SpringBootApplication
@EnableConfigurationProperties(NodeProperties.class)
public class QuorateNode {
    public static void main(String[] args) {
        SpringApplication.run(QuorateNode.class, args);
    }
}
