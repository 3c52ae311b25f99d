// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst;

/**
 * How far a copy is.
 *
 * @param stage of method clone in MySQL's words, such as {@code FILE COPY}; empty before the first
 * @param bytes copied
 * @param toDo bytes still to be copied, as estimated now
 * @param perSecond bytes a second since the copy began
 * @param etaMillis until the bytes are here, -1 while nobody can tell
 */
public record CopyProgress(String stage, long bytes, long toDo, long perSecond, long etaMillis) {
    public static final CopyProgress NONE = new CopyProgress("", 0, 0, 0, -1);

    static CopyProgress of(String stage, long bytes, long estimate, long millis) {
        return of(stage, 0, bytes, estimate, millis);
    }

    /**
     * The progress of a copy that goes on after an interruption.
     *
     * @param before bytes that were there
     * @param came bytes that have come since, in {@code millis}
     */
    public static CopyProgress of(String stage, long before, long came, long estimate, long millis) {
        long bytes = before + came;
        long toDo = Math.max(0, estimate - bytes);
        long perSecond = millis <= 0 ? 0 : came * 1000 / millis;
        long eta = toDo == 0 ? 0 : perSecond == 0 ? -1 : toDo * 1000 / perSecond;
        return new CopyProgress(stage, bytes, toDo, perSecond, eta);
    }

    /** Whether files come; rows take less than their files, which are all that is known of them beforehand. */
    private boolean isOfFiles() {
        return !stage.equals("rows");
    }

    /** Whether it still needs the donor, because not everything is here yet. */
    public boolean needsDonor() {
        return stage.isEmpty() || stage.equals("DROP DATA") || stage.endsWith("COPY");
    }

    /** One line for logs and people. */
    @Override
    public String toString() {
        return (stage.isEmpty() ? "beginning" : stage.toLowerCase(java.util.Locale.ROOT)) + ", " + mega(bytes)
                + " MB are here, "
                + mega(toDo) + " MB to come, " + mega(perSecond) + " MB/s"
                + (etaMillis < 0 ? "" : ", " + (isOfFiles() ? "" : "at most ") + (etaMillis + 999) / 1000 + " s left");
    }

    private static long mega(long bytes) {
        return (bytes + (1 << 19)) >> 20;
    }
}
