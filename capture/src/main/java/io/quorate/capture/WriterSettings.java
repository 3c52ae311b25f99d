// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.CarriedSetting;
import io.quorate.core.binlog.QueryEvent;
import io.quorate.core.binlog.RowSettings;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;

/**
 * The settings under which a transaction's rows were written, for tables whose expressions may depend on them.
 *
 * <p>The BEGIN of a transaction has them as they were at its first row. It says nothing of the time zone unless that
 * row's statement had used it, and some settings are in no event at all. For these the session itself is asked: its
 * client waits for the answer to COMMIT, or at least is still connected in most cases.
 */
final class WriterSettings {
    private final TablePlans plans;
    private byte[] begin;
    private String timeZone;
    private final Map<CarriedSetting, String> unlogged = new EnumMap<>(CarriedSetting.class);
    private RowSettings noted;

    WriterSettings(TablePlans plans) {
        this.plans = plans;
    }

    /** A transaction begins with this QUERY event. */
    void begin(byte[] b, int offset, int length) {
        begin = Arrays.copyOfRange(b, offset, offset + length);
    }

    /** The next event says them again, because the former one may have been cut off. */
    void forgetNoted() {
        noted = null;
    }

    void reset() {
        begin = null;
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
        if (begin == null || !plan.computes) {
            return null;
        }
        RowSettings settings = RowSettings.of(QueryEvent.read(begin, 0, begin.length));
        if (plan.usesTimeZone && settings.timeZone() == null && timeZone == null) {
            timeZone = plans.timeZone(session);
        }
        if (!unlogged.keySet().containsAll(plan.unlogged)) {
            unlogged.putAll(plans.session(session, second, plan.unlogged).values());
        }
        settings = settings.with(timeZone, unlogged);
        if (settings.equals(noted)) {
            return null;
        }
        noted = settings;
        return settings.event();
    }
}
