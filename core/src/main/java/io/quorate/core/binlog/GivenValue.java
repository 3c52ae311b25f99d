// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.binlog;

import io.quorate.core.BinlogEvents;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Something of its session that a statement in the binlog uses, in an event before it. Layouts: {@code Intvar_event},
 * {@code Rand_event} and {@code User_var_event} in the server's {@code statement_events.h}.
 */
public sealed interface GivenValue {
    /** What LAST_INSERT_ID() gives; or, with {@code next}, the next number for AUTO_INCREMENT. */
    record InsertId(boolean next, long value) implements GivenValue {}

    /** The state of RAND(). */
    record Seeds(long first, long second) implements GivenValue {}

    /**
     * A user variable.
     *
     * @param collation id of a text's collation
     * @param value as {@code type} has it; null for NULL
     */
    record UserVariable(String name, Type type, int collation, boolean unsigned, byte[] value) implements GivenValue {
        /** A DECIMAL as digits. */
        public String decimal() {
            return ValueText.decimal(value, 2, Bytes.u8(value, 0), Bytes.u8(value, 1));
        }

        /** An integer, as if it had a sign. */
        public long integer() {
            return Bytes.i64(value, 0);
        }

        public double real() {
            return Double.longBitsToDouble(Bytes.i64(value, 0));
        }
    }

    /** Types of user variables; the server's {@code Item_result} has them in this sequence. */
    enum Type {
        TEXT,
        REAL,
        INTEGER,
        ROW,
        DECIMAL
    }

    /** @throws IndexOutOfBoundsException when it isn't such an event, or is cut short */
    static GivenValue read(byte[] bytes, int offset, int length) {
        EventReader in = new EventReader(bytes, offset + BinlogEvents.HEADER_BYTES, offset + length);
        int type = BinlogEvents.type(bytes, offset);
        return switch (type) {
            case BinlogEvents.INTVAR -> insertId(in);
            case BinlogEvents.RAND -> new Seeds(in.i64(), in.i64());
            case BinlogEvents.USER_VAR -> userVariable(in);
            default -> throw new IndexOutOfBoundsException("type " + type + " gives nothing to a statement");
        };
    }

    private static InsertId insertId(EventReader in) {
        int kind = in.u8();
        if (kind != 1 && kind != 2) {
            throw new IndexOutOfBoundsException("kind " + kind + " of an INTVAR");
        }
        return new InsertId(kind == 2, in.i64());
    }

    private static UserVariable userVariable(EventReader in) {
        String name = in.text(length(in), StandardCharsets.UTF_8);
        if (in.u8() != 0) {
            return new UserVariable(name, Type.TEXT, 0, false, null);
        }
        int type = in.u8();
        if (type >= Type.values().length || type == Type.ROW.ordinal()) {
            throw new IndexOutOfBoundsException("type " + type + " of a user variable");
        }
        int collation = (int) in.u32();
        int valueBytes = length(in);
        int from = in.skip(valueBytes);
        boolean unsigned = in.remaining() > 0 && (in.u8() & 1) != 0;
        UserVariable variable = new UserVariable(
                name, Type.values()[type], collation, unsigned, Arrays.copyOfRange(in.bytes, from, from + valueBytes));
        requireWhole(variable);
        return variable;
    }

    private static int length(EventReader in) {
        long length = in.u32();
        if (length > in.remaining()) {
            throw new IndexOutOfBoundsException(length + " bytes of " + in.remaining());
        }
        return (int) length;
    }

    private static void requireWhole(UserVariable variable) {
        switch (variable.type()) {
            case INTEGER, REAL -> {
                if (variable.value().length < Long.BYTES) {
                    throw new IndexOutOfBoundsException("a number of " + variable.value().length + " bytes");
                }
            }
            case DECIMAL -> {
                int whole = Bytes.u8(variable.value(), 0) - Bytes.u8(variable.value(), 1);
                if (whole < 0) {
                    throw new IndexOutOfBoundsException("a DECIMAL with more digits behind its point than it has");
                }
                var unused = variable.decimal();
            }
            default -> {
                // Any bytes are a text.
            }
        }
    }
}
