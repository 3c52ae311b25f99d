// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

/**
 * Own transactions that this server's database does not have at its position, although their GTIDs may be among the
 * executed ones: a crash took them, or {@link TailRepair} did. Those that passed are applied from the order like
 * foreign ones.
 *
 * @param after GTID number; transactions up to it are in the database
 * @param upTo the last number; later transactions were committed since, and are in the database
 */
public record TakenBack(long after, long upTo) {
    public static final TakenBack NONE = new TakenBack(0, 0);

    public boolean contains(long number) {
        return number > after && number <= upTo;
    }
}
