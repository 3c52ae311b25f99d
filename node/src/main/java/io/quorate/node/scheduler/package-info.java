// SPDX-License-Identifier: Apache-2.0

/** On which node's server the event scheduler is on. */
package io.quorate.node.scheduler;
