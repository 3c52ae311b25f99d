// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.question;

/**
 * A question whose answer is a head and then a stream of bytes of any length.
 *
 * @param <H> type of the head
 */
public interface StreamedQuestion<H> extends Question<H> {}
