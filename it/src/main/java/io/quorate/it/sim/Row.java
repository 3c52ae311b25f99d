// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/** A row of a simulated table: 64-bit integers, some of them NULL. */
record Row(List<Long> values) {
    static Row of(Long... values) {
        return new Row(Collections.unmodifiableList(Arrays.asList(values)));
    }

    Long get(int column) {
        return values.get(column);
    }

    Row with(int column, Long value) {
        List<Long> changed = new ArrayList<>(values);
        changed.set(column, value);
        return new Row(Collections.unmodifiableList(changed));
    }
}
