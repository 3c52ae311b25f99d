// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.thread;

/** Is told what ended a thread that should have gone on: {@link OwnedThread}. */
public interface FaultHandler {
    /** Called on the thread that ends, as the last thing it does. Must neither block nor throw. */
    void ended(String thread, Throwable cause);

    /** Whether the thread may begin anew after this failure; asked once for each. Must neither block nor throw. */
    default boolean mayGoOn(String thread, Throwable cause) {
        return false;
    }
}
