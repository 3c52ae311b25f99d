// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.BinlogEvents;
import io.quorate.core.Gtid;
import io.quorate.core.KeyType;
import io.quorate.core.KeysBuilder;
import io.quorate.core.WriteSet;
import io.quorate.core.binlog.RowSettings;
import io.quorate.core.binlog.TableMap;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;

/** Reads the binlog files of a server on this machine and makes a writeset of each transaction, without keys. */
final class BinlogReader {
    private static final int CHECKSUM_BYTES = 4;
    private static final int XID = 16;
    private static final int GTID = 33;
    private static final int FORMAT_DESCRIPTION = 15;

    private BinlogReader() {}

    /** All transactions of all binlog files, in order. */
    static List<WriteSet> writeSets(Path dataDirectory) {
        List<WriteSet> result = new ArrayList<>();
        for (Path file : files(dataDirectory)) {
            new Parser(read(file), result).parse();
        }
        return result;
    }

    /** Every event of one type, without checksum. */
    static List<byte[]> events(Path dataDirectory, int type) {
        List<byte[]> found = new ArrayList<>();
        for (Path file : files(dataDirectory)) {
            byte[] bytes = read(file);
            for (int at = 4; at < bytes.length; at += BinlogEvents.length(bytes, at)) {
                if (BinlogEvents.type(bytes, at) == type) {
                    found.add(withoutChecksum(bytes, at));
                }
            }
        }
        return found;
    }

    static byte[] formatDescription(Path dataDirectory) {
        byte[] bytes = read(files(dataDirectory).get(0));
        if (BinlogEvents.type(bytes, 4) != FORMAT_DESCRIPTION) {
            throw new IllegalStateException("no format description");
        }
        return Arrays.copyOfRange(bytes, 4, 4 + BinlogEvents.length(bytes, 4));
    }

    private static List<Path> files(Path dataDirectory) {
        try (Stream<Path> all = Files.list(dataDirectory)) {
            return all.filter(f -> f.getFileName().toString().matches("binlog\\.\\d+"))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] read(Path file) {
        try {
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] withoutChecksum(byte[] bytes, int at) {
        int length = BinlogEvents.length(bytes, at) - CHECKSUM_BYTES;
        byte[] event = Arrays.copyOfRange(bytes, at, at + length);
        BinlogEvents.littleEndian(event).putInt(9, length);
        return event;
    }

    private static final class Parser {
        private final byte[] bytes;
        private final List<WriteSet> result;
        private final ByteArrayOutputStream payload = new ByteArrayOutputStream();
        private Gtid gtid;
        private long committedMicros;
        private boolean ddl;
        private boolean began;
        private boolean mark;

        Parser(byte[] bytes, List<WriteSet> result) {
            this.bytes = bytes;
            this.result = result;
        }

        void parse() {
            for (int at = 4; at < bytes.length; at += BinlogEvents.length(bytes, at)) {
                int type = BinlogEvents.type(bytes, at);
                if (type == GTID) {
                    begin(withoutChecksum(bytes, at));
                } else if (type == XID) {
                    end();
                } else if (type == BinlogEvents.QUERY) {
                    query(withoutChecksum(bytes, at));
                } else if (BinlogEvents.isGiven(type)) {
                    payload.writeBytes(withoutChecksum(bytes, at));
                } else if (type == BinlogEvents.XA_PREPARE) {
                    payload.writeBytes(withoutChecksum(bytes, at));
                    result.add(writeSet(WriteSet.Kind.PREPARED));
                } else if (type == BinlogEvents.TABLE_MAP) {
                    byte[] event = withoutChecksum(bytes, at);
                    mark = TableMap.read(event, 0, event.length).table.equals("certified");
                    if (!mark) {
                        payload.writeBytes(event);
                    }
                } else if (BinlogEvents.isRows(type) && !mark) {
                    payload.writeBytes(withoutChecksum(bytes, at));
                }
            }
        }

        private void begin(byte[] event) {
            ByteBuffer in = ByteBuffer.wrap(event, BinlogEvents.HEADER_BYTES + 1, 16);
            UUID source = new UUID(in.getLong(), in.getLong());
            ByteBuffer little = BinlogEvents.littleEndian(event);
            gtid = new Gtid(source, little.getLong(BinlogEvents.HEADER_BYTES + 17));
            committedMicros = little.getLong(BinlogEvents.HEADER_BYTES + 42) & 0x00ff_ffff_ffff_ffffL;
            payload.reset();
            ddl = false;
            began = false;
        }

        private void query(byte[] event) {
            String text = QueryEvent.parse(event, 0).text();
            if (text.equals("COMMIT")) {
                end();
            } else if (text.equals("BEGIN") || text.startsWith("XA START")) {
                began = true;
                payload.writeBytes(RowSettings.of(io.quorate.core.binlog.QueryEvent.read(event, 0, event.length))
                        .event());
            } else if (!text.startsWith("XA ")) {
                if (began) {
                    payload.reset();
                }
                payload.writeBytes(event);
                ddl = true;
                if (!text.endsWith("START TRANSACTION")) {
                    end();
                }
            }
        }

        private void end() {
            result.add(writeSet(ddl ? WriteSet.Kind.DDL : WriteSet.Kind.ROWS));
        }

        private WriteSet writeSet(WriteSet.Kind kind) {
            KeysBuilder keys = new KeysBuilder();
            if (kind == WriteSet.Kind.DDL) {
                // Without any it would count as upkeep.
                keys.add(100, KeyType.REFERENCE);
            }
            return new WriteSet(gtid, 0, committedMicros, kind, keys.build(), payload.toByteArray());
        }
    }
}
