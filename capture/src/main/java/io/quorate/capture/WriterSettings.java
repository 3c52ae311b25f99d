// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.BinlogEvents;
import io.quorate.core.CarriedSetting;
import io.quorate.core.binlog.Bytes;
import io.quorate.core.binlog.QueryEvent;
import io.quorate.core.binlog.RowSettings;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The settings under which a transaction's rows were written, for tables whose expressions may depend on them.
 *
 * <p>The BEGIN of a transaction has them as they were at its first row. It says nothing of the time zone unless that
 * row's statement had used it, and some settings are in no event at all. For these the session itself is asked: its
 * client waits for the answer to COMMIT, or at least is still connected in most cases. Of one that is gone it is
 * assumed that it has kept the time zone that the binlog had of it before, or else that it had the one that was used
 * last.
 */
final class WriterSettings {
    private static final int SESSIONS_MAX = 10_000;

    private final TablePlans plans;
    /** The last time zones of sessions in the binlog. */
    private final Map<Long, String> zones = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, String> eldest) {
            return size() > SESSIONS_MAX;
        }
    };

    private String lastZone;
    private RowSettings begun;
    private String timeZone;
    private final Map<CarriedSetting, String> unlogged = new EnumMap<>(CarriedSetting.class);
    private RowSettings noted;

    WriterSettings(TablePlans plans) {
        this.plans = plans;
    }

    /** A transaction begins with this QUERY event. */
    void begin(byte[] b, int offset, int length) {
        begun = RowSettings.of(QueryEvent.read(b, offset, length));
        if (begun.timeZone() != null) {
            lastZone = begun.timeZone();
            zones.put(Bytes.u32(b, offset + BinlogEvents.HEADER_BYTES), lastZone);
        }
    }

    /** The next event says them again, because the former one may have been cut off. */
    void forgetNoted() {
        noted = null;
    }

    void reset() {
        begun = null;
        timeZone = null;
        unlogged.clear();
        noted = null;
    }

    /**
     * The event that has to stand before the TABLE_MAP of a table; null where it makes no difference or has been told.
     *
     * @param session the server's number of the client's connection
     * @param second when it committed
     */
    byte[] before(TablePlan plan, long session, long second) {
        if (begun == null || !plan.computes) {
            return null;
        }
        RowSettings settings = begun;
        if (plan.usesTimeZone && settings.timeZone() == null && timeZone == null) {
            timeZone = zone(session);
        }
        if (!unlogged.keySet().containsAll(plan.unlogged)) {
            OriginSession asked = plans.session(session, second, plan.unlogged);
            if (asked != null) {
                unlogged.putAll(asked.values());
            }
        }
        settings = settings.with(timeZone, unlogged);
        if (settings.equals(noted)) {
            return null;
        }
        noted = settings;
        return settings.event();
    }

    private String zone(long session) {
        String zone = plans.timeZone(session);
        return zone == null ? zones.getOrDefault(session, lastZone) : zone;
    }
}
