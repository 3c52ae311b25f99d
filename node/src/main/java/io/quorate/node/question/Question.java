// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.question;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * What one node asks another: a record, none of whose components is null unless it is marked {@code @Nullable}. Each
 * belongs to a sealed family of the room that answers it.
 *
 * @param <A> the answer, a type that JSON can carry
 */
public interface Question<A> {
    /**
     * What a question is called between nodes, whatever its class is called: 1 to 100 letters, digits, dots or dashes.
     */
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.TYPE)
    @interface Name {
        String value();
    }
}
