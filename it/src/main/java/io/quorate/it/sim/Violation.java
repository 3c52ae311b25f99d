// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

/** Something that must never happen has happened. */
final class Violation extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Violation(String what) {
        super(what);
    }
}
