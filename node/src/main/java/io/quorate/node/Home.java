// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.node.config.NodeProperties;
import io.quorate.node.order.Stores;
import io.quorate.node.server.NodeIdentity;
import java.io.IOException;
import java.nio.file.Path;
import java.util.UUID;

/**
 * What a node keeps on its disk, in a directory that no other service uses at the same time.
 *
 * @param rights keeps others from reading it
 * @param directoryId id of the data directory
 * @param identity null before the node has ever met its server
 * @param incarnation UUID of the cluster, made from its name
 */
record Home(
        Path directory,
        PrivateDirectory rights,
        String directoryId,
        NodeIdentity identity,
        UUID incarnation,
        Stores stores) {
    static Home open(NodeProperties properties, PrivateDirectory rights, Opened opened) throws IOException {
        Path directory = properties.dataDir();
        opened.add(DirectoryLock.of(directory));
        NodeIdentity identity = NodeIdentity.read(directory, properties.cluster(), properties.node());
        String directoryId = NodeIdentity.directoryId(directory).toString();
        UUID incarnation = NodeIdentity.incarnation(properties.cluster());
        return new Home(
                directory,
                rights,
                directoryId,
                identity,
                incarnation,
                opened.add(Stores.open(directory, incarnation.toString(), properties)));
    }
}
