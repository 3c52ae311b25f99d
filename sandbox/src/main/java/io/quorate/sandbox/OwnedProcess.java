// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A long-lived process that we started, possibly in an earlier run of this program. It is identified by its pid
 * together with the time it started (in clock ticks since the machine's boot), so that a pid the system has meanwhile
 * given to another process is never taken for ours, let alone killed.
 *
 * @param startTicks field 22 of {@code /proc/PID/stat}
 */
record OwnedProcess(long pid, long startTicks) {
    private static final long POLL_NANOS = 20_000_000;
    /** A JVM can't set its own umask; its libraries would make files that everybody can read. */
    private static final List<String> PRIVATELY = List.of("/bin/sh", "-c", "umask 077; exec \"$@\"", "quorate");

    private static boolean noMore;

    /** From now on this program starts no process: for a shutdown hook that ends the existing ones. */
    static synchronized void startNoMore() {
        noMore = true;
    }

    /**
     * Starts a program in a session of its own, so that it outlives this one and isn't reached by Ctrl-C.
     *
     * @param output where its standard output and error are appended
     * @param record where it is recorded, at once: it is never seen running and not recorded
     */
    static synchronized OwnedProcess start(
            List<String> command, Map<String, String> environment, Path directory, Path output, Path record) {
        if (noMore) {
            throw new SandboxException("not starting " + command.get(0) + ", as this program is ending");
        }
        List<String> detached = new ArrayList<>(PRIVATELY);
        Path setsid = Command.onPath("setsid");
        if (setsid != null) {
            detached.add(setsid.toString());
        }
        detached.addAll(command);
        ProcessBuilder builder = new ProcessBuilder(detached)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectInput(Path.of("/dev/null").toFile())
                .redirectOutput(ProcessBuilder.Redirect.appendTo(output.toFile()));
        withoutOurs(builder.environment());
        builder.environment().putAll(environment);
        try {
            PrivateFiles.create(output);
            long pid = builder.start().pid();
            OwnedProcess process = new OwnedProcess(pid, startTicks(pid));
            Files.writeString(record, pid + " " + process.startTicks + "\n");
            return process;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start " + command.get(0), e);
        }
    }

    /** A service would take QUORATE_CACHE and the like for its own configuration, with precedence over its file. */
    static void withoutOurs(Map<String, String> environment) {
        environment.keySet().removeIf(name -> name.startsWith("QUORATE_"));
    }

    /** Records this program in a file. */
    static void recordThisProgram(Path record) throws IOException {
        long pid = ProcessHandle.current().pid();
        Files.writeString(record, pid + " " + startTicks(pid) + "\n");
    }

    /** The process recorded in that file, if it still runs. */
    static Optional<OwnedProcess> recordedIn(Path file) {
        try {
            if (!Files.exists(file)) {
                return Optional.empty();
            }
            String[] parts = Files.readString(file).strip().split(" ");
            if (parts.length != 2) {
                return Optional.empty();
            }
            OwnedProcess process = new OwnedProcess(Long.parseLong(parts[0]), Long.parseLong(parts[1]));
            return process.isAlive() ? Optional.of(process) : Optional.empty();
        } catch (NumberFormatException e) {
            return Optional.empty();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    boolean isAlive() {
        return startTicks >= 0 && startTicks(pid) == startTicks;
    }

    /** Sends SIGTERM, and SIGKILL if it is still there after {@code limit}. Returns when it is gone. */
    void stop(Duration limit) {
        signal(false);
        if (!awaitEnd(limit)) {
            kill();
        }
    }

    /** Sends SIGKILL; returns when it is gone. */
    void kill() {
        signal(true);
        if (!awaitEnd(Duration.ofSeconds(30))) {
            throw new SandboxException("process " + pid + " survived SIGKILL for 30 s (stuck in the kernel?)");
        }
    }

    private void signal(boolean force) {
        if (!isAlive()) {
            return;
        }
        ProcessHandle.of(pid).ifPresent(handle -> {
            boolean sent = force ? handle.destroyForcibly() : handle.destroy();
            if (!sent && isAlive()) {
                throw new SandboxException("could not signal process " + pid);
            }
        });
    }

    /** Waits for the end; false when the process is still there after {@code limit}. */
    boolean awaitEnd(Duration limit) {
        long deadline = System.nanoTime() + limit.toNanos();
        Optional<ProcessHandle> handle = ProcessHandle.of(pid);
        while (isAlive() && handle.isPresent()) {
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            try {
                handle.get().onExit().get(Math.min(left, POLL_NANOS), TimeUnit.NANOSECONDS);
            } catch (TimeoutException e) {
                // In short slices: the end of a process that isn't our child, and that nobody reaps, isn't announced.
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return !isAlive();
            } catch (ExecutionException e) {
                throw new SandboxException("cannot wait for process " + pid, e);
            }
        }
        return true;
    }

    /** When that process started, or -1 when there is none, or only its exit status is left. */
    private static long startTicks(long pid) {
        try {
            byte[] bytes = Files.readAllBytes(Path.of("/proc", Long.toString(pid), "stat"));
            String stat = new String(bytes, StandardCharsets.ISO_8859_1);
            // The second field is the program's name in parentheses and may itself hold blanks and parentheses.
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            // Threads that are still ending hold files and ports, even when the first of them is a zombie already.
            boolean ended = fields[0].equals("X") || (fields[0].equals("Z") && Integer.parseInt(fields[17]) <= 1);
            return ended ? -1 : Long.parseLong(fields[19]);
        } catch (IOException e) {
            return -1;
        }
    }
}
