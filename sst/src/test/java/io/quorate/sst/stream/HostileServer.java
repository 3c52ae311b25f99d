// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Stands between a client and its server. It answers a statement of one's choice by asking for a file of the client's,
 * as the protocol lets every server do ("LOCAL INFILE Request" in MySQL's documentation of the protocol), and keeps
 * what it is given.
 */
final class HostileServer implements AutoCloseable {
    private static final int COM_QUERY = 3;
    private static final int LOCAL_INFILE = 0xfb;
    private static final byte[] OK = {0, 0, 0, 2, 0, 0, 0};

    private final ServerSocket listening = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
    private final int behind;
    private final byte[] file;
    private final BlockingQueue<String> given = new LinkedBlockingQueue<>();
    private volatile String statement = "no statement is like this";

    /** @param behind the port of the true server */
    HostileServer(int behind, Path file) throws IOException {
        this.behind = behind;
        this.file = file.toString().getBytes(StandardCharsets.UTF_8);
        start(() -> {
            while (true) {
                connected(listening.accept());
            }
        });
    }

    int port() {
        return listening.getLocalPort();
    }

    /** From now on it asks when it sees a statement with this text. */
    void asksAt(String text) {
        statement = text;
    }

    /** What it was given when it asked. */
    String given() throws InterruptedException {
        return given.poll(60, TimeUnit.SECONDS);
    }

    private interface Work {
        void run() throws IOException;
    }

    private static void start(Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (IOException e) {
                // The client or the server has ended the connection.
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    private void connected(Socket client) throws IOException {
        Socket server = new Socket(InetAddress.getLoopbackAddress(), behind);
        start(() -> {
            try (client) {
                server.getInputStream().transferTo(client.getOutputStream());
            }
        });
        start(() -> {
            try (server) {
                DataInputStream in = new DataInputStream(client.getInputStream());
                OutputStream out = server.getOutputStream();
                while (true) {
                    byte[] header = in.readNBytes(4);
                    byte[] packet = in.readNBytes(length(header));
                    if (packet.length > 0
                            && packet[0] == COM_QUERY
                            && new String(packet, StandardCharsets.ISO_8859_1).contains(statement)) {
                        ask(in, client.getOutputStream());
                    } else {
                        out.write(header);
                        out.write(packet);
                    }
                }
            }
        });
    }

    private static int length(byte[] header) throws IOException {
        if (header.length < 4) {
            throw new IOException("the end");
        }
        return (header[0] & 0xff) | (header[1] & 0xff) << 8 | (header[2] & 0xff) << 16;
    }

    private void ask(InputStream in, OutputStream out) throws IOException {
        ByteArrayOutputStream request = new ByteArrayOutputStream();
        request.write(LOCAL_INFILE);
        request.write(file);
        send(out, 1, request.toByteArray());
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        int number = 1;
        while (true) {
            byte[] header = in.readNBytes(4);
            byte[] packet = in.readNBytes(length(header));
            number = header[3];
            if (packet.length == 0) {
                break;
            }
            content.write(packet);
        }
        given.add(content.toString(StandardCharsets.ISO_8859_1));
        send(out, number + 1, OK);
    }

    private static void send(OutputStream out, int number, byte[] packet) throws IOException {
        out.write(new byte[] {(byte) packet.length, 0, 0, (byte) number});
        out.write(packet);
        out.flush();
    }

    @Override
    public void close() {
        try {
            listening.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
