// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.core.ResolvableType;
import org.springframework.core.io.ByteArrayResource;

/** Checks the table of {@code docs/configuration.md} against {@link NodeProperties}: every key and every default. */
class ConfigurationPageTest {
    private static final Pattern ROW = Pattern.compile("\\| `(quorate\\.[a-z.-]+)` \\| ([^|]*)\\|.*");
    private static final String REQUIRED = "required";
    /** The keys that a node can't do without. */
    private static final Map<String, Object> MINIMAL = Map.of(
            "quorate.cluster", "c",
            "quorate.node", "n1",
            "quorate.data-dir", "/d",
            "quorate.peers[0].name", "n1",
            "quorate.peers[0].host", "h",
            "quorate.peers[0].raft-port", 1,
            "quorate.peers[0].channel-port", 2);

    /** What belongs to a key: the type that its value is bound to, and its default. */
    private record Key(ResolvableType type, Object value) {}

    private static Map<String, String> documented() throws IOException {
        Map<String, String> rows = new LinkedHashMap<>();
        for (String line : Files.readAllLines(Path.of("../docs/configuration.md"))) {
            Matcher row = ROW.matcher(line);
            if (row.matches()) {
                assertThat(rows.put(row.group(1), row.group(2).strip()))
                        .as(row.group(1) + " stands twice")
                        .isNull();
            }
        }
        return rows;
    }

    @Test
    void theConfigurationOfAWholeNodeIsOne() throws IOException {
        String page = Files.readString(Path.of("../docs/configuration.md"));
        String yaml = page.substring(page.indexOf("```yaml\n") + 8);
        byte[] bytes = yaml.substring(0, yaml.indexOf("```")).getBytes(StandardCharsets.UTF_8);
        NodeProperties node = new Binder(ConfigurationPropertySources.from(
                        new YamlPropertySourceLoader().load("page", new ByteArrayResource(bytes))))
                .bind(
                        ConfigurationPropertyName.of("quorate"),
                        Bindable.of(NodeProperties.class),
                        new NoUnboundElementsBindHandler(BindHandler.DEFAULT))
                .get();
        assertThat(node.peers()).hasSize(3).anyMatch(peer -> peer.name().equals(node.node()));
    }

    private static Map<String, Key> keys() throws ReflectiveOperationException {
        NodeProperties minimal = new Binder(new MapConfigurationPropertySource(MINIMAL))
                .bind("quorate", NodeProperties.class)
                .get();
        Map<String, Key> keys = new TreeMap<>();
        add(keys, "quorate", NodeProperties.class, minimal);
        return keys;
    }

    private static void add(Map<String, Key> keys, String prefix, Class<?> type, Object value)
            throws ReflectiveOperationException {
        for (RecordComponent component : type.getRecordComponents()) {
            String name = prefix + "." + kebab(component.getName());
            component.getAccessor().setAccessible(true);
            Object part = value == null ? null : component.getAccessor().invoke(value);
            if (component.getType().isRecord()) {
                // An arbitrator leaves out the section of the server; its keys have defaults all the same.
                Object made = part != null ? part : defaults(name, component.getType());
                add(keys, name, component.getType(), made);
            } else if (component.getType() == List.class && elementOf(component).isRecord()) {
                add(keys, name, elementOf(component), null);
            } else {
                keys.put(name, new Key(ResolvableType.forType(component.getGenericType()), part));
            }
        }
    }

    private static Class<?> elementOf(RecordComponent list) {
        return ResolvableType.forType(list.getGenericType()).getGeneric(0).resolve(Object.class);
    }

    private static Object defaults(String prefix, Class<?> type) {
        return new Binder(new MapConfigurationPropertySource(Map.of())).bindOrCreate(prefix, type);
    }

    private static String kebab(String name) {
        return name.replaceAll("([A-Z])", "-$1").toLowerCase(java.util.Locale.ROOT);
    }

    @Test
    void everyKeyIsDocumentedAndEveryDocumentedKeyExists() throws Exception {
        assertThat(documented().keySet()).containsExactlyInAnyOrderElementsOf(keys().keySet());
    }

    @Test
    void everyDefaultThatIsDocumentedIsTheOneThatHolds() throws Exception {
        Map<String, String> rows = documented();
        Map<String, String> wrong = new TreeMap<>();
        keys().forEach((name, key) -> {
            String cell = rows.getOrDefault(name, "");
            if (!cell.equals(REQUIRED) && !isWorth(cell, key)) {
                wrong.put(name, "the page says \"" + cell + "\", it is " + key.value());
            }
        });
        assertThat(wrong).isEmpty();
    }

    @Test
    void whatIsRequiredHasNoDefault() throws Exception {
        Map<String, String> rows = documented();
        List<String> required = rows.keySet().stream()
                .filter(name -> rows.get(name).equals(REQUIRED))
                .map(name -> name.replace("quorate.peers.", "quorate.peers[0]."))
                .toList();
        assertThat(required).containsExactlyInAnyOrderElementsOf(MINIMAL.keySet());
    }

    private static boolean isWorth(String cell, Key key) {
        if (cell.isEmpty()) {
            return key.value() == null || key.value().equals("") || key.value().equals(List.of());
        }
        Map<String, Object> said = new HashMap<>(Map.of("said", cell));
        Object bound = new Binder(new MapConfigurationPropertySource(said))
                .bind("said", Bindable.of(key.type()))
                .get();
        return bound.equals(key.value());
    }
}
