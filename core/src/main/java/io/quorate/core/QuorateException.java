// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

/** A failure with a stable code. Its message is complete: code, what happened, what to do. */
public final class QuorateException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final ErrorCode code;
    private final String detail;
    private final transient Difference difference;

    public QuorateException(ErrorCode code, String what) {
        this(code, what, null);
    }

    public QuorateException(ErrorCode code, String what, Throwable cause) {
        this(code, what, cause, Difference.ANYWHERE);
    }

    /**
     * @param difference where the server differs, for a code of kind {@link ErrorCode.Kind#DIFFERENCE}; or, for {@link
     *     ErrorCode#TAIL_UNCLEAR}, what can't be taken back
     */
    public QuorateException(ErrorCode code, String what, Throwable cause, Difference difference) {
        super(code.code() + " " + what + " [" + code.remedy() + "]", cause);
        this.code = code;
        this.detail = what;
        this.difference = difference;
    }

    public ErrorCode code() {
        return code;
    }

    /** What happened, without the code and the way out. */
    public String detail() {
        return detail;
    }

    /** Where the server differs, or what can't be taken back; anywhere if that isn't known. */
    public Difference difference() {
        return difference;
    }
}
