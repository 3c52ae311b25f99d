// SPDX-License-Identifier: Apache-2.0
/**
 * Bulk transfer of a whole data set from a donor's server to a joiner's. Method CLONE is MySQL's own plugin; what the copy holds
 * that the order doesn't know yet is the applier's to sort out.
 */
package io.quorate.sst;
