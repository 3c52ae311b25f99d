// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.quorate.transport.tls.PeerTls;

/**
 * At the end of a connection that calls: what comes after it in the pipeline isn't told that the connection is there
 * before it is certain that the node that was meant is at its other end.
 */
final class Reached extends ChannelInboundHandlerAdapter {
    private final String meant;

    private Reached(String meant) {
        this.meant = meant;
    }

    /** The first handlers of a connection to that peer; none without TLS. */
    static void require(PeerTls tls, TransportSettings.Peer peer, ChannelPipeline pipeline) {
        if (tls.isOn()) {
            pipeline.addLast(tls.handler(true), new Reached(peer.name()));
        }
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        // Not yet.
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) throws Exception {
        if (event instanceof SslHandshakeCompletionEvent shaken && shaken.isSuccess()) {
            PeerTls.require(ctx.pipeline().get(SslHandler.class).engine().getSession(), meant);
            ctx.fireChannelActive();
        }
    }
}
