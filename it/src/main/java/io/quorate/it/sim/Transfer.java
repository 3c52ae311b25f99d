// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.certification.Certifier;
import io.quorate.core.Certified;
import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.ist.DonorChoice;
import io.quorate.ist.DonorClient;
import io.quorate.ist.IncrementalTransfer.Offer;
import io.quorate.ist.RecordReader;
import io.quorate.ist.TransferCourse;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A node receives what it missed, request by request, as {@code Rejoin} and {@code IncrementalTransfer} go about it: the
 * course, the choice of donors, both ends of the stream and what is written are the product's, threads and time are not.
 * Between any two steps this node may crash, a donor may go, or lose from its cache what was to be asked for.
 */
final class Transfer {
    private static final int RANGE_MAX = 24;
    /** What the product waits for runs so much faster here, as all does. */
    private static final int CLOCK = 50;

    private static final int IN_VAIN_MAX = 30;
    /** Who applies nothing needs no records. */
    private static final long NOTHING_MISSED = Long.MAX_VALUE;

    private final Node node;
    private final World world;
    /** The cache alone was lost. */
    private final boolean recordsOnly;

    private final long life;
    private final DonorChoice choice = new DonorChoice();
    private final DonorClient client;
    private TransferCourse course;
    private List<Offer> offers = List.of();
    private boolean begun;
    private int inVain;
    private Certifier adopted;

    Transfer(Node node, boolean recordsOnly) {
        this.node = node;
        this.world = node.world;
        this.recordsOnly = recordsOnly;
        this.life = node.life();
        this.client = new DonorClient(this::open, Storage.INCARNATION, bytes -> {});
        world.trace(node.name() + " receives what it missed" + (recordsOnly ? ", its cache is gone" : ""));
        again(1);
    }

    private void again(int rounds) {
        world.after(rounds * world.delay(), () -> {
            if (life == node.life()) {
                try {
                    step();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        });
    }

    private void step() throws IOException {
        if (adopted != null) {
            node.install(adopted, course.checkpoint().position());
            return;
        }
        if (!begun && !begin()) {
            again(3);
            return;
        }
        // What others report is not of this very moment.
        offers = offers.isEmpty() || world.random.nextInt(3) == 0 ? world.offersTo(node) : offers;
        try {
            if (recordsOnly ? fill() : advance()) {
                return;
            }
            inVain = 0;
            again(1);
        } catch (QuorateException e) {
            if (!e.code().isRetryable()) {
                throw e;
            }
            course = null;
            offers = List.of();
            if (e.code() == ErrorCode.CACHE_PASSED && ++inVain > IN_VAIN_MAX) {
                node.needsCopy(e.detail());
            }
            again(5);
        }
    }

    private boolean begin() {
        if (node.isArbitrator()) {
            if (recordsOnly) {
                node.storage().reset(node.lastOrdered() + 1);
            }
            begun = true;
            return true;
        }
        boolean anew = recordsOnly
                || node.storage().cache().last() < node.storage().cache().first();
        if (anew && !node.databaseUp) {
            return false;
        }
        if (anew) {
            node.storage().reset(node.database().position() + 1);
        }
        begun = true;
        return true;
    }

    /** True at the end. */
    private boolean fill() throws IOException {
        if (node.storage().cache().last() < node.lastOrdered()) {
            records(node.lastOrdered());
            return false;
        }
        node.storage().force();
        node.transferred();
        return true;
    }

    private boolean advance() throws IOException {
        if (course == null) {
            course = new TransferCourse(node.nextIndex(), choice);
        }
        boolean enough = course.checkpoint() != null && world.bugs.contains(Bug.TRANSFER_CUT_SHORT);
        switch (enough
                ? TransferCourse.Next.DONE
                : course.next(
                        node.isArbitrator()
                                ? NOTHING_MISSED
                                : node.storage().cache().last(),
                        offers,
                        clock())) {
            case RECORDS -> records(course.to());
            case STATE -> state();
            case DONE -> {
                if (node.isArbitrator()) {
                    node.storage().reset(course.checkpoint().seqno() + 1);
                }
                if (!world.bugs.contains(Bug.TRANSFER_NOT_FORCED)) {
                    node.storage().force();
                }
                world.after(world.delay(), this::adopt);
                return true;
            }
        }
        return false;
    }

    private void adopt() {
        if (life == node.life()) {
            adopted = Storage.read(course.checkpoint());
            node.storage().checkpoints().adopt(course.checkpoint());
            again(1);
        }
    }

    private void records(long upTo) throws IOException {
        long held = node.storage().cache().last();
        long from = TransferCourse.from(node.storage().cache().first(), held, offers);
        long to = Math.min(upTo, Math.max(from, held) + world.random.nextInt(RANGE_MAX));
        Offer donor = choice.donorOf(offers, from, to, clock()).orElse(null);
        if (donor == null) {
            return;
        }
        List<Certified> received = new ArrayList<>();
        try {
            client.records(donor.donor(), new RecordReader(from, to, received::addAll));
        } catch (IOException | QuorateException e) {
            failed(donor.donor(), e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        if (!received.isEmpty()) {
            node.storage().cache().append(received);
            world.statistics.transferred += received.size();
        }
    }

    private void state() {
        try {
            course.received(client.state(course.donor(), node.storage().checkpoints()));
        } catch (IOException e) {
            failed(course.donor(), e);
            throw new QuorateException(ErrorCode.ORDER_INTERRUPTED, course.donor() + " broke off", e);
        }
    }

    private void failed(String donor, Exception e) {
        world.trace(node.name() + ": " + donor + " broke off, " + e.getMessage());
        world.statistics.brokenOff++;
        choice.failed(donor, clock());
    }

    private long clock() {
        return world.millis() * CLOCK;
    }

    /** A donor's answer, which may end anywhere. */
    private InputStream open(String peer, byte[] request) throws IOException {
        Node donor = world.nodes().get(Integer.parseInt(peer.substring(1)));
        if (!world.isDonor(donor, node)) {
            throw new IOException("away");
        }
        ByteArrayOutputStream answer = new ByteArrayOutputStream();
        donor.storage().donor().serve(node.name(), request, answer);
        byte[] bytes = answer.toByteArray();
        int length = world.chance(world.faults.loss() * 2) ? world.random.nextInt(bytes.length) : bytes.length;
        return new ByteArrayInputStream(Arrays.copyOf(bytes, length));
    }

    @Override
    public String toString() {
        return "transfer" + (begun ? " begun" : "") + ", in vain " + inVain + ", offers " + offers;
    }
}
