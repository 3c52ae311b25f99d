// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.model.Bind;
import com.github.dockerjava.api.model.ContainerNetwork;
import com.github.dockerjava.api.model.Network.Ipam;
import com.github.dockerjava.api.model.RestartPolicy;
import com.github.dockerjava.api.model.Volume;
import io.quorate.sandbox.MySqlDistribution;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.Network;
import org.testcontainers.images.builder.ImageFromDockerfile;
import org.testcontainers.utility.DockerImageName;
import org.testcontainers.utility.MountableFile;
import org.yaml.snakeyaml.Yaml;

/**
 * Runs what a Compose file says, as far as ours says it, on a Docker engine, and does to the containers what happens to
 * hosts. Ends and deletes all it has made.
 */
final class Compose implements AutoCloseable {
    static final String NODE_IMAGE = "quorate-node";
    private static final int FILE_MODE = 0644;

    private final Path directory;
    private final Map<String, Object> services;
    private final Map<String, Network> networks = new LinkedHashMap<>();
    private final Map<String, GenericContainer<?>> containers = new LinkedHashMap<>();
    private final Set<String> volumes = new LinkedHashSet<>();
    private final Map<String, Path> elsewhere = new HashMap<>();
    private final Map<String, Map<String, String>> moreEnvironment = new HashMap<>();
    private final String prefix = "quorate-it-" + ProcessHandle.current().pid() + "-";

    /** @param file a Compose file; paths in it are relative to its directory */
    Compose(Path file) throws IOException {
        directory = file.toAbsolutePath().getParent();
        try (var reader = Files.newBufferedReader(file)) {
            services = map(map(new Yaml().load(reader)).get("services"));
        }
        Stories.begin(this, this::story);
    }

    /** Whether there is a Docker engine to be had. */
    static boolean hasEngine() {
        return DockerClientFactory.instance().isDockerAvailable();
    }

    /** The image of the node as it was just built. */
    static void buildNodeImage(String name) {
        Path node = Path.of("..", "node").toAbsolutePath().normalize();
        new ImageFromDockerfile(name, false)
                .withFileFromPath("Dockerfile", node.resolve("docker/Dockerfile"))
                .withFileFromPath("docker/healthcheck", node.resolve("docker/healthcheck"))
                .withFileFromPath("target/quorate-node.jar", node.resolve("target/quorate-node.jar"))
                .get();
    }

    /** Another name for an image. */
    static void tag(String image, String repository, String tag) {
        docker().tagImageCmd(image, repository, tag).exec();
    }

    /**
     * Makes the image of MySQL from the distribution that all tests use, where nothing can be pulled: when the engine
     * is one that {@code .ci/engine} has started.
     */
    static void provideMySqlImage(String name) {
        if ("local".equals(System.getenv("QUORATE_IMAGES"))) {
            Path files = Path.of("src/test/docker/mysql").toAbsolutePath();
            new ImageFromDockerfile(name, false)
                    .withFileFromPath("Dockerfile", files.resolve("Dockerfile"))
                    .withFileFromPath("entrypoint", files.resolve("entrypoint"))
                    .withFileFromPath("mysql", MySqlDistribution.find().home())
                    .get();
        }
    }

    /** Starts services in this order, from the image that the file names. */
    void up(String... names) {
        for (String name : names) {
            up(name, (String) service(name).get("image"));
        }
    }

