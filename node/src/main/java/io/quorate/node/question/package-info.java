// SPDX-License-Identifier: Apache-2.0
/**
 * What nodes ask one another outside the order. A question is a record, the type of its answer stands in its type
 * parameter; the rooms own their questions, {@link io.quorate.node.question.Answers} has who answers them, {@link
 * io.quorate.node.question.Questions} asks.
 */
package io.quorate.node.question;
