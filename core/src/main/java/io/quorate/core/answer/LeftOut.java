// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.answer;

import java.util.List;
import java.util.Map;

/** The defaults of fields that the other side's version doesn't have. */
final class LeftOut {
    private LeftOut() {}

    static String orEmpty(String text) {
        return text == null ? "" : text;
    }

    static <T> List<T> orEmpty(List<T> list) {
        return list == null ? List.of() : list;
    }

    static <K, V> Map<K, V> orEmpty(Map<K, V> map) {
        return map == null ? Map.of() : map;
    }
}
