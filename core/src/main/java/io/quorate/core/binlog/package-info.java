// SPDX-License-Identifier: Apache-2.0
/**
 * Reads the raw row events of a writeset's payload: table maps, row images, and the events that undo them. Nothing here
 * knows SQL or a connection.
 */
package io.quorate.core.binlog;
