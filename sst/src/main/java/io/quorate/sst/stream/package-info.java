// SPDX-License-Identifier: Apache-2.0
/** A bulk copy by statements: here what of a server isn't rows, read at the donor and made again at the joiner. */
package io.quorate.sst.stream;
