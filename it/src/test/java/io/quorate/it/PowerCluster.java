// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Three nodes, each with its server on a {@link Volume} of its own, so that power can fail for some of them or all. */
final class PowerCluster implements AutoCloseable {
    static final List<Integer> ALL = List.of(1, 2, 3);

    private final Cluster cluster;
    private final List<Volume> volumes = new ArrayList<>();

    private PowerCluster(Cluster cluster) {
        this.cluster = cluster;
    }

    /**
     * Starts one, with a table for a {@link Load}.
     *
     * @param images directory for the volumes' files
     * @return null where nobody lets us have volumes
     */
    static PowerCluster start(Path images, Map<String, String> settings) throws Exception {
        if (!Volume.possible(images)) {
            return null;
        }
        PowerCluster made = new PowerCluster(Cluster.create(ALL.size(), settings));
        boolean started = false;
        try {
            made.start(images);
            started = true;
            return made;
        } finally {
            if (!started) {
                made.close();
            }
        }
    }

    private void start(Path images) throws Exception {
        for (int node : ALL) {
            volumes.add(Volume.make(images.resolve("n" + node + ".img"), cluster.directory(node)));
        }
        for (int node : ALL) {
            cluster.mysql(node).start();
            cluster.mysql(node).stop();
            Volume.forceKeys(cluster.directory(node).resolve("data"));
        }
        cluster.start();
        cluster.mysql(1).execute("CREATE DATABASE load_test", Load.TABLE);
    }

    /** To be called before each test, for a class that is skipped as a whole is not counted. */
    static void require(PowerCluster made) {
        assumeThat(made).as("volumes, for which one must be allowed to mount").isNotNull();
    }

    Cluster cluster() {
        return cluster;
    }

    Volume volume(int node) {
        return volumes.get(node - 1);
    }

    /** Power fails for servers and services of these nodes at once, and comes back; nobody is started. */
    void failPower(List<Integer> nodes) throws Exception {
        // Asked for now: afterwards nobody can read any more which processes these are.
        List<ProcessHandle> processes =
                nodes.stream().flatMap(cluster::processes).toList();
        assertThat(processes).hasSize(2 * nodes.size());
        failPower(nodes, processes);
    }

    /** The same, where these are all the processes that run there. */
    void failPower(List<Integer> nodes, List<ProcessHandle> processes) throws Exception {
        List<Volume> failing = nodes.stream().map(this::volume).toList();
        Volume.failPower(failing, processes);
        for (Volume volume : failing) {
            volume.restorePower();
        }
    }

    @Override
    public void close() throws IOException {
        cluster.killAll();
        for (Volume volume : volumes) {
            volume.close();
        }
        cluster.close();
    }
}
