// SPDX-License-Identifier: Apache-2.0
/**
 * What nodes ask one another outside the order. A question is a record; its type parameter is the type of its answer.
 * Each room has its own questions; {@link io.quorate.node.question.Answers} finds who answers one, {@link
 * io.quorate.node.question.Questions} asks.
 */
package io.quorate.node.question;
