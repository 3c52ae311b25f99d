// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

/** A failure with a stable code. Its message is complete: code, what happened, what to do. */
public final class QuorateException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final ErrorCode code;
    private final String detail;

    public QuorateException(ErrorCode code, String what) {
        this(code, what, null);
    }

    public QuorateException(ErrorCode code, String what, Throwable cause) {
        super(code.code() + " " + what + " [" + code.remedy() + "]", cause);
        this.code = code;
        this.detail = what;
    }

    public ErrorCode code() {
        return code;
    }

    /** What happened, without the code and the way out. */
    public String detail() {
        return detail;
    }
}
