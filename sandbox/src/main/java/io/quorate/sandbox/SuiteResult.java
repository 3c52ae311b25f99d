// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.util.List;

/**
 * What became of one script.
 *
 * @param ending how mysqltest ended, or {@code LEFT OUT}
 * @param detail what mysqltest said, or the reason for which it was left out
 * @param problems what happened to the nodes, a line each; empty when they are all SYNCED and equal, and were all along
 */
record SuiteResult(String script, String ending, String detail, double seconds, List<String> problems) {
    static final String LEFT_OUT = "LEFT OUT";

    /** For a report: tab separated, problems on lines of their own. */
    String lines() {
        StringBuilder text = new StringBuilder(
                String.format("%s\t%s\t%.1f\t%s%n", script, ending, seconds, detail.replaceAll("\\s+", " ")));
        problems.forEach(problem ->
                text.append("\t").append(problem.replaceAll("\\s+", " ")).append('\n'));
        return text.toString();
    }
}
