// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

/** Statements that mean the same to all servers and are written differently for some. */
public final class MySqlDialect {
    /** From here on binlogs and the rights of definers have new names; the former ones are gone with 8.4. */
    private static final String NEW_NAMES = "8.2.0";

    /** From here on there is no {@code mysql_native_password}, or only where it is switched on. */
    private static final String NO_NATIVE_PASSWORD = "8.4";

    private final String version;

    MySqlDialect(String version) {
        this.version = version;
    }

    /** Deletes all binlogs, and with them all GTIDs that the server has executed. */
    public String resetBinlogs() {
        return isFrom(NEW_NAMES) ? "RESET BINARY LOGS AND GTIDS" : "RESET MASTER";
    }

    /** A row with the present binlog's name first. */
    public String binlogStatus() {
        return isFrom(NEW_NAMES) ? "SHOW BINARY LOG STATUS" : "SHOW MASTER STATUS";
    }

    /** What {@code CREATE USER} has before the password, so that clients can log in without TLS where that works. */
    public String identifiedBy() {
        return hasNativePassword(version) ? "IDENTIFIED WITH " + oldestPlugin() + " BY" : "IDENTIFIED BY";
    }

    /** The oldest way to check a password that the server has. */
    public String oldestPlugin() {
        return hasNativePassword(version) ? "mysql_native_password" : "caching_sha2_password";
    }

    /** Whether a server of that version, or series, takes accounts with {@code mysql_native_password} by itself. */
    static boolean hasNativePassword(String version) {
        return MySqlDistribution.compare(version, NO_NATIVE_PASSWORD) < 0;
    }

    /** The rights to create views and routines whose definer is another account, be it there or not. */
    public String anyDefiner() {
        return isFrom(NEW_NAMES) ? "SET_ANY_DEFINER, ALLOW_NONEXISTENT_DEFINER" : "SET_USER_ID";
    }

    private boolean isFrom(String first) {
        return MySqlDistribution.compare(version, first) >= 0;
    }
}
