// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

/**
 * Own transactions that this server's database does not have at its position, though their GTIDs may be among the executed
 * ones: a crash took them, or {@link TailRepair} did. Those that passed are applied from the order like another node's.
 *
 * @param after GTID number; what comes up to it is in the database
 * @param upTo the last number; what comes after it was committed since, and is in the database
 */
public record TakenBack(long after, long upTo) {
    public static final TakenBack NONE = new TakenBack(0, 0);

    public boolean contains(long number) {
        return number > after && number <= upTo;
    }
}
