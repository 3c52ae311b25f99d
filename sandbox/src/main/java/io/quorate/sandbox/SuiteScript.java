// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A script of MySQL's test suite, and whether it can be run against a server that is up and belongs to a cluster.
 *
 * @param name its file's name without {@code .test}
 */
record SuiteScript(String name, Path file) {
    private static final Pattern SOURCE = Pattern.compile("(?im)^\\s*(?:--\\s*)?source\\s+([\\w./-]+)\\s*;?\\s*$");

    /** What keeps a script from being run, by the reason's name. Looked for in the script and in what it includes. */
    private static final Map<String, Pattern> REASONS = reasons();

    /** Scripts that end mysqld 8.0.33 with a signal, without a node beside it too. */
    private static final Set<String> CRASH_THE_SERVER =
            Set.of("xml", "subquery_scalar_to_derived", "bug35507223", "functional_index");

    private static Map<String, Pattern> reasons() {
        Map<String, String> texts = new LinkedHashMap<>();
        texts.put("debug build", "have_debug|\\bdebug_sync\\b");
        texts.put(
                "server of its own, or a restart",
                "restart_mysqld|kill_mysqld|shutdown_mysqld|shutdown_server|force_restart|start_mysqld|\\$MYSQLD\\b"
                        + "|\\$MYSQLD_CMD|^\\s*(restart|shutdown)\\s*;");
        texts.put(
                "replication of its own",
                "master-slave|group_replication|rpl_init|not_log_bin|reset\\s+(master|binary)|(change|start|stop|reset)"
                        + "\\s+(master|replication|replica|slave)\\b|^\\s*binlog\\s+'");
        texts.put("writes past the binlog, or sets GTIDs", "sql_log_bin|gtid_next|gtid_purged");
        texts.put(
                "plugin, component or program that a server lacks",
                "install\\s+(plugin|component)|create\\s+(aggregate\\s+)?function\\s+\\w+\\s+returns\\s+\\w+\\s+soname"
                        + "|have_\\w*plugin|have_\\w*component|have_hypergraph|have_ndb|\\$MYSQL_UPGRADE");
        texts.put("a setting that is refused by name", "set\\s.*binlog_(format|row_image|row_value_options)\\s*=");
        Map<String, Pattern> patterns = new LinkedHashMap<>();
        texts.forEach((reason, text) ->
                patterns.put(reason, Pattern.compile(text, Pattern.CASE_INSENSITIVE | Pattern.MULTILINE)));
        return patterns;
    }

    /**
     * Why it is left out.
     *
     * @param root the directory that includes are relative to
     */
    Optional<String> leftOut(Path root) {
        if (CRASH_THE_SERVER.contains(name)) {
            return Optional.of("crash of mysqld 8.0.33 itself");
        }
        StringBuilder text = new StringBuilder();
        append(text, file, root, new HashSet<>());
        return REASONS.entrySet().stream()
                .filter(reason -> reason.getValue().matcher(text).find())
                .map(Map.Entry::getKey)
                .findFirst();
    }

    /** Comments are left out, commands behind {@code --} aren't. */
    private static void append(StringBuilder text, Path file, Path root, Set<Path> seen) {
        if (!seen.add(file) || !Files.isRegularFile(file)) {
            return;
        }
        String own = read(file).replaceAll("(?m)^\\s*#.*$", "");
        text.append(own).append('\n');
        Matcher source = SOURCE.matcher(own);
        while (source.find()) {
            // Named too: scripts ask for what they need by the name of what they include.
            text.append(source.group(1)).append('\n');
            append(text, root.resolve(source.group(1)).normalize(), root, seen);
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file, StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