    @SuppressWarnings("resource") // closed with this
    private void up(String name, String image) {
        Map<String, Object> service = service(name);
        Map<String, Object> attached = map(service.get("networks"));
        List<String> names = List.copyOf(attached.keySet());
        List<Bind> binds = new ArrayList<>();
        GenericContainer<?> container = new GenericContainer<>(DockerImageName.parse(image))
                .withNetwork(network(names.get(0)))
                .withNetworkAliases(aliases(name, attached.get(names.get(0))).toArray(String[]::new));
        // As the sandbox's services run, where six of them and as many servers share a small machine.
        container.withEnv("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx256m");
        map(service.get("environment")).forEach((key, value) -> container.withEnv(key, value.toString()));
        moreEnvironment.getOrDefault(name, Map.of()).forEach(container::withEnv);
        if (service.get("command") != null) {
            container.withCommand(strings(service.get("command")));
        }
        for (String mount : strings(service.get("volumes"))) {
            String[] parts = mount.split(":");
            if (parts[0].startsWith(".")) {
                copy(hostPath(parts[0]), container, parts[1]);
            } else {
                volumes.add(prefix + parts[0]);
                binds.add(new Bind(prefix + parts[0], new Volume(parts[1])));
            }
        }
        RestartPolicy restart = RestartPolicy.parse((String) service.getOrDefault("restart", "no"));
        container.withCreateContainerCmdModifier(create ->
                create.withName(prefix + name).getHostConfig().withBinds(binds).withRestartPolicy(restart));
        container.start();
        containers.put(name, container);
        for (String more : names.subList(1, names.size())) {
            docker().connectToNetworkCmd()
                    .withNetworkId(network(more).getId())
                    .withContainerId(container.getContainerId())
                    .withContainerNetwork(new ContainerNetwork().withAliases(aliases(name, attached.get(more))))
                    .exec();
        }
    }

    /** A path of the file begins with this directory, which is that one in these tests. */
    void directory(String begins, Path is) {
        elsewhere.put(begins, is);
    }

    private Path hostPath(String path) {
        return elsewhere.entrySet().stream()
                .filter(e -> path.startsWith(e.getKey() + "/"))
                .map(e -> e.getValue().resolve(path.substring(e.getKey().length() + 1)))
                .findFirst()
                .orElse(directory.resolve(path));
    }

