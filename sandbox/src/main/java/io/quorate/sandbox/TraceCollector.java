// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * A collector of traces on loopback, for tests: takes what services send by OTLP over HTTP and keeps the latest spans.
 * It reads the messages of {@code opentelemetry/proto/trace/v1/trace.proto} by itself, by the numbers of their fields.
 */
public final class TraceCollector implements AutoCloseable {
    private static final int SPANS_MAX = 100_000;
    private static final String PATH = "/v1/traces";
    private static final String TYPE = "application/x-protobuf";

    /**
     * A span.
     *
     * @param traceId in hexadecimal digits, as the other ids
     * @param parentId empty without one
     * @param attributes its own, and those of the resource that it belongs to
     */
    public record Span(
            String traceId,
            String id,
            String parentId,
            String name,
            long startNanos,
            long endNanos,
            Map<String, String> attributes) {}

    private final HttpServer http;
    private final ArrayDeque<Span> spans = new ArrayDeque<>();

    private TraceCollector(HttpServer http) {
        this.http = http;
    }

    public static TraceCollector start() throws IOException {
        HttpServer http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        TraceCollector collector = new TraceCollector(http);
        http.createContext("/", collector::answer);
        http.start();
        return collector;
    }

    /** The URL to send to. */
    public String endpoint() {
        return "http://127.0.0.1:" + http.getAddress().getPort() + PATH;
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            byte[] body = exchange.getRequestBody().readAllBytes();
            boolean meant = exchange.getRequestURI().getPath().equals(PATH)
                    && TYPE.equals(exchange.getRequestHeaders().getFirst("Content-Type"));
            if (meant) {
                take(body);
                exchange.getResponseHeaders().set("Content-Type", TYPE);
            }
            exchange.sendResponseHeaders(meant ? 200 : 404, -1);
        }
    }

    private synchronized void take(byte[] request) {
        for (Field resourceSpans : fields(request)) {
            Map<String, String> resource = new TreeMap<>();
            for (Field part : fields(resourceSpans.bytes(1))) {
                if (part.number() == 1) {
                    fields(part.bytes(1)).forEach(each -> putAttribute(resource, each));
                } else if (part.number() == 2) {
                    fields(part.bytes(2)).stream()
                            .filter(each -> each.number() == 2)
                            .forEach(each -> spans.add(span(each.bytes(2), resource)));
                }
            }
        }
        while (spans.size() > SPANS_MAX) {
            spans.remove();
        }
        notifyAll();
    }

    private static Span span(byte[] message, Map<String, String> resource) {
        Map<String, String> attributes = new TreeMap<>(resource);
        String[] ids = {"", "", ""};
        String name = "";
        long start = 0;
        long end = 0;
        for (Field field : fields(message)) {
            switch (field.number()) {
                case 1 -> ids[0] = HexFormat.of().formatHex(field.bytes(1));
                case 2 -> ids[1] = HexFormat.of().formatHex(field.bytes(2));
                case 4 -> ids[2] = HexFormat.of().formatHex(field.bytes(4));
                case 5 -> name = field.text();
                case 7 -> start = field.value();
                case 8 -> end = field.value();
                case 9 -> putAttribute(attributes, field);
                default -> {
                    // Nobody asks for it.
                }
            }
        }
        return new Span(ids[0], ids[1], ids[2], name, start, end, attributes);
    }

    /** Texts and numbers. */
    private static void putAttribute(Map<String, String> attributes, Field keyValue) {
        String key = "";
        String value = "";
        for (Field part : fields(keyValue.content())) {
            if (part.number() == 1) {
                key = part.text();
            } else {
                for (Field any : fields(part.content())) {
                    value = any.content() == null ? Long.toString(any.value()) : any.text();
                }
            }
        }
        attributes.put(key, value);
    }

    /** Waits until there are at least so many spans of these. */
    public synchronized List<Span> await(Predicate<Span> which, int count, Duration limit) throws InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        while (true) {
            List<Span> found = spans.stream().filter(which).toList();
            if (found.size() >= count) {
                return found;
            }
            long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
            if (left <= 0) {
                throw new SandboxException(
                        "of " + count + " spans there are " + found + ", and " + spans.size() + " of all kinds");
            }
            wait(left);
        }
    }

    @Override
    public void close() {
        http.stop(0);
    }

    /**
     * A field of a message in protobuf's format.
     *
     * @param value of a number
     * @param content of anything else; null for a number
     */
    private record Field(int number, long value, byte[] content) {
        /** Of the field that has this number. */
        byte[] bytes(int expected) {
            if (number != expected || content == null) {
                throw new IllegalArgumentException("field " + number + " where " + expected + " is expected");
            }
            return content;
        }

        String text() {
            return new String(content, StandardCharsets.UTF_8);
        }
    }

    private static List<Field> fields(byte[] message) {
        List<Field> fields = new ArrayList<>();
        ByteBuffer in = ByteBuffer.wrap(message).order(ByteOrder.LITTLE_ENDIAN);
        while (in.hasRemaining()) {
            long tag = varint(in);
            int number = (int) (tag >>> 3);
            switch ((int) (tag & 7)) {
                case 0 -> fields.add(new Field(number, varint(in), null));
                case 1 -> fields.add(new Field(number, in.getLong(), null));
                case 2 -> {
                    byte[] content = new byte[(int) varint(in)];
                    in.get(content);
                    fields.add(new Field(number, 0, content));
                }
                case 5 -> fields.add(new Field(number, in.getInt(), null));
                default -> throw new IllegalArgumentException("no field of protobuf's: " + tag);
            }
        }
        return fields;
    }

    private static long varint(ByteBuffer in) {
        long value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            byte next = in.get();
            value |= (long) (next & 0x7f) << shift;
            if (next >= 0) {
                break;
            }
        }
        return value;
    }
}
