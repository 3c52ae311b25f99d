// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Help.Ansi;

/** The terminal that this process writes to. */
final class Terminal {
    /** Of a file or a pipe, which have no end on the right. */
    private static final int COLUMNS_OTHERWISE = 200;

    private Terminal() {}

    /** How wide it is. */
    static int columns() {
        if (!Ansi.AUTO.enabled()) {
            return COLUMNS_OTHERWISE;
        }
        try {
            Process stty = new ProcessBuilder("stty", "size")
                    .redirectInput(ProcessBuilder.Redirect.INHERIT)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String size;
            try (BufferedReader said =
                    new BufferedReader(new InputStreamReader(stty.getInputStream(), StandardCharsets.US_ASCII))) {
                size = said.readLine();
            }
            stty.waitFor(1, TimeUnit.SECONDS);
            int columns = size == null || !size.matches("\\d+ \\d+") ? 0 : Integer.parseInt(size.split(" ")[1]);
            return columns > 0 ? columns : COLUMNS_OTHERWISE;
        } catch (IOException e) {
            return COLUMNS_OTHERWISE;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return COLUMNS_OTHERWISE;
        }
    }

    /** Whether nobody reads what this process writes any more, as after "| head". Writes what there is. */
    static boolean isGone(PrintWriter out) {
        // The writer doesn't hear of what standard output has met.
        return out.checkError() || System.out.checkError();
    }

    /** Whether it is told these characters, rather than question marks. */
    static boolean shows(String text) {
        String named = System.getProperty("stdout.encoding", System.getProperty("sun.stdout.encoding"));
        Charset charset = named == null ? Charset.defaultCharset() : Charset.forName(named);
        return charset.newEncoder().canEncode(text);
    }
}
