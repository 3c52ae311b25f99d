// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.http;

import io.quorate.node.QuorateNode;
import io.quorate.sandbox.Ports;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** The whole service as an arbitrator in the test's own process, asked byte by byte. */
public final class RunningService implements AutoCloseable {
    private static final int ANSWER_MILLIS_MAX = 60_000;

    final int port;
    final int probePort;
    private final Path data;
    private final ConfigurableApplicationContext context;

    /**
     * @param status of the answer
     * @param text all of it, headers included
     */
    record Answered(int status, String text) {}

    public RunningService(Path data, String... more) {
        this.data = data;
        int block = Ports.freeBlock(0, 1, 2, 3);
        this.port = block + 2;
        this.probePort = block + 3;
        List<String> arguments = new ArrayList<>(arguments(data, block));
        if (Arrays.stream(more).noneMatch(each -> each.startsWith("--spring.jmx"))) {
            arguments.add("--spring.jmx.enabled=false");
        }
        arguments.add("--server.port=" + port);
        arguments.add("--quorate.http.probe-port=" + probePort);
        arguments.addAll(Arrays.asList(more));
        this.context = SpringApplication.run(QuorateNode.class, arguments.toArray(String[]::new));
    }

    /** Those that every node needs. */
    static List<String> arguments(Path data, int block) {
        return List.of(
                "--quorate.cluster=http",
                "--quorate.node=n1",
                "--quorate.arbitrator=true",
                "--quorate.data-dir=" + data,
                "--quorate.peers[0].name=n1",
                "--quorate.peers[0].host=127.0.0.1",
                "--quorate.peers[0].raft-port=" + block,
                "--quorate.peers[0].channel-port=" + (block + 1));
    }

    /** The token that the node has drawn. */
    String token() throws IOException {
        return Files.readString(data.resolve("http.token")).strip();
    }

    String bearer() throws IOException {
        return "Authorization: Bearer " + token();
    }

    /** An address of this host that isn't loopback; null where there is none. */
    static InetAddress outerAddress() throws SocketException {
        return NetworkInterface.networkInterfaces()
                .flatMap(NetworkInterface::inetAddresses)
                .filter(address -> address instanceof java.net.Inet4Address && !address.isLoopbackAddress())
                .findFirst()
                .orElse(null);
    }

    /** The answer to a GET over loopback. */
    Answered get(String path, String... headers) throws IOException {
        return send("127.0.0.1", port, "GET", path, "", headers);
    }

    /** The answer to a POST of JSON over loopback. */
    Answered post(String path, String json, String... headers) throws IOException {
        return send("127.0.0.1", port, "POST", path, json, headers);
    }

    /** @param headers without {@code Host} among them it is the address */
    static Answered send(String address, int port, String method, String path, String body, String... headers)
            throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        StringBuilder request = new StringBuilder(method + " " + path + " HTTP/1.1\r\nConnection: close\r\n");
        if (Arrays.stream(headers).noneMatch(header -> header.startsWith("Host:"))) {
            request.append("Host: ").append(address).append(':').append(port).append("\r\n");
        }
        if (bytes.length > 0) {
            request.append("Content-Type: application/json\r\nContent-Length: ")
                    .append(bytes.length)
                    .append("\r\n");
        }
        for (String header : headers) {
            request.append(header).append("\r\n");
        }
        try (Socket socket = open(address, port, request.append("\r\n").toString())) {
            socket.getOutputStream().write(bytes);
            socket.getOutputStream().flush();
            return answer(socket);
        }
    }

    /** A connection on which this has been sent. */
    static Socket open(String address, int port, String sent) throws IOException {
        Socket socket = new Socket();
        socket.connect(new InetSocketAddress(address, port), ANSWER_MILLIS_MAX);
        socket.setSoTimeout(ANSWER_MILLIS_MAX);
        socket.getOutputStream().write(sent.getBytes(StandardCharsets.US_ASCII));
        socket.getOutputStream().flush();
        return socket;
    }

    /** What comes until the other side closes. */
    static Answered answer(Socket socket) throws IOException {
        ByteArrayOutputStream came = new ByteArrayOutputStream();
        try {
            socket.getInputStream().transferTo(came);
        } catch (SocketException e) {
            // Closed without having read all that was sent; what has come before that counts.
        }
        String text = came.toString(StandardCharsets.UTF_8);
        return new Answered(text.isEmpty() ? 0 : Integer.parseInt(text.split(" ", 3)[1]), text);
    }

    @Override
    public void close() {
        context.close();
    }
}
