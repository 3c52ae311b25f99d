// SPDX-License-Identifier: Apache-2.0
/**
 * Operators' commands. They ask running nodes, whose endpoints answer with {@link io.quorate.core.answer}, and read the
 * files of a node. {@link io.quorate.cli.OperatorCommands} adds all of them to a command line.
 */
package io.quorate.cli;
