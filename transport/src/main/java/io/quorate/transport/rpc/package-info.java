// SPDX-License-Identifier: Apache-2.0
/**
 * How the members' Ratis servers talk to one another: {@link io.quorate.transport.rpc.RaftRpc} is an RPC type for
 * Ratis, in place of its own for gRPC, because what a round of the order costs is mostly the waking of threads, and
 * here a message wakes as few as possible.
 */
package io.quorate.transport.rpc;
