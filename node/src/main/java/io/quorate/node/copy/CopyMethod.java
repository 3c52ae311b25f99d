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
 * How a full copy is made: as configured, or the faster of what is possible, by what is known of sizes and rates. CLONE
 * copies files, which is fast by the byte, but ends and starts mysqld; a stream has to make every row and index.
 */
final class CopyMethod {
    private static final Logger log = LoggerFactory.getLogger(CopyMethod.class);
    /** mysqld ends and starts with a copy. */
    static final long RESTART_SECONDS = 60;

    private final NodeProperties properties;
    private boolean onlyClone;

    /** @param source where CLONE copies from; null for method stream */
    record Choice(CopyQuestion.CloneSource source) {}

    /** Has this node's server ready for CLONE, and says its version. */
    @FunctionalInterface
    interface Recipient {
        String prepare() throws SQLException;
    }

    CopyMethod(NodeProperties properties) {
        this.properties = properties;
    }

    /** A stream was tried, and can't be. */
    void onlyClone() {
        onlyClone = true;
    }

    /** @throws QuorateException COPY_REFUSED where the only method there is isn't possible */
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
