// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.node.http.RunningService;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanInfo;
import javax.management.MBeanOperationInfo;
import javax.management.MBeanServerConnection;
import javax.management.MBeanServerDelegate;
import javax.management.MBeanServerNotification;
import javax.management.MalformedObjectNameException;
import javax.management.Notification;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXConnectorServer;
import javax.management.remote.JMXConnectorServerFactory;
import javax.management.remote.JMXServiceURL;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The MBeans of a node, as a JMX client gets them over a connection. */
@Timeout(120)
class JmxTest {
    private static final Path PAGE = Path.of("..", "docs", "jmx.md");
    private static final Pattern HEADING = Pattern.compile("## io\\.quorate:type=(\\w+)");
    private static final Pattern ROW = Pattern.compile("\\| `(\\w+)(\\([^)]*\\))?` \\|.*");
    private static final LinkedBlockingQueue<Notification> NOTIFIED = new LinkedBlockingQueue<>();

    @TempDir
    private static Path directory;

    private static JMXConnectorServer listening;
    private static JMXConnector connector;
    private static RunningService service;

    @BeforeAll
    // It connects to itself.
    @SuppressWarnings("BanJNDI")
    static void start() throws Exception {
        System.setProperty("java.rmi.server.hostname", "127.0.0.1");
        listening = JMXConnectorServerFactory.newJMXConnectorServer(
                new JMXServiceURL("service:jmx:rmi://"), Map.of(), ManagementFactory.getPlatformMBeanServer());
        listening.start();
        connector = JMXConnectorFactory.connect(listening.getAddress());
        CompletableFuture<Void> registered = new CompletableFuture<>();
        ObjectName node = name("Node");
        connection()
                .addNotificationListener(
                        MBeanServerDelegate.DELEGATE_NAME,
                        (notification, handback) -> {
                            if (notification instanceof MBeanServerNotification what
                                    && what.getMBeanName().equals(node)) {
                                registered.complete(null);
                            }
                        },
                        null,
                        null);
        CompletableFuture<RunningService> starting = CompletableFuture.supplyAsync(
                () -> new RunningService(directory.resolve("data"), "--spring.jmx.enabled=true"));
        CompletableFuture.anyOf(registered, starting).get();
        connection().addNotificationListener(node, (n, handback) -> NOTIFIED.add(n), null, null);
        service = starting.get();
    }

    @AfterAll
    static void stop() throws Exception {
        service.close();
        connector.close();
        listening.stop();
    }

    private static MBeanServerConnection connection() throws IOException {
        return connector.getMBeanServerConnection();
    }

    private static ObjectName name(String type) throws MalformedObjectNameException {
        return new ObjectName("io.quorate:type=" + type);
    }

    private static Object attribute(String type, String attribute) throws Exception {
        return connection().getAttribute(name(type), attribute);
    }

    private static Set<ObjectName> all() throws Exception {
        return connection().queryNames(new ObjectName("io.quorate:*"), null);
    }

    /** What the page lists, as {@code Type.Attribute} and {@code Type.operation()}. */
    private static Set<String> listed() throws IOException {
        Set<String> listed = new TreeSet<>();
        String type = "";
        for (String line : Files.readAllLines(PAGE)) {
            Matcher heading = HEADING.matcher(line);
            Matcher row = ROW.matcher(line);
            if (heading.matches()) {
                type = heading.group(1);
            } else if (row.matches()) {
                listed.add(type + "." + row.group(1) + (row.group(2) == null ? "" : "()"));
            }
        }
        return listed;
    }

