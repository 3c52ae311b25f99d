// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

/** How an answer is printed. */
enum Output {
    TEXT,
    JSON
}
