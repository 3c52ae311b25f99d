// SPDX-License-Identifier: Apache-2.0
/** Whether the rows of servers are the same: checksums of stretches of tables, single rows, and putting rows right. */
package io.quorate.sst.audit;
