// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

/** How an answer is printed. */
enum Output {
    TEXT,
    JSON
}
