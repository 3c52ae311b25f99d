// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.transport.Lives;
import io.quorate.transport.TransportSettings.Peer;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * What nodes ask of one another about who is a member: a byte that tells it from a transfer, then JSON; and answered by
 * JSON.
 *
 * @param what asked for
 * @param member whom it is about; of LEAVE the name alone counts
 * @param directory of whoever asks to be a member
 */
record MemberRequest(What what, Peer member, String directory) {
    private static final byte MARK = 64;

    enum What {
        /** Who is there? */
        LIST,
        /** Make it a member; the leader's to answer, when it is done. */
        JOIN,
        /** Take it out; likewise. */
        LEAVE
    }

    /**
     * The answer.
     *
     * @param node who answers
     * @param leader whom it takes for the leader, null when it knows none
     * @param members as it knows them
     * @param lives of the cluster, as it knows them
     * @param directories by which data directory, and up to which generation, it knows each node it has heard of
     * @param foundedEmpty whether its server began with no tables; null when it can't tell
     * @param report what it says of itself
     * @param refusal why it was not done, null when it was
     */
    record Answer(
            String node,
            String leader,
            List<Peer> members,
            Lives lives,
            Map<String, String> directories,
            Boolean foundedEmpty,
            MemberReport report,
            String refusal) {
        Peer member(String name) {
            return members.stream()
                    .filter(m -> m.name().equals(name))
                    .findFirst()
                    .orElse(null);
        }
    }

    static boolean isOne(byte[] bytes) {
        return bytes.length > 1 && bytes[0] == MARK;
    }

    byte[] encode(JsonMapper json) {
        byte[] body = json.writeValueAsBytes(this);
        byte[] request = new byte[1 + body.length];
        request[0] = MARK;
        System.arraycopy(body, 0, request, 1, body.length);
        return request;
    }

    static MemberRequest decode(byte[] bytes, JsonMapper json) {
        try {
            return json.readValue(bytes, 1, bytes.length - 1, MemberRequest.class);
        } catch (JacksonException e) {
            throw new QuorateException(ErrorCode.MALFORMED_MESSAGE, "a request of an unknown form", e);
        }
    }

    static Answer answer(InputStream in, JsonMapper json) throws IOException {
        try (in) {
            return json.readValue(in.readAllBytes(), Answer.class);
        } catch (JacksonException e) {
            throw new IOException("an answer of an unknown form", e);
        }
    }
}
