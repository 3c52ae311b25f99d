// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.question;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * What one node asks another: a record, none of whose components is null unless it is marked {@code @Nullable}. Each
 * question belongs to a sealed family in the room that answers it.
 *
 * @param <A> type of the answer, which must be one that JSON can carry
 */
public interface Question<A> {
    /** The name of a question between nodes, whatever its class is called: 1 to 100 letters, digits, dots or dashes. */
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.TYPE)
    @interface Name {
        String value();
    }

    /** Marks a question that is answered to a node that is no member: it needs the answer to become one. */
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.TYPE)
    @interface OfJoiners {}

    /** How many bytes the answer may have, or the head of a streamed one; {@link #ANSWER_BYTES_MAX} without it. */
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.TYPE)
    @interface AnswerBytesMax {
        int value();
    }

    /** What any answer may have that isn't known to have more. */
    int ANSWER_BYTES_MAX = 1 << 20;
}
