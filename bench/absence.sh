#!/usr/bin/env bash
# A node whose mysqld is gone for a minute while another writes: its service's heap (live, after a collection) each ten seconds, then the time
# until the returned server has everything, and whether the tables are equal.
#   bench/absence.sh [SECONDS=60] [THREADS=16]
# Needs sysbench, curl, python3, and the JDK's jcmd.
set -euo pipefail
SECS=${1:-60} THREADS=${2:-16}
BASE=${BASE:-25900} ROOT=$(cd "$(dirname "$0")/.." && pwd) WORK=$(mktemp -d)
DIR=$WORK/sandbox
trap '"$ROOT/quorate" sandbox destroy --dir "$DIR" >/dev/null 2>&1 || true; rm -rf "$WORK"' EXIT

"$ROOT/quorate" sandbox start --dir "$DIR" --base-port "$BASE" --set quorate.commit-mode=async --set mysql.sync_binlog=0 --set mysql.innodb_flush_log_at_trx_commit=2 \
  --set mysql.innodb_buffer_pool_size=512M >&2
MYSQL=${MYSQL:-$(command -v mysql || ls -d "${QUORATE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/quorate}"/mysql-*/bin/mysql | head -1)}
my() { local n=$1; shift; "$MYSQL" --no-defaults -h127.0.0.1 -P$((BASE + n)) -uroot -Nse "$*"; }
node2() { "$ROOT/quorate" sandbox status --dir "$DIR" --json |
  python3 -c "import json,sys; n=json.load(sys.stdin)['nodes'][1]; print(*(n[k] for k in sys.argv[1:]))" "$@"; }
sb() { sysbench "$@" --mysql-host=127.0.0.1 --mysql-port=$((BASE + 1)) --mysql-user=app --mysql-password=app --mysql-db=sbtest --tables=4 \
  --table-size=20000 --auto-inc=off --rand-type=uniform; }
SERVICE=$(node2 servicePid)
heap() { jcmd "$SERVICE" GC.run >/dev/null
  curl -s "http://127.0.0.1:$((BASE + 202))/actuator/prometheus" |
    awk '/^jvm_memory_used_bytes.*area="heap"/ {s += $NF} END {printf "%.1f MB of live heap", s / 1048576}'; }
show() { echo "$1: $(heap); state, ordered, applied: $(node2 state lastOrdered lastApplied)"; }
millis() { echo $(($(date +%s%N) / 1000000)); }

my 1 "create database sbtest"
sb --threads=4 oltp_read_write prepare >/dev/null
show "before"
"$ROOT/quorate" sandbox kill n2 --what mysqld --dir "$DIR" >/dev/null
sb --threads="$THREADS" --time="$SECS" oltp_update_index run > "$WORK/out" &
writer=$!
for at in $(seq 10 10 "$SECS"); do sleep 10; show "$at s"; done
wait "$writer"
grep transactions: "$WORK/out"
began=$(millis)
"$ROOT/quorate" sandbox restart n2 --dir "$DIR" >/dev/null 2>&1
until [ "$(node2 lastOrdered)" = "$(node2 lastApplied)" ]; do sleep 0.2; done
echo "server restarted and everything applied after $(($(millis) - began)) ms"
show "after"
for t in 1 2 3 4; do
  [ "$(my 1 "checksum table sbtest.sbtest$t")" = "$(my 2 "checksum table sbtest.sbtest$t")" ] || { echo "sbtest$t differs"; exit 1; }
done
echo "all tables equal"
