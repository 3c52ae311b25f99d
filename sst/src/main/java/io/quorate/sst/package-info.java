// SPDX-License-Identifier: Apache-2.0
/**
 * Full copies of all data of a donor's server to a joiner's. Method CLONE is MySQL's own plugin; transactions in the
 * copy that the order doesn't have yet are the applier's task.
 */
package io.quorate.sst;
