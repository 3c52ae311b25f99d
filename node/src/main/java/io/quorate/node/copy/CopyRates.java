// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.config.NodeProperties.Sst.Method;
import io.quorate.transport.DurableFile;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Properties;

/**
 * How fast the last full copy by each method came to this node: file {@code copy-rates.properties}. For a method that
 * was never measured the configuration says what to expect.
 */
public final class CopyRates {
    private static final String FILE = "copy-rates.properties";

    private final NodeProperties configured;
    private final Properties measured;

    private CopyRates(NodeProperties configured, Properties measured) {
        this.configured = configured;
        this.measured = measured;
    }

    public static CopyRates read(NodeProperties configured) {
        Properties p = new Properties();
        Path file = configured.dataDir().resolve(FILE);
        if (Files.exists(file)) {
            try (Reader in = Files.newBufferedReader(file)) {
                p.load(in);
                p.values().forEach(value -> Long.parseLong((String) value));
            } catch (IOException | IllegalArgumentException e) {
                throw new QuorateException(ErrorCode.DISK, file + " is unreadable: " + e, e);
            }
        }
        return new CopyRates(configured, p);
    }

    private static String key(Method method) {
        return method.name().toLowerCase(Locale.ROOT) + "-bytes-per-second";
    }

    /** The rate that was measured or, without one, the rate to expect; never more than the configured limit. */
    long bytesPerSecond(Method method) {
        NodeProperties.Sst sst = configured.sst();
        String known = measured.getProperty(key(method));
        long expected = known != null
                ? Long.parseLong(known)
                : (method == Method.STREAM ? sst.streamExpectedBytesPerSecond() : sst.expectedBytesPerSecond())
                        .toBytes();
        long most = sst.bytesPerSecondMax().toBytes();
        return Math.max(1, most == 0 ? expected : Math.min(most, expected));
    }

    /** How many seconds a copy would take of a server whose files have so many bytes. */
    public long seconds(Method method, long bytes) {
        return bytes / bytesPerSecond(method) + (method == Method.CLONE ? CopyMethod.RESTART_SECONDS : 0);
    }

    public void measured(Method method, long bytesPerSecond) throws IOException {
        String text = Long.toString(bytesPerSecond);
        if (!text.equals(measured.getProperty(key(method)))) {
            measured.setProperty(key(method), text);
            StringBuilder all = new StringBuilder();
            measured.forEach((k, v) -> all.append(k).append('=').append(v).append('\n'));
            DurableFile.write(configured.dataDir().resolve(FILE), all.toString());
        }
    }
}
