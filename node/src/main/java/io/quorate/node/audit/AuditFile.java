// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.audit;

import io.quorate.transport.DurableFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/** {@code audit.json} in the data directory: the state of an audit, with which it goes on after a restart. */
final class AuditFile {
    private static final Logger log = LoggerFactory.getLogger(AuditFile.class);
    private static final String NAME = "audit.json";

    private final Path file;
    private final JsonMapper json;

    AuditFile(Path directory, JsonMapper json) {
        this.file = directory.resolve(NAME);
        this.json = json;
    }

    /**
     * Reads the state; null when there is none. A file that is unreadable is put aside: another audit finds out again
     * what it said.
     */
    AuditState read() throws IOException {
        if (!Files.exists(file)) {
            return null;
        }
        try {
            return json.readValue(Files.readAllBytes(file), AuditState.class);
        } catch (JacksonException e) {
            log.warn("{} is unreadable and is put aside: {}", file, e.getMessage());
            Files.move(file, file.resolveSibling(NAME + ".damaged"), StandardCopyOption.REPLACE_EXISTING);
            return null;
        }
    }

    void write(AuditState state) {
        try {
            DurableFile.write(file, json.writeValueAsString(state));
        } catch (IOException e) {
            log.warn("the audit's state could not be kept: {}", e.toString());
        }
    }
}
