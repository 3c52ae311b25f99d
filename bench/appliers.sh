#!/usr/bin/env bash
# How fast a server catches up on N one-row transactions by the number of threads that apply them, 1, 2, 4, 8, and of those that had
# written them, 1, 8, 64: a node of Quorate's, from its writeset cache, and MySQL's replica with COMMIT_ORDER and with WRITESET (commit order
# kept), from its relay log. One after the other, each from the same copy of a data directory.
#   bench/appliers.sh [N=50000] [OUT=appliers.tsv]      draws OUT's chart beside it, .png
# Needs sysbench, python3, curl.
set -euo pipefail
N=${1:-50000} OUT=$(realpath "${2:-appliers.tsv}")
BASE=${BASE:-26600} ROOT=$(cd "$(dirname "$0")/.." && pwd) WORK=$(mktemp -d)
DIR=$WORK/sandbox
PIDS=()
finish() {
  "$ROOT/quorate" sandbox destroy --dir "$DIR" >/dev/null 2>&1 || true
  for p in "${PIDS[@]}"; do kill "$p" 2>/dev/null || true; done
  for p in "${PIDS[@]}"; do wait "$p" 2>/dev/null || true; done
  rm -rf "$WORK"
}
trap finish EXIT
: >"$OUT"
sb() { local port=$1 threads=$2; shift 2; sysbench --mysql-host=127.0.0.1 --mysql-port="$port" --mysql-user=root --mysql-db=sbtest --tables=4 \
  --table-size=50000 --auto-inc=off --rand-type=uniform --time=0 --events="$N" --threads="$threads" oltp_update_index "$@" >/dev/null; }
my() { local port=$1; shift; "$MYSQL" --no-defaults -h127.0.0.1 -P"$port" -uroot -Nse "$*"; }
note() { printf '%s\t%s\t%s\t%s\n' "$@" | tee -a "$OUT"; }
millis() { echo $(($(date +%s%N) / 1000000)); }
ordered() { curl -s "http://127.0.0.1:$1/actuator/cluster/self" | python3 -c 'import json, sys; print(json.load(sys.stdin)["lastOrdered"])'; }

"$ROOT/quorate" sandbox start --dir "$DIR" --base-port "$BASE" --set quorate.commit-mode=async --set mysql.sync_binlog=0 --set mysql.innodb_flush_log_at_trx_commit=2 \
  --set mysql.innodb_buffer_pool_size=512M >&2
MYSQLD=${MYSQLD:-$(ls -d "${QUORATE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/quorate}"/mysql-*/bin/mysqld | head -1)}
MYSQL=$(dirname "$MYSQLD")/mysql
my $((BASE + 1)) "create database sbtest"
sb $((BASE + 1)) 4 prepare
until [ "$(my $((BASE + 3)) "select count(*) from information_schema.statistics where table_schema = 'sbtest' and index_name like 'k%'")" = 4 ]; do sleep 1; done
for writers in 1 8 64; do
  sleep 3
  "$ROOT/quorate" sandbox kill n3 --what mysqld --dir "$DIR" >/dev/null
  sb $((BASE + 1)) "$writers" run
  sleep 2
  until [ "$(ordered $((BASE + 203)))" = "$(ordered $((BASE + 201)))" ]; do sleep 0.5; done
  "$ROOT/quorate" sandbox kill n3 --what service --dir "$DIR" >/dev/null
  rm -rf "$WORK/saved"
  cp -r "$DIR/n3/data" "$WORK/saved"
  for appliers in 1 2 4 8; do
    "$ROOT/quorate" sandbox kill n3 --what both --dir "$DIR" >/dev/null 2>&1 || true
    rm -rf "$DIR/n3/data"
    cp -r "$WORK/saved" "$DIR/n3/data"
    python3 - "$DIR/sandbox.json" "$appliers" <<'P'
import json, sys
d = json.load(open(sys.argv[1]))
d['set']['quorate.apply.workers'] = sys.argv[2]
d['set']['quorate.apply.synced-lag-max'] = '1'
json.dump(d, open(sys.argv[1], 'w'))
P
    "$ROOT/quorate" sandbox restart n3 --timeout 300 --dir "$DIR" >&2
    note Quorate "$writers" "$appliers" "$(python3 - "$DIR/n3/service.log" "$(ordered $((BASE + 203)))" <<'P'
