// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.certification.OrderedStream;
import io.quorate.ist.Donor;
import io.quorate.node.audit.Audit;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.conflict.ConflictJournal;
import io.quorate.node.copy.GivenCopies;
import io.quorate.node.copy.ServerCopy;
import io.quorate.node.definition.Definitions;
import io.quorate.node.http.Token;
import io.quorate.node.join.Join;
import io.quorate.node.member.Admitted;
import io.quorate.node.member.MemberDesk;
import io.quorate.node.member.Members;
import io.quorate.node.member.Standing;
import io.quorate.node.order.CacheForecast;
import io.quorate.node.order.PausableOrder;
import io.quorate.node.order.Stores;
import io.quorate.node.server.ApplyProgress;
import io.quorate.node.server.KeylessTables;
import io.quorate.node.server.Server;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * The parts of the node that its endpoints show and command, each as a bean of its own. The node closes them, not the
 * application context.
 */
@Configuration(proxyBeanMethods = false)
class NodeParts {
    @Bean(destroyMethod = "")
    Join join(Node node) {
        return node.members.join();
    }

    @Bean(destroyMethod = "")
    Admitted admitted(Node node) {
        return node.network.admitted();
    }

    @Bean(destroyMethod = "")
    Audit audit(Node node) {
        return node.audit;
    }

    @Bean(destroyMethod = "")
    ConflictJournal conflicts(Node node) {
        return node.conflicts;
    }

    @Bean(destroyMethod = "")
    ServerCopy copy(Node node) {
        return node.beside.copy();
    }

    @Bean(destroyMethod = "")
    MemberDesk desk(Node node) {
        return node.members.desk();
    }

    @Bean(destroyMethod = "")
    Definitions definitions(Node node) {
        return node.definitions;
    }

    @Bean(destroyMethod = "")
    Donor donor(Node node) {
        return node.network.donor();
    }

    @Bean(destroyMethod = "")
    CacheForecast forecast(Node node) {
        return node.forecast;
    }

    @Bean(destroyMethod = "")
    KeylessTables keyless(Node node) {
        return node.counters.keyless();
    }

    @Bean(destroyMethod = "")
    Members members(Node node) {
        return node.network.members();
    }

    @Bean(destroyMethod = "")
    PausableOrder order(Node node) {
        return node.order;
    }

    @Bean(destroyMethod = "")
    ApplyProgress progress(Node node) {
        return node.counters.progress();
    }

    @Bean(destroyMethod = "")
    Server server(Node node) {
        return node.beside.server();
    }

    @Bean(destroyMethod = "")
    Standing standing(Node node) {
        return node.members.standing();
    }

    @Bean(destroyMethod = "")
    Stores stores(Node node) {
        return node.home.stores();
    }

    /** Drawn only once the data directory is this node's alone. */
    @Bean
    Token token(Node node, NodeProperties properties) {
        return Token.of(properties, System.getenv());
    }

    @Bean(destroyMethod = "")
    OrderedStream stream(Node node) {
        return node.stream;
    }

    @Bean(destroyMethod = "")
    GivenCopies given(Node node) {
        return node.beside.given();
    }
}
