// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.member;

import io.quorate.core.ErrorCode;
import io.quorate.core.FromOutside;
import io.quorate.core.QuorateException;
import io.quorate.transport.DurableFile;
import java.io.IOException;
import java.io.Reader;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file that keeps with which data directories and in which generations members were heard of. It has names of
 * members alone, and of each a few generations, so nobody can make it grow; and a file that is larger than it can have
 * become isn't read.
 */
final class HeardNames {
    private static final Logger log = LoggerFactory.getLogger(HeardNames.class);

    static final int FILE_BYTES_MAX = 1 << 20;
    private static final int ENTRIES_MAX = 4096;
    /** The directories of so many generations of a name are kept; that of the last is what is asked for. */
    private static final int GENERATIONS_MAX = 4;

    /**
     * Between a name and a generation in the key of a data directory, before a name in the key of the highest
     * generation. No name contains it.
     */
    private static final String GENERATION = "#";

    private static final Pattern KEY = Pattern.compile("([A-Za-z0-9._-]{1,63})#([1-9][0-9]{0,6})");

    private final Path file;
    private final Map<String, String> all = new ConcurrentHashMap<>();
    private final AtomicBoolean changed = new AtomicBoolean();

    /** @throws QuorateException DISK when the file is none that this service has written */
    HeardNames(Path file) throws IOException {
        this.file = file;
        if (!Files.exists(file)) {
            return;
        }
        if (Files.size(file) > FILE_BYTES_MAX) {
            throw broken("has " + Files.size(file) + " bytes, at most " + FILE_BYTES_MAX + " can be right");
        }
        Properties kept = new Properties();
        try (Reader in = Files.newBufferedReader(file)) {
            kept.load(in);
        } catch (IOException | IllegalArgumentException e) {
            throw broken("can't be read: " + FromOutside.oneLine(String.valueOf(e.getMessage())));
        }
        kept.stringPropertyNames().forEach(name -> all.put(name, kept.getProperty(name)));
        if (!areOnes(all)) {
            throw broken("has entries that this service doesn't write");
        }
    }

    private QuorateException broken(String what) {
        return new QuorateException(
                ErrorCode.DISK,
                file + " " + what
                        + "; move it away and start this node again, it hears from the others what was there");
    }

    /** Whether these can be the entries of such a file. */
    static boolean areOnes(Map<String, String> entries) {
        return entries.size() <= ENTRIES_MAX
                && entries.entrySet().stream().allMatch(entry -> isOne(entry.getKey(), entry.getValue()));
    }

    private static boolean isOne(String key, String value) {
        if (value == null) {
            return false;
        }
        if (key.startsWith(GENERATION)) {
            return FromOutside.isName(key.substring(1)) && isGeneration(value);
        }
        Matcher parts = KEY.matcher(key);
        return parts.matches()
                && FromOutside.isName(parts.group(1))
                && isGeneration(parts.group(2))
                && Plausible.isDirectory(value);
    }

    private static boolean isGeneration(String text) {
        return text.matches("[0-9]{1,7}") && Integer.parseInt(text) <= Plausible.GENERATION_MAX;
    }

    /** Notes that the member of that name and generation uses that data directory. Waits for no disk. */
    synchronized void directory(String name, int generation, String id) {
        String key = directoryKey(name, generation);
        if (!id.equals(all.get(key)) && hasRoom(name, generation)) {
            all.put(key, id);
            changed.set(true);
        }
    }

    private boolean hasRoom(String name, int generation) {
        int[] known = all.keySet().stream()
                .map(KEY::matcher)
                .filter(parts -> parts.matches() && parts.group(1).equals(name))
                .mapToInt(parts -> Integer.parseInt(parts.group(2)))
                .sorted()
                .toArray();
        if (known.length < GENERATIONS_MAX || all.containsKey(directoryKey(name, generation))) {
            return all.size() < ENTRIES_MAX;
        }
        // What was a member is never forgotten for the sake of what only says that it is to be one.
        if (generation < known[0] || known[0] >= generationOf(all, name)) {
            return false;
        }
        all.remove(directoryKey(name, known[0]));
        return true;
    }

    /** Notes that a node of that name was a member in that generation. Waits for no disk. */
    synchronized void generation(String name, int generation) {
        if (generation > generationOf(all, name) && all.size() < ENTRIES_MAX) {
            all.put(GENERATION + name, Integer.toString(generation));
            changed.set(true);
        }
    }

    /** Writes what was noted since it was called last. */
    void write() {
        synchronized (file) {
            if (changed.getAndSet(false)) {
                writeAll();
            }
        }
    }

    private void writeAll() {
        try {
            Properties kept = new Properties();
            kept.putAll(all());
            StringWriter text = new StringWriter();
            kept.store(text, "The data directories and generations that this node's peers were heard of with");
            DurableFile.write(file, text.toString());
        } catch (IOException e) {
            log.warn("{} can't be written: {}", file, e.toString());
        }
    }

    Map<String, String> all() {
        return Map.copyOf(all);
    }

    static int generationOf(Map<String, String> entries, String name) {
        return Integer.parseInt(entries.getOrDefault(GENERATION + name, "0"));
    }

    static String directoryKey(String name, int generation) {
        return name + GENERATION + generation;
    }
}