import datetime, re, sys
for line in open(sys.argv[1]):
    m = re.match(r'(\S+)Z ', line)
    if not m:
        continue
    t = datetime.datetime.fromisoformat(m.group(1))
    a = re.search(r'applying from seqno (\d+)', line)
    if a:
        first, began = int(a.group(1)), t
    if 'JOINED -> SYNCED' in line:
        synced = t
print(round((int(sys.argv[2]) + 1 - first) / (synced - began).total_seconds()))
P
)"
  done
done
for t in 1 2 3 4; do
  [ "$(my $((BASE + 1)) "checksum table sbtest.sbtest$t")" = "$(my $((BASE + 3)) "checksum table sbtest.sbtest$t")" ] || { echo "sbtest$t differs"; exit 1; }
done
"$ROOT/quorate" sandbox destroy --dir "$DIR" >/dev/null 2>&1

"$MYSQLD" --no-defaults --user=root --datadir="$WORK/template" --initialize-insecure >/dev/null 2>&1
server() { # number, further options
  local i=$1; shift
  "$MYSQLD" --no-defaults --user=root --datadir="$WORK/m$i" --port=$((BASE + 10 + i)) --socket="$WORK/m$i.sock" --mysqlx=OFF --server-id="$i" \
    --gtid-mode=ON --enforce-gtid-consistency=ON --log-bin=binlog --bind-address=127.0.0.1 --innodb-buffer-pool-size=512M --sync-binlog=0 \
    --innodb-flush-log-at-trx-commit=2 --replica-preserve-commit-order=ON --skip-replica-start --log-error="$WORK/m$i.err" "$@" >/dev/null 2>&1 &
  PIDS+=($!)
  until my $((BASE + 10 + i)) "select 1" >/dev/null 2>&1; do sleep 0.2; done
}
down() { my $((BASE + 12)) "shutdown"; wait "${PIDS[-1]}" 2>/dev/null || true; unset 'PIDS[-1]'; }
for i in 1 2; do
  cp -r "$WORK/template" "$WORK/m$i"
  rm "$WORK/m$i/auto.cnf"
  server "$i"
done
my $((BASE + 11)) "create database sbtest; create user r@'%' identified with mysql_native_password by 'r'; grant replication slave on *.* to r@'%'"
sb $((BASE + 11)) 4 prepare
my $((BASE + 12)) "change replication source to source_host='127.0.0.1', source_port=$((BASE + 11)), source_user='r', source_password='r', source_auto_position=1; start replica"
source_set() { my $((BASE + 11)) "select @@gtid_executed" | tr -d '\n'; }
applied() { [ "$(my $((BASE + 12)) "select gtid_subset('$1', @@gtid_executed)")" = 1 ]; }
received() { [ "$(my $((BASE + 12)) "select gtid_subset('$1', concat(@@gtid_executed, ',', (select received_transaction_set from performance_schema.replication_connection_status)))")" = 1 ]; }
until applied "$(source_set)"; do sleep 0.2; done
for mode in COMMIT_ORDER WRITESET; do
  my $((BASE + 11)) "set global binlog_transaction_dependency_tracking = $mode"
  for writers in 1 8 64; do
    my $((BASE + 12)) "stop replica; start replica io_thread"
    sb $((BASE + 11)) "$writers" run
    all=$(source_set)
    until received "$all"; do sleep 0.2; done
    my $((BASE + 12)) "stop replica"
    down
    rm -rf "$WORK/saved"
    cp -r "$WORK/m2" "$WORK/saved"
    for appliers in 1 2 4 8; do
      rm -rf "$WORK/m2"
      cp -r "$WORK/saved" "$WORK/m2"
      server 2 --replica-parallel-workers="$appliers"
      began=$(millis)
      my $((BASE + 12)) "start replica sql_thread"
      until applied "$all"; do sleep 0.1; done
      note "MySQL, $mode" "$writers" "$appliers" $((N * 1000 / ($(millis) - began)))
      [ "$appliers" = 8 ] || { my $((BASE + 12)) "stop replica"; down; }
    done
  done
done
java -Djava.awt.headless=true "$ROOT/bench/Chart.java" "$OUT" "${OUT%.tsv}.png"
