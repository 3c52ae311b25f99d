// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import java.nio.file.NoSuchFileException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.core.NestedExceptionUtils;

/** Says in a sentence which file of an SSL bundle is missing or can't be used, where Spring Boot has a stack trace. */
class BundleAnalyzer implements FailureAnalyzer {
    private static final String REMEDY = "look at spring.ssl.bundle in the configuration, and at the files it names;"
            + " quorate certs issue makes node.crt, node.key and ca.crt for a node, and quorate certs show reads them";

    @Override
    public @Nullable FailureAnalysis analyze(Throwable failure) {
        for (Throwable each = failure; each != null; each = each.getCause()) {
            String message = each.getMessage();
            if (message != null && message.startsWith("Unable to register SSL bundle")) {
                return new FailureAnalysis(message + ": " + why(each.getCause()), REMEDY, each);
            }
        }
        return null;
    }

    /** What went wrong in the end. */
    static String why(@Nullable Throwable failure) {
        if (failure == null) {
            return "nothing says why";
        }
        Throwable root = NestedExceptionUtils.getMostSpecificCause(failure);
        return root instanceof NoSuchFileException missing
                ? "there is no file " + missing.getFile()
                : String.valueOf(root.getMessage());
    }
}
