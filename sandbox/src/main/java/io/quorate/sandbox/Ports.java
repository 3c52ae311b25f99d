// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * TCP ports of the loopback address. They are taken from below the range from which the system gives ports to outgoing
 * connections, and single ports from another range than blocks. For the ports of a cluster are free while a part of it
 * is down, and a server that a test starts meanwhile must not take them.
 */
public final class Ports {
    private static final int BLOCK_FIRST = 16_000;
    private static final int BLOCK_LAST = 26_000;
    private static final int BLOCK_SIZE = 500;
    private static final int SINGLE_LAST = 32_000;
    private static final int TRIES = 200;

    /** Locked until this program ends, by base port. */
    private static final Map<Integer, FileChannel> RESERVED = new LinkedHashMap<>();

    private Ports() {}

    /** A port that is free now, any of thousands. It is not reserved: start its user soon. */
    public static int free() {
        Random random = new Random();
        for (int i = 0; i < TRIES; i++) {
            int port = random.nextInt(BLOCK_LAST, SINGLE_LAST);
            if (isFree(port)) {
                return port;
            }
        }
        throw new SandboxException("no free port found between " + BLOCK_LAST + " and " + SINGLE_LAST);
    }

    /**
     * A base port P, a multiple of 500, such that all ports P+offset are free now. Until this program ends no other
     * program gets the same answer.
     *
     * @param offsets relative to the base, below 500
     */
    public static synchronized int freeBlock(int... offsets) {
        for (int base : RESERVED.keySet()) {
            if (isFree(base, offsets)) {
                return base;
            }
        }
        Random random = new Random();
        int blocks = (BLOCK_LAST - BLOCK_FIRST) / BLOCK_SIZE;
        for (int i = 0; i < TRIES; i++) {
            int base = BLOCK_FIRST + BLOCK_SIZE * random.nextInt(blocks);
            if (!RESERVED.containsKey(base) && isFree(base, offsets) && reserve(base)) {
                return base;
            }
        }
        throw new SandboxException("no block of free ports found between " + BLOCK_FIRST + " and " + BLOCK_LAST
                + "; name one with --base-port");
    }

    private static boolean isFree(int base, int... offsets) {
        return IntStream.of(offsets).allMatch(offset -> isFree(base + offset));
    }

    /** @return false when another program has reserved it */
    private static boolean reserve(int base) {
        Path file = Path.of(System.getProperty("java.io.tmpdir"), "quorate-ports-" + base + ".lock");
        FileChannel channel = null;
        boolean locked = false;
        try {
            channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            locked = channel.tryLock() != null;
            if (locked) {
                RESERVED.put(base, channel);
            }
            return locked;
        } catch (IOException e) {
            // Another user's file: without the lock, only what is free counts.
            return true;
        } finally {
            if (channel != null && !locked) {
                close(channel);
            }
        }
    }

    private static void close(FileChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Whether a server could listen there now. */
    public static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket()) {
            // As mysqld and Netty do it, so that the remains of closed connections are no obstacle.
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
