// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Stands between a capture and its server, and takes one of the connections without ever answering on it. */
final class SilencingProxy implements AutoCloseable {
    private final ServerSocket listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final int serverPort;
    private final int silent;
    private final List<Socket> open = new CopyOnWriteArrayList<>();
    private final CountDownLatch left = new CountDownLatch(1);
    private int taken;

    /** @param silent which connection nobody answers, counted from 1 */
    SilencingProxy(int serverPort, int silent) throws IOException {
        this.serverPort = serverPort;
        this.silent = silent;
        thread(this::accept);
    }

    int port() {
        return listening.getLocalPort();
    }

    /** Waits until the client has closed the connection that nobody answers. */
    boolean awaitLeft(Duration limit) throws InterruptedException {
        return left.await(limit.toMillis(), TimeUnit.MILLISECONDS);
    }

    private interface Work {
        void run() throws IOException;
    }

    private static void thread(Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (IOException e) {
                // The connection has ended.
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() throws IOException {
        while (true) {
            Socket client = listening.accept();
            open.add(client);
            if (++taken == silent) {
                thread(() -> awaitEnd(client));
                continue;
            }
            Socket server = new Socket(InetAddress.getLoopbackAddress(), serverPort);
            open.add(server);
            thread(() -> pass(client, server));
            thread(() -> pass(server, client));
        }
    }

    private void awaitEnd(Socket client) throws IOException {
        while (client.getInputStream().read() >= 0) {
            // What it asks is not answered.
        }
        left.countDown();
    }

    private static void pass(Socket from, Socket to) throws IOException {
        try (from;
                to;
                InputStream in = from.getInputStream()) {
            in.transferTo(to.getOutputStream());
        }
    }

    @Override
    public void close() throws IOException {
        listening.close();
        for (Socket each : open) {
            each.close();
        }
    }
}
