// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

/**
 * What may go wrong, as probabilities and numbers.
 *
 * @param loss of a message
 * @param duplicate of a message
 * @param crashes of services and databases
 * @param cuts of a node from the others
 * @param elections that nobody needed
 * @param delayMicrosMax of a message
 * @param captureMicrosMax from commit to capture
 * @param stepMicrosMax of a statement
 */
record Faults(
        double loss,
        double duplicate,
        int crashes,
        int cuts,
        int elections,
        int delayMicrosMax,
        int captureMicrosMax,
        int stepMicrosMax) {
    static final Faults NONE = new Faults(0, 0, 0, 0, 0, 2000, 300, 200);

    Faults without(String what) {
        return switch (what) {
            case "loss" -> new Faults(0, 0, crashes, cuts, elections, delayMicrosMax, captureMicrosMax, stepMicrosMax);
            case "crashes" ->
                new Faults(loss, duplicate, 0, cuts, elections, delayMicrosMax, captureMicrosMax, stepMicrosMax);
            case "cuts" ->
                new Faults(loss, duplicate, crashes, 0, elections, delayMicrosMax, captureMicrosMax, stepMicrosMax);
            case "elections" ->
                new Faults(loss, duplicate, crashes, cuts, 0, delayMicrosMax, captureMicrosMax, stepMicrosMax);
            default -> throw new IllegalArgumentException(what);
        };
    }
}
