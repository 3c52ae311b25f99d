// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

/**
 * The demo's result, as {@code quorate demo --json} prints it last.
 *
 * @param transactions committed by the demo's clients on all nodes
 * @param ordered writesets that got a place in the total order meanwhile
 * @param converged whether all nodes hold the same rows
 * @param seconds of writing
 * @param tps transactions per second, all nodes together
 * @param applyLagMillisP95 from a commit's OK until it is visible on another node; P50 likewise
 * @param catchUpMillis from the end of writing until every node had everything
 * @param retries transactions repeated after a deadlock or lock wait
 * @param seed of the writers' choices
 */
record DemoResult(
        int nodes,
        long transactions,
        long ordered,
        boolean converged,
        double seconds,
        double tps,
        long applyLagMillisP50,
        long applyLagMillisP95,
        long catchUpMillis,
        int tables,
        long rows,
        long retries,
        long seed) {}
