// SPDX-License-Identifier: Apache-2.0

/** Who is a member, how far each of them is, and what this node reports about itself. */
package io.quorate.node.member;
