// SPDX-License-Identifier: Apache-2.0
/**
 * The raw row events of a writeset's payload, read: table maps, row images, and what undoes them. Nothing here knows SQL
 * or a connection.
 */
package io.quorate.core.binlog;
