// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.http;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request for a probe, and its answer. It is read until the empty line after its headers, answered, and closed once
 * the other side has closed too, since what it still sends would otherwise take the answer from it.
 */
final class ProbeConnection {
    /** More than the headers of proxies and orchestrators have. */
    static final int REQUEST_BYTES_MAX = 4096;

    private static final Logger log = LoggerFactory.getLogger(ProbeConnection.class);

    private final SocketChannel channel;
    private final SelectionKey key;
    private final long endNanos;
    private final ByteBuffer request = ByteBuffer.allocate(REQUEST_BYTES_MAX);
    private ByteBuffer answer;

    ProbeConnection(SocketChannel channel, SelectionKey key, long endNanos) {
        this.channel = channel;
        this.key = key;
        this.endNanos = endNanos;
    }

    boolean isOpen() {
        return channel.isOpen();
    }

    boolean isOver(long nanos) {
        return nanos - endNanos >= 0;
    }

    /** Does what can be done without waiting. */
    void proceed(ProbeServer.Answers answers) {
        try {
            if (answer == null) {
                read(answers);
            } else if (answer.hasRemaining()) {
                write();
            } else {
                discard();
            }
        } catch (IOException e) {
            log.debug("a probe is gone", e);
            close();
        }
    }

    private void read(ProbeServer.Answers answers) throws IOException {
        int read = channel.read(request);
        String text = new String(request.array(), 0, request.position(), StandardCharsets.ISO_8859_1);
        if (text.contains("\r\n\r\n") || text.contains("\n\n")) {
            answer = answered(text, answers);
            write();
        } else if (!request.hasRemaining()) {
            answer = response("431 Request Header Fields Too Large", "at most " + REQUEST_BYTES_MAX + " bytes", true);
            write();
        } else if (read < 0) {
            close();
        }
    }

    private static ByteBuffer answered(String text, ProbeServer.Answers answers) {
        String[] line = text.substring(0, text.indexOf('\n')).strip().split(" ");
        boolean head = line[0].equals("HEAD");
        if (line.length < 2 || !(head || line[0].equals("GET"))) {
            return response("405 Method Not Allowed\r\nAllow: GET, HEAD", "this port is for probes: GET or HEAD", true);
        }
        int query = line[1].indexOf('?');
        ProbeServer.Answer said = answers.answer(query < 0 ? line[1] : line[1].substring(0, query));
        if (said == null) {
            return response("404 Not Found", "here are /livez, /readyz, /ready/read and /ready/write", !head);
        }
        return response(said.well() ? "200 OK" : "503 Service Unavailable", said.text(), !head);
    }

    private static ByteBuffer response(String status, String text, boolean withBody) {
        String response = "HTTP/1.1 " + status + "\r\nContent-Type: text/plain;charset=utf-8\r\nCache-Control: no-store"
                + "\r\nConnection: close\r\nContent-Length: " + (text.length() + 1) + "\r\n\r\n"
                + (withBody ? text + "\n" : "");
        return ByteBuffer.wrap(response.getBytes(StandardCharsets.US_ASCII));
    }

    private void write() throws IOException {
        channel.write(answer);
        if (answer.hasRemaining()) {
            key.interestOps(SelectionKey.OP_WRITE);
        } else {
            channel.shutdownOutput();
            key.interestOps(SelectionKey.OP_READ);
        }
    }

    private void discard() throws IOException {
        request.clear();
        if (channel.read(request) < 0) {
            close();
        }
    }

    void close() {
        try {
            // Takes the key with it.
            channel.close();
        } catch (IOException e) {
            log.debug("a probe's connection", e);
        }
    }
}