    /** Readable for all, because the image's user is nobody on this host. */
    private static void copy(Path from, GenericContainer<?> container, String to) throws UncheckedIOException {
        if (!Files.isDirectory(from)) {
            container.withCopyFileToContainer(MountableFile.forHostPath(from, FILE_MODE), to);
            return;
        }
        try (Stream<Path> files = Files.list(from)) {
            files.forEach(file -> copy(file, container, to + "/" + file.getFileName()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What is in a service's environment beside what the file says, from its next start on. */
    void environment(String name, String key, String value) {
        moreEnvironment.computeIfAbsent(name, any -> new HashMap<>()).put(key, value);
    }

    /** Ends services, with what their volumes hold. */
    void delete(String... names) {
        for (String name : names) {
            containers.remove(name).close();
            for (String mount : strings(service(name).get("volumes"))) {
                String volume = prefix + mount.split(":")[0];
                if (volumes.remove(volume)) {
                    docker().removeVolumeCmd(volume).exec();
                }
            }
        }
    }

    /** Stops it in order and goes on with another image and what its volumes hold. */
    void replace(String name, String image) {
        docker().stopContainerCmd(id(name)).withTimeout(60).exec();
        containers.remove(name).close();
        up(name, image);
    }

    /** As when its host loses power. */
    void kill(String... names) {
        for (String name : names) {
            docker().killContainerCmd(id(name)).exec();
        }
    }

    /** Starts again what was killed. */
    void start(String... names) {
        for (String name : names) {
            docker().startContainerCmd(id(name)).exec();
        }
    }

    void pause(String name) {
        docker().pauseContainerCmd(id(name)).exec();
    }

    void unpause(String name) {
        docker().unpauseContainerCmd(id(name)).exec();
    }

    /** Takes it off a network, until that is closed: then it has its address there again. */
    Cut cut(String name, String network) {
        String address = address(name, network);
        docker().disconnectFromNetworkCmd()
                .withNetworkId(network(network).getId())
                .withContainerId(id(name))
                .exec();
        return () -> connect(name, network, address);
    }

    /** A node that is off a network. */
    interface Cut extends AutoCloseable {
        @Override
        void close();
    }

    private void connect(String name, String network, String address) {
        Map<String, Object> attached = map(service(name).get("networks"));
        docker().connectToNetworkCmd()
                .withNetworkId(network(network).getId())
                .withContainerId(id(name))
                .withContainerNetwork(new ContainerNetwork()
                        .withAliases(aliases(name, attached.get(network)))
                        .withIpamConfig(new ContainerNetwork.Ipam().withIpv4Address(address)))
                .exec();
    }

    /** Where it is in a network, seen from this host too. */
    String address(String name, String network) {
        return docker().inspectContainerCmd(id(name))
                .exec()
                .getNetworkSettings()
                .getNetworks()
                .get(((Network.NetworkImpl) network(network)).getName())
                .getIpAddress();
    }

    /** The health that the engine sees: starting, healthy or unhealthy. */
    String health(String name) {
        return docker().inspectContainerCmd(id(name))
                .exec()
                .getState()
                .getHealth()
                .getStatus();
    }

    /** The user that it runs as, as the image says. */
    String user(String name) {
        return docker().inspectContainerCmd(id(name)).exec().getConfig().getUser();
    }

    String imageOf(String name) {
        return docker().inspectContainerCmd(id(name)).exec().getConfig().getImage();
    }

    /** What it has printed. */
    String logs(String name) {
        return containers.get(name).getLogs();
    }

    /** The end of that. */
    String logTail(String name) {
        List<String> lines = logs(name).lines().toList();
        return name + ":\n" + String.join("\n", lines.subList(Math.max(0, lines.size() - 30), lines.size()));
    }

    private String story() {
        return containers.keySet().stream()
                .map(name -> name + ":\n" + Stories.told(logs(name).lines()))
                .collect(Collectors.joining("\n"));
    }

    @Override
    public void close() {
        Stories.end(this);
        containers.values().forEach(GenericContainer::close);
        networks.values().forEach(Network::close);
        for (String volume : volumes) {
            docker().removeVolumeCmd(volume).exec();
        }
    }

    private Map<String, Object> service(String name) {
        return map(services.get(name));
    }

    private String id(String name) {
        return containers.get(name).getContainerId();
    }

    /** With a subnet of its own, for only there an address can be asked for. */
    private Network network(String name) {
        return networks.computeIfAbsent(name, any -> Network.builder()
                .createNetworkCmdModifier(create ->
                        create.withIpam(new Ipam().withConfig(new Ipam.Config().withSubnet(freeSubnet() + ".0/24"))))
                .build());
    }

    /**
     * One in which this host has no address: an engine that was killed leaves its bridges, and of two with the same
     * subnet only the older one is reached.
     */
    private static String freeSubnet() {
        List<String> taken = new ArrayList<>();
        try {
            NetworkInterface.networkInterfaces()
                    .flatMap(NetworkInterface::inetAddresses)
                    .forEach(address -> taken.add(address.getHostAddress()));
        } catch (SocketException e) {
            throw new UncheckedIOException(e);
        }
        return IntStream.range(0, 256)
                .mapToObj(third -> "10.219." + third)
                .filter(subnet -> taken.stream().noneMatch(address -> address.startsWith(subnet + ".")))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no subnet of 10.219.0.0/16 is free: " + taken));
    }

    private static List<String> aliases(String service, Object attached) {
        List<String> aliases = new ArrayList<>(List.of(service));
        aliases.addAll(List.of(strings(map(attached).get("aliases"))));
        return aliases;
    }

    private static DockerClient docker() {
        return DockerClientFactory.instance().client();
    }

    /** Empty when there is none. */
    private static Map<String, Object> map(Object yaml) {
        Map<String, Object> map = new LinkedHashMap<>();
        if (yaml != null) {
            ((Map<?, ?>) yaml).forEach((key, value) -> map.put(key.toString(), value));
        }
        return map;
    }

    /** Empty when there are none. */
    private static String[] strings(Object yaml) {
        return yaml == null
                ? new String[0]
                : ((List<?>) yaml).stream().map(Object::toString).toArray(String[]::new);
    }
}
