// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.join;

import io.quorate.core.Difference;
import io.quorate.core.QuorateException;
import io.quorate.ist.IncrementalTransfer.Offer;
import io.quorate.node.copy.ServerCopy;
import io.quorate.node.member.MemberDesk;
import io.quorate.node.member.MemberReport;
import io.quorate.node.member.Membership;
import io.quorate.node.member.Standing;
import io.quorate.node.order.PausableOrder.Hold;
import io.quorate.node.server.Server;
import io.quorate.transport.AdmissionPlan;
import io.quorate.transport.Lives;
import io.quorate.transport.TransportSettings.Peer;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * This node, for the turns of its joining.
 *
 * @param answered run once there is an answer to its asking in, on any thread
 */
record JoiningNode(
        Join.Own own,
        Join.Others others,
        Server server,
        ServerCopy copy,
        Admission admission,
        Rejoin rejoin,
        CatchUpChoice choice,
        Runnable answered)
        implements JoinHost {
    /** What others have answered. */
    private record Answers(List<Membership> answers) implements Heard {
        @Override
        public List<MemberWord> words() {
            return MemberWord.all(answers);
        }

        @Override
        public List<Offer> offers() {
            return Standing.offers(answers);
        }

        @Override
        public Heard in(Lives life) {
            return new Answers(
                    answers.stream().filter(a -> a.lives().equals(life)).toList());
        }
    }

    @Override
    public long nanos() {
        return System.nanoTime();
    }

    @Override
    public void pause(Hold why) {
        own.order().pause(why);
    }

    @Override
    public void resume(Hold why) {
        own.order().resume(why);
    }

    @Override
    public void startAgain() throws InterruptedException {
        admission.startAgain();
    }

    @Override
    public void startServer() {
        server.start();
    }

    @Override
    public void suspendServer() throws InterruptedException {
        server.suspend();
    }

    @Override
    public void resumeServer() {
        copy.withhold();
        server.resume();
    }

    @Override
    public void handOver() {
        server.handOver();
    }

    @Override
    public Server.Contents contents() throws IOException {
        return server.contents();
    }

    @Override
    public boolean isCopyPending() {
        return copy.isPending();
    }

    @Override
    public ServerCopy.Wish wish() {
        return copy.wish();
    }

    @Override
    public boolean forgetWish() throws IOException {
        return copy.forget();
    }

    @Override
    public boolean isCopyPreferred() {
        return copy.isPreferred();
    }

    @Override
    public boolean hasSameTables() {
        return server.hasSameTables();
    }

    @Override
    public void beginWithNothing() throws IOException {
        server.beginWithNothing();
    }

    @Override
    public boolean hasHandedOver() {
        return server.hasHandedOver();
    }

    @Override
    public CopyRule.Server odd(QuorateException difference) {
        return new OddServer(difference.difference(), own.stream(), own.stores().cache(), () -> contents()
                .position()
                .seqno());
    }

    @Override
    public void wantCopy(QuorateException difference) throws IOException {
        copy.want(own.stream().lastOrdered(), difference.difference());
    }

    @Override
    public void offer(QuorateException difference) {
        copy.offer(difference.difference());
    }

    @Override
    public boolean beginsAmongWaiting() {
        return waiting().begins();
    }

    @Override
    public boolean keepsAmongWaiting() {
        return waiting().keeps();
    }

    private WaitingServers waiting() {
        return new WaitingServers(
                memberNames(), others.standing().report(), others.members().present());
    }

    @Override
    public void keepOwn() throws IOException {
        copy.keepOwn();
    }

    @Override
    public void wantCopyOfWaiting(QuorateException difference) throws IOException {
        copy.wantOfWaiting(difference.difference());
    }

    @Override
    public String trust(Difference where) throws IOException {
        return copy.trust(own.stream().lastOrdered(), where);
    }

    @Override
    public List<String> holders(long seqno) {
        return others.members().present().stream()
                .filter(m -> m.hasSyncedServer() && m.applied() >= seqno)
                .map(MemberReport::node)
                .toList();
    }

    @Override
    public int voters() {
        Set<String> members = memberNames();
        return own.stream().ask(certifier -> certifier.voters(members));
    }

    private Set<String> memberNames() {
        return others.standing().members().stream().map(Peer::name).collect(Collectors.toSet());
    }

    @Override
    public long choose() throws InterruptedException {
        if (!choice.exists()) {
            return JoinTurns.FOR_EVER;
        }
        choice.look();
        return CatchUpChoice.PERIOD_MILLIS;
    }

    @Override
    public long lastOrdered() {
        return own.stream().lastOrdered();
    }

    @Override
    public long held() {
        return own.stores().cache().last();
    }

    @Override
    public boolean hasData() {
        return !server.exists() || copy.isPending();
    }

    @Override
    public Lives lives() {
        return own.configured().lives();
    }

    @Override
    public AdmissionPlan plan() {
        return admission.plan();
    }

    @Override
    public void takeOver(Lives lives) {
        own.configured().takeOver(lives);
        others.channels().lives(lives);
    }

    @Override
    public void forget() throws IOException {
        own.stores().forget(own.stream());
    }

    @Override
    public void decide(AdmissionPlan.Way way) {
        admission.decide(way);
    }

    @Override
    public void again() {
        admission.again();
    }

    @Override
    public Heard askConfigured() {
        return new Answers(others.desk().askAll(own.configured().peers()));
    }

    @Override
    public Heard askMembers() {
        return new Answers(others.desk().askAll(own.configured().knownMembersAndSelf()));
    }

    @Override
    public void meet(List<Peer> members) {
        others.members().forget();
        others.members().know(members);
        others.channels().members(members);
    }

    @Override
    public MemberDesk.Attempt askIn() {
        return admission.ask(answered);
    }

    @Override
    public void beginReceiving(QuorateException missing) {
        rejoin.begin(missing);
    }

    @Override
    public long receive() throws IOException, InterruptedException {
        return rejoin.turn();
    }

    @Override
    public void breakOffReceiving() {
        rejoin.breakOff();
    }

    @Override
    public String received() {
        return rejoin.told();
    }

    @Override
    public boolean beginWithCopy(Heard heard) throws IOException, InterruptedException {
        admission.heard(((Answers) heard).answers);
        return rejoin.beginWithCopy();
    }
}
