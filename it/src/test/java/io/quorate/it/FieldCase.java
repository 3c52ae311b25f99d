// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A case of it/field.md: a heading, some prose, and one block of SQL. A statement ends with a semicolon at the end of a
 * line, whose next line isn't indented. Lines that begin with two dashes say where and how the next ones are run;
 * it/field.md explains them.
 *
 * @param heals whether a node may get copies of tables in it
 */
record FieldCase(String name, boolean isLong, boolean heals, List<Step> steps) {
    private static final Pattern HEADING = Pattern.compile("## (.+)");
    private static final Pattern SESSION = Pattern.compile("n([1-3])(?: (\\w+))?");
    private static final String LONG = " (long)";
    /** Instead of an error's number: the connection is gone. */
    static final int CUT = -1;

    /**
     * @param session {@code 1 a} is session a at n1; null for a wait until all nodes are level
     * @param error what the statement fails with, 0 for nothing, {@link #CUT}
     * @param everywhere what the query gives on every node once they are level; null for any other statement
     */
    record Step(String session, String sql, int error, String everywhere) {
        int node() {
            return session.charAt(0) - '0';
        }

        boolean asRoot() {
            return session.endsWith(" root");
        }
    }

    @Override
    public String toString() {
        return name;
    }

    static List<FieldCase> read(List<String> page) {
        List<FieldCase> cases = new ArrayList<>();
        String name = null;
        List<String> block = null;
        for (String line : page) {
            Matcher heading = HEADING.matcher(line);
            if (block != null && line.equals("```")) {
                cases.add(of(name, block));
                block = null;
            } else if (block != null) {
                block.add(line);
            } else if (line.equals("```sql")) {
                block = new ArrayList<>();
            } else if (heading.matches()) {
                name = heading.group(1);
            }
        }
        assertThat(cases).extracting(FieldCase::name).doesNotHaveDuplicates();
        return cases;
    }

    private static FieldCase of(String name, List<String> block) {
        List<Step> steps = new ArrayList<>();
        boolean heals = false;
        String session = "1 a";
        int error = 0;
        String everywhere = null;
        for (int i = 0; i < block.size(); i++) {
            String line = block.get(i);
            if (line.startsWith("-- ")) {
                String directive = line.substring(3);
                Matcher at = SESSION.matcher(directive);
                if (at.matches()) {
                    session = at.group(1) + " " + (at.group(2) == null ? "a" : at.group(2));
                } else if (directive.equals("level")) {
                    steps.add(new Step(null, "", 0, null));
                } else if (directive.equals("heals")) {
                    heals = true;
                } else if (directive.equals("cut")) {
                    error = CUT;
                } else if (directive.startsWith("error ")) {
                    error = Integer.parseInt(directive.substring(6));
                } else if (directive.startsWith("everywhere ")) {
                    everywhere = directive.substring(11);
                } else {
                    throw new IllegalArgumentException(name + ": " + line);
                }
                continue;
            }
            StringBuilder sql = new StringBuilder(line);
            while (!sql.toString().endsWith(";")
                    || i + 1 < block.size() && block.get(i + 1).startsWith(" ")) {
                sql.append('\n').append(block.get(++i));
            }
            sql.setLength(sql.length() - 1);
            steps.add(new Step(session, sql.toString(), error, everywhere));
            error = 0;
            everywhere = null;
        }
        boolean isLong = name.endsWith(LONG);
        return new FieldCase(isLong ? name.substring(0, name.length() - LONG.length()) : name, isLong, heals, steps);
    }
}
