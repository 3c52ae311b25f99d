// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import java.io.IOException;
import java.io.Reader;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;

/**
 * Which node and cluster a directory belongs to. A log opened by another node of the cluster would let that node vote
 * twice. A log of another cluster would be started by Ratis beside ours, because it opens every group it finds.
 */
final class Identity {
    private Identity() {}

    static void claim(TransportSettings settings) throws IOException {
        Files.createDirectories(RaftSettings.storage(settings));
        Path file = settings.directory().resolve("identity.properties");
        Properties mine = new Properties();
        mine.setProperty("cluster", settings.cluster());
        mine.setProperty("node", settings.self());
        if (Files.exists(file)) {
            Properties found = new Properties();
            try (Reader in = Files.newBufferedReader(file)) {
                found.load(in);
            }
            if (!found.equals(mine)) {
                throw new QuorateException(
                        ErrorCode.CONFIGURATION,
                        settings.directory() + " holds the order's log of node " + found.getProperty("node")
                                + " in cluster " + found.getProperty("cluster") + ", this is " + settings.self()
                                + " in "
                                + settings.cluster());
            }
            return;
        }
        StringWriter text = new StringWriter();
        mine.store(text, "Whose log this directory holds. Not to be copied to another node.");
        DurableFile.write(file, text.toString());
    }
}
