// SPDX-License-Identifier: Apache-2.0
/** Benchmarks. What was measured with them is in {@code bench/README.md}. */
package io.quorate.bench;
