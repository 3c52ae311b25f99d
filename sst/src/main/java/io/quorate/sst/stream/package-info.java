// SPDX-License-Identifier: Apache-2.0
/**
 * A full copy by statements: everything of a server that isn't rows, and the rows, are read at the donor and made again
 * at the joiner.
 */
package io.quorate.sst.stream;
