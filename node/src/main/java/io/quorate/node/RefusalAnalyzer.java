// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.core.QuorateException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Shows only the message of a refusal to start, without a stack trace. */
class RefusalAnalyzer extends AbstractFailureAnalyzer<QuorateException> {
    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, QuorateException cause) {
        return new FailureAnalysis(cause.getMessage(), cause.code().remedy(), cause);
    }
}
