// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.Random;
import java.util.stream.IntStream;

/** TCP ports of the loopback address. */
public final class Ports {
    /** Ports are looked for below the range from which the system hands out ports to outgoing connections. */
    private static final int BLOCK_FIRST = 13_000;

    private static final int BLOCK_LAST = 31_000;
    private static final int TRIES = 200;

    private Ports() {}

    /** A port that is free now, any of thousands. Nobody reserves it: start what will use it soon. */
    public static int free() {
        Random random = new Random();
        for (int i = 0; i < TRIES; i++) {
            int port = random.nextInt(BLOCK_FIRST, BLOCK_LAST);
            if (isFree(port)) {
                return port;
            }
        }
        throw new SandboxException("no free port found between " + BLOCK_FIRST + " and " + BLOCK_LAST);
    }

    /**
     * A base port P, a multiple of 500, such that all ports P+offset are free now.
     *
     * @param offsets relative to the base
     */
    public static int freeBlock(int... offsets) {
        Random random = new Random();
        int blocks = (BLOCK_LAST - BLOCK_FIRST) / 500;
        for (int i = 0; i < TRIES; i++) {
            int base = BLOCK_FIRST + 500 * random.nextInt(blocks);
            if (IntStream.of(offsets).allMatch(offset -> isFree(base + offset))) {
                return base;
            }
        }
        throw new SandboxException("no block of free ports found between " + BLOCK_FIRST + " and " + BLOCK_LAST
                + "; name one with --base-port");
    }

    /** Whether a server could listen there now. */
    public static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket()) {
            // As mysqld and Netty do it: the remains of closed connections are no obstacle.
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
