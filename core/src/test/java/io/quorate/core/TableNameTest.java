// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TableNameTest {
    @Test
    void severalAreSeparatedByCommas() {
        assertThat(TableName.parseAll("shop.item")).containsExactly(new TableName("shop", "item"));
        assertThat(TableName.parseAll("shop.item, shop.order ,shop.item"))
                .containsExactlyInAnyOrder(new TableName("shop", "item"), new TableName("shop", "order"));
    }

    @Test
    void aNameMayHaveADotACommaOrABacktickInIt() {
        assertThat(TableName.parseAll("shop.`a,b`,`my.shop`.`c``,d`"))
                .containsExactlyInAnyOrder(new TableName("shop", "a,b"), new TableName("my.shop", "c`,d"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "item", "shop.item,", ",shop.item", "shop.`a,b", "a.b.c"})
    void whatIsNoNameIsRefusedWithTheWayOut(String text) {
        assertThatThrownBy(() -> TableName.parseAll(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("goes into backticks");
    }
}
