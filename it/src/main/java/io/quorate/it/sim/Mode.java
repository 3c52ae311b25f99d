// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

/** How clients commit. */
enum Mode {
    /** On their own server, before anybody else knows. */
    ASYNC,
    /** At once too, but they hear OK only when the order has their transaction and it has won. */
    AFTER_SYNC,
    /** They prepare, and commit by the verdict. What they read is always a state of the order. */
    CERTIFIED,
    /**
     * Some this way, some that. Who is certified may read what others committed and is undone, and write what follows
     * from it; that all nodes end equal is promised all the same.
     */
    MIXED
}
