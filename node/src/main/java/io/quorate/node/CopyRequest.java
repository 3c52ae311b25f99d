// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.core.ErrorCode;
import io.quorate.core.PeerStreams;
import io.quorate.core.QuorateException;
import java.io.IOException;
import java.io.InputStream;
import java.util.UUID;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/** What a node asks another one whose server it wants to copy: one byte, answered by JSON. */
final class CopyRequest {
    private static final byte MARK = 65;

    /**
     * The answer: the server is ready to be copied.
     *
     * @param host where it is, for another node's server
     * @param server its UUID
     * @param version of MySQL
     * @param reserved GTIDs that are executed there and that no transaction there has
     * @param bytes of its tables with their indexes, as it estimates them
     */
    record Source(String host, int port, UUID server, String version, String reserved, long bytes) {}

    private CopyRequest() {}

    static boolean isOne(byte[] bytes) {
        return bytes.length == 1 && bytes[0] == MARK;
    }

    /**
     * @throws QuorateException as the peer refuses
     * @throws IOException when it can't be reached
     */
    static Source ask(PeerStreams peers, String node, JsonMapper json) throws IOException {
        try (InputStream in = peers.open(node, new byte[] {MARK})) {
            return json.readValue(in.readAllBytes(), Source.class);
        } catch (JacksonException e) {
            throw new QuorateException(ErrorCode.MALFORMED_MESSAGE, node + " answered in an unknown form", e);
        }
    }
}