    @Test
    void thePageListsWhatThereIs() throws Exception {
        Set<String> there = new TreeSet<>();
        Set<String> described = new HashSet<>();
        for (ObjectName each : all()) {
            MBeanInfo info = connection().getMBeanInfo(each);
            String type = each.getKeyProperty("type");
            for (MBeanAttributeInfo attribute : info.getAttributes()) {
                there.add(type + "." + attribute.getName());
                described.add(type + " " + attribute.getDescription());
            }
            for (MBeanOperationInfo operation : info.getOperations()) {
                boolean reads = Arrays.stream(info.getAttributes())
                        .anyMatch(a -> operation.getName().matches("(get|is)" + a.getName()));
                if (!reads) {
                    there.add(type + "." + operation.getName() + "()");
                    described.add(type + " " + operation.getDescription());
                }
            }
        }
        assertThat(listed()).isEqualTo(there).hasSizeGreaterThan(60);
        assertThat(described).as("each says what it is").hasSize(there.size());
    }

    @Test
    void everyAttributeCanBeReadByAClientWithoutOurClasses() throws Exception {
        List<String> failed = new ArrayList<>();
        for (ObjectName each : all()) {
            for (MBeanAttributeInfo attribute : connection().getMBeanInfo(each).getAttributes()) {
                Object value = connection().getAttribute(each, attribute.getName());
                if (value != null && !value.getClass().getName().startsWith("java.")) {
                    failed.add(each + " " + attribute.getName());
                }
            }
        }
        assertThat(failed).isEmpty();
        assertThat(attribute("Node", "Name")).isEqualTo("n1");
        assertThat(attribute("Node", "Cluster")).isEqualTo("http");
        assertThat((String) attribute("Node", "Health")).isNotEmpty();
        assertThat(attribute("Order", "Members")).isEqualTo(List.of("n1"));
        assertThat((Long) attribute("Cache", "BytesMax")).isPositive();
    }

    @Test
    void numbersHaveUnits() throws Exception {
        for (ObjectName each : all()) {
            for (MBeanAttributeInfo attribute : connection().getMBeanInfo(each).getAttributes()) {
                if (attribute.getType().equals("long")) {
                    assertThat(String.valueOf(attribute.getDescriptor().getFieldValue("units")))
                            .as("%s %s", each, attribute.getName())
                            .isNotEqualTo("null")
                            .isNotEmpty();
                }
            }
        }
    }

    @Test
    void whatCantBeDoneSaysWhy() {
        assertThatThrownBy(() -> connection().invoke(name("Transfer"), "pause", null, null))
                .hasStackTraceContaining("no full copy is under way");
        assertThatThrownBy(() -> connection()
                        .invoke(name("Order"), "lead", new Object[] {"n7"}, new String[] {String.class.getName()}))
                .hasStackTraceContaining("n7 is no member");
        for (String operation : List.of("heal", "trust")) {
            assertThatThrownBy(() -> connection()
                            .invoke(name("Healing"), operation, new Object[] {","}, new String[] {String.class.getName()
                            }))
                    .hasStackTraceContaining("a table is named SCHEMA.TABLE");
        }
        assertThatThrownBy(() -> connection()
                        .invoke(name("Node"), "drain", new Object[] {-1}, new String[] {int.class.getName()}))
                .hasStackTraceContaining("seconds: 0 to 3600");
        for (String operation : List.of("lead", "leave", "admit")) {
            assertThatThrownBy(() -> connection()
                            .invoke(name("Order"), operation, new Object[1], new String[] {String.class.getName()}))
                    .hasStackTraceContaining("which node?");
        }
    }

    @Test
    void whatIsDoneShows() throws Exception {
        connection().invoke(name("Flow"), "desync", null, null);
        assertThat(attribute("Flow", "Desynced")).isEqualTo(true);
        connection().invoke(name("Flow"), "resync", null, null);
        assertThat(attribute("Flow", "Desynced")).isEqualTo(false);
    }

    @Test
    void aChangeOfTheLeaderIsNotifiedOf() throws Exception {
        Notification leader;
        do {
            leader = NOTIFIED.take();
        } while (!leader.getType().equals(ManagedNode.LEADER));
        assertThat(leader.getMessage()).isEqualTo("n1 is led by n1");
        assertThat((String[]) leader.getUserData()).containsExactly("null", "n1");
    }
}
