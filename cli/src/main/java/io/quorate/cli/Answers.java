// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reads the answers of endpoints, as the records of {@link io.quorate.core.answer}. A node may be newer than this
 * program, or older: fields that a record doesn't have are ignored, and fields that the answer doesn't have get the
 * record's defaults.
 */
public final class Answers {
    private static final JsonMapper JSON = JsonMapper.builder()
            .disable(
                    DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES,
                    DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
            .build();

    private Answers() {}

    /** @throws tools.jackson.core.JacksonException when it is not JSON, or not of that kind */
    public static <T> T read(String body, Class<T> type) {
        return JSON.readValue(body, type);
    }

    static String write(Object value) {
        return JSON.writeValueAsString(value);
    }
}
