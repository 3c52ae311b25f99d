// SPDX-License-Identifier: Apache-2.0
/**
 * Operators' commands: what they ask of running nodes, whose endpoints answer with {@link io.quorate.core.answer}, and
 * of the files of a node. {@link io.quorate.cli.OperatorCommands} gives a command line all of them.
 */
package io.quorate.cli;
