// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.question;

import io.quorate.sst.stream.Omitted;
import io.quorate.transport.Lives;
import java.lang.reflect.Constructor;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.json.JsonMapper;

/** Draws values at random, of whatever type the components of questions and answers have. */
final class Samples {
    private final JsonMapper json;
    private final Random random;

    Samples(JsonMapper json, long seed) {
        this.json = json;
        this.random = new Random(seed);
    }

    Object of(JavaType type) {
        Class<?> raw = type.getRawClass();
        if (raw == Lives.class) {
            return random.nextBoolean() ? new Lives(List.of()) : new Lives(List.of("2-0123abcd", "3-4567cdef"));
        } else if (raw == Omitted.class) {
            return new Omitted(List.of("s.*", "*.t"), flip(), flip(), flip(), flip(), flip());
        } else if (raw.isRecord()) {
            return record(raw);
        } else if (raw == List.class) {
            List<Object> list = new ArrayList<>();
            for (int i = random.nextInt(3); i >= 0; i--) {
                list.add(of(type.getContentType()));
            }
            return list;
        } else if (raw == Map.class) {
            Map<Object, Object> map = new LinkedHashMap<>();
            for (int i = random.nextInt(3); i >= 0; i--) {
                map.put(of(type.getKeyType()), of(type.getContentType()));
            }
            return map;
        }
        return plain(raw);
    }

    private boolean flip() {
        return random.nextBoolean();
    }

    private Object plain(Class<?> type) {
        if (type == String.class) {
            return List.of("", "a.b", "späť \"quoted\" \\ \u0000 \n", "後", "null")
                            .get(random.nextInt(5))
                    + random.nextInt(1000);
        } else if (type == long.class || type == Long.class) {
            return flip() ? random.nextLong() : Long.MAX_VALUE;
        } else if (type == int.class) {
            return random.nextInt();
        } else if (type == boolean.class || type == Boolean.class) {
            return flip();
        } else if (type.isEnum()) {
            return type.getEnumConstants()[random.nextInt(type.getEnumConstants().length)];
        } else if (type == UUID.class) {
            return new UUID(random.nextLong(), random.nextLong());
        }
        throw new IllegalArgumentException("no sample of " + type + "; add it here");
    }

    private Object record(Class<?> type) {
        RecordComponent[] components = type.getRecordComponents();
        Object[] values = Arrays.stream(components).map(this::value).toArray();
        try {
            Constructor<?> constructor = type.getDeclaredConstructor(
                    Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new));
            constructor.setAccessible(true);
            return constructor.newInstance(values);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(type + " of " + Arrays.toString(values), e);
        }
    }

    private Object value(RecordComponent component) {
        boolean absent = component.getAnnotatedType().isAnnotationPresent(Nullable.class) && flip();
        return absent ? null : of(json.constructType(component.getGenericType()));
    }
}
