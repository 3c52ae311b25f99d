// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

/** Undoes something when this program is ended from outside (Ctrl-C) before it can do so itself. */
final class OnExit {
    private final Thread hook;

    private OnExit(Thread hook) {
        this.hook = hook;
    }

    /** Runs {@code undo} when the program ends; from then on the program starts no more processes. */
    static OnExit run(Runnable undo) {
        Thread hook = new Thread(
                () -> {
                    OwnedProcess.startNoMore();
                    undo.run();
                },
                "on-exit");
        Runtime.getRuntime().addShutdownHook(hook);
        return new OnExit(hook);
    }

    /** It need not be undone any more. */
    void forget() {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The program is ending already, and the undo is running.
            return;
        }
    }
}
