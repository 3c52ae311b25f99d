// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

/** A table's full name. */
public record TableName(String schema, String table) {
    @Override
    public String toString() {
        return schema + "." + table;
    }
}
