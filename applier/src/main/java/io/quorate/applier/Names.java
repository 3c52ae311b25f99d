// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import java.nio.charset.StandardCharsets;

/** Names in the text of statements. */
final class Names {
    private Names() {}

    /**
     * A name's bytes in UTF-8, one char each: how a connection of {@link ApplierDataSource} sends it to a server that
     * takes the client's character set for UTF-8.
     */
    static String bytes(String name) {
        return new String(name.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    }
}
