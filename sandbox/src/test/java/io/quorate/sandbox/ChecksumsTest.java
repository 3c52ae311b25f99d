// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.sandbox.Checksums.Content;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ChecksumsTest {
    private final Map<String, Map<String, Content>> contents = new LinkedHashMap<>();

    @Test
    void agreeWhereAllIsTheSame() {
        contents.put("n1", Map.of("d.t", new Content(3, "77", "CREATE")));
        contents.put("n2", Map.of("d.t", new Content(3, "77", "CREATE")));
        Checksums.Comparison comparison = Checksums.compareContents(contents);
        assertThat(comparison).isEqualTo(new Checksums.Comparison(1, 3, java.util.List.of()));
        assertThat(comparison.equal()).isTrue();
    }

    @Test
    void nameTheTableAndTheNodesThatDiffer() {
        contents.put("n1", Map.of("d.t", new Content(3, "77", "CREATE"), "d.u", new Content(1, "5", "CREATE")));
        contents.put("n2", Map.of("d.t", new Content(3, "78", "CREATE"), "d.u", new Content(1, "5", "CREATE")));
        assertThat(Checksums.compareContents(contents).differences())
                .containsExactly("table d.t differs: n1 has 3 rows, 77; n2 has 3 rows, 78");
    }

    @Test
    void nameATableThatIsMissing() {
        contents.put("n1", Map.of());
        contents.put("n2", Map.of("d.t", new Content(0, "0", "CREATE")));
        assertThat(Checksums.compareContents(contents).differences())
                .singleElement()
                .asString()
                .contains("n1 lacks it; n2 has 0 rows");
    }

    @Test
    void seeADefinitionThatDiffersThoughTheRowsDoNot() {
        contents.put("n1", Map.of("d.t", new Content(0, "0", "CREATE\na,")));
        contents.put("n2", Map.of("d.t", new Content(0, "0", "CREATE\nb")));
        assertThat(Checksums.compareContents(contents).differences())
                .singleElement()
                .asString()
                .endsWith("the definitions differ too: n1 a,; n2 b");
    }
}
