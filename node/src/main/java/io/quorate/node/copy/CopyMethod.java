// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.config.NodeProperties.Sst.Method;
import java.sql.SQLException;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Chooses the method of a full copy: the configured one or, of the methods that are possible, the faster one, judged by
 * what is known of sizes and rates. CLONE copies files, which is fast for each byte, but mysqld shuts down and starts
 * again; a stream has to make every row and index.
 */
final class CopyMethod {
    private static final Logger log = LoggerFactory.getLogger(CopyMethod.class);
    /** Time allowed for mysqld to shut down and start with the copied data. */
    static final long RESTART_SECONDS = 60;

    private final NodeProperties properties;
    private boolean onlyClone;

    /** @param source where CLONE copies from; null for method stream */
    record Choice(CopyQuestion.CloneSource source) {}

    /** Prepares this node's server for CLONE and returns its version. */
    @FunctionalInterface
    interface Recipient {
        String prepare() throws SQLException;
    }

    CopyMethod(NodeProperties properties) {
        this.properties = properties;
    }

    /**
     * A stream was tried and turned out to be impossible: from now on only CLONE is chosen, unless the configuration
     * says {@code stream}.
     */
    void onlyClone() {
        onlyClone = true;
    }

    /** @throws QuorateException COPY_REFUSED when the only method that may be used isn't possible */
    Choice choose(Supplier<CopyQuestion.CloneSource> donor, Recipient recipient) throws SQLException {
        Method configured = properties.sst().method();
        if (configured == Method.STREAM) {
            return new Choice(null);
        }
        CopyQuestion.CloneSource source;
        try {
            source = donor.get();
            String version = recipient.prepare();
            if (!version.equals(source.version())) {
                throw new QuorateException(
                        ErrorCode.COPY_REFUSED,
                        "CLONE needs servers of one version: the donor has " + source.version() + ", this node "
                                + version);
            }
        } catch (QuorateException e) {
            if (e.code() != ErrorCode.COPY_REFUSED || configured == Method.CLONE || onlyClone) {
                throw e;
            }
            log.info("the copy is made by method stream, for clone isn't possible: {}", e.detail());
            return new Choice(null);
        }
        return configured == Method.CLONE || onlyClone ? new Choice(source) : new Choice(faster(source));
    }

    private CopyQuestion.CloneSource faster(CopyQuestion.CloneSource source) {
        CopyRates rates = CopyRates.read(properties);
        long clone = rates.seconds(Method.CLONE, source.bytes());
        long stream = rates.seconds(Method.STREAM, source.bytes());
        log.info(
                "{} MB would take about {} s by clone at {} MB/s, mysqld's restart included, and {} s by stream"
                        + " at {} MB/s: {}",
                source.bytes() >> 20,
                clone,
                rates.bytesPerSecond(Method.CLONE) >> 20,
                stream,
                rates.bytesPerSecond(Method.STREAM) >> 20,
                clone < stream ? "clone" : "stream");
        return clone < stream ? source : null;
    }
}
