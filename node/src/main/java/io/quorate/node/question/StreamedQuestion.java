// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.question;

/**
 * One whose answer is a stream of bytes, however long, with something in front of it.
 *
 * @param <H> what comes in front
 */
public interface StreamedQuestion<H> extends Question<H> {}
