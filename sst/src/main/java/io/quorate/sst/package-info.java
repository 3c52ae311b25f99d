// SPDX-License-Identifier: Apache-2.0
/** Bulk transfer of a whole data set from a donor to a joiner. Not there yet: a node joins with the same data for now. */
package io.quorate.sst;
