#!/usr/bin/env bash
# A node that missed N one-row transactions and comes back by an incremental transfer, beside MySQL's own replica catching up on a
# binlog of as many (4 workers, WRITESET, commit order kept), one after the other on the same machine.
#   bench/return.sh [N=500000] [THREADS=16]
# Needs sysbench, python3. Prints what each took, its rate, and whether the tables are equal.
set -euo pipefail
N=${1:-500000} THREADS=${2:-16}
BASE=${BASE:-26400} ROOT=$(cd "$(dirname "$0")/.." && pwd) WORK=$(mktemp -d)
DIR=$WORK/sandbox
PIDS=()
finish() {
  "$ROOT/quorate" sandbox destroy --dir "$DIR" >/dev/null 2>&1 || true
  for p in "${PIDS[@]}"; do kill "$p" 2>/dev/null || true; done
  for p in "${PIDS[@]}"; do wait "$p" 2>/dev/null || true; done
  rm -rf "$WORK"
}
trap finish EXIT

"$ROOT/quorate" sandbox start --dir "$DIR" --base-port "$BASE" --set quorate.commit-mode=async --set mysql.sync_binlog=0 --set mysql.innodb_flush_log_at_trx_commit=2 \
  --set mysql.innodb_buffer_pool_size=512M --set quorate.order.log-bytes-max=8MB --set quorate.order.checkpoint-entries=500 >&2
MYSQLD=${MYSQLD:-$(ls -d "${QUORATE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/quorate}"/mysql-*/bin/mysqld | head -1)}
MYSQL=$(dirname "$MYSQLD")/mysql
my() { local port=$1; shift; "$MYSQL" --no-defaults -h127.0.0.1 -P"$port" -uroot -Nse "$*"; }
sb() { local port=$1; shift; sysbench --mysql-host=127.0.0.1 --mysql-port="$port" --mysql-user=root --mysql-db=sbtest --tables=4 \
  --table-size=50000 --auto-inc=off --rand-type=uniform --time=0 --events="$N" "$@"; }
equal() { for t in 1 2 3 4; do
  [ "$(my "$1" "checksum table sbtest.sbtest$t")" = "$(my "$2" "checksum table sbtest.sbtest$t")" ] || { echo "sbtest$t differs"; exit 1; }; done; }
millis() { echo $(($(date +%s%N) / 1000000)); }

my $((BASE + 1)) "create database sbtest"
sb $((BASE + 1)) --threads=4 oltp_update_index prepare >/dev/null
until [ "$(my $((BASE + 3)) "select count(*) from information_schema.statistics where table_schema = 'sbtest' and index_name like 'k%'")" = 4 ]; do sleep 1; done
sleep 2
"$ROOT/quorate" sandbox kill n3 --dir "$DIR" >/dev/null
sb $((BASE + 1)) --threads="$THREADS" oltp_update_index run | awk '/transactions:/ {print "written on n1:", $0}'
"$ROOT/quorate" sandbox restart n3 --timeout 600 --dir "$DIR" >&2
python3 - "$DIR/n3/service.log" "$N" <<'P'
import datetime, re, sys
at = {}
for line in open(sys.argv[1]):
    m = re.match(r'(\S+)Z ', line)
    if not m:
        continue
    t = datetime.datetime.fromisoformat(m.group(1))
    for key, text in (('begin', 'receiving what was missed from the other'), ('received', 'received '), ('synced', 'JOINED -> SYNCED')):
        if text in line and (key != 'received' or ' writesets, ' in line):
            at[key] = t
if 'received' not in at:
    sys.exit('no transfer took place: the log still reached back')
n = int(sys.argv[2])
transfer = (at['received'] - at['begin']).total_seconds()
whole = (at['synced'] - at['begin']).total_seconds()
print(f"Quorate: transfer {transfer:.1f} s, SYNCED {whole:.1f} s after it began: {n / whole:.0f}/s")
P
equal $((BASE + 1)) $((BASE + 3))
echo "all tables equal"
"$ROOT/quorate" sandbox destroy --dir "$DIR" >/dev/null 2>&1

# The same with MySQL alone.
"$MYSQLD" --no-defaults --user=root --datadir="$WORK/template" --initialize-insecure >/dev/null 2>&1
for i in 1 2; do
  cp -r "$WORK/template" "$WORK/m$i"
  rm "$WORK/m$i/auto.cnf"
  "$MYSQLD" --no-defaults --user=root --datadir="$WORK/m$i" --port=$((BASE + 10 + i)) --socket="$WORK/m$i.sock" --mysqlx=OFF --server-id=$i \
    --gtid-mode=ON --enforce-gtid-consistency=ON --log-bin=binlog --bind-address=127.0.0.1 --innodb-buffer-pool-size=512M --sync-binlog=0 \
    --innodb-flush-log-at-trx-commit=2 --binlog-transaction-dependency-tracking=WRITESET --replica-parallel-workers=4 \
    --replica-preserve-commit-order=ON --log-error="$WORK/m$i.err" >/dev/null 2>&1 &
  PIDS+=($!)
done
for i in 1 2; do until my $((BASE + 10 + i)) "select 1" >/dev/null 2>&1; do sleep 0.5; done; done
my $((BASE + 11)) "create database sbtest; create user r@'%' identified with mysql_native_password by 'r'; grant replication slave on *.* to r@'%'"
sb $((BASE + 11)) --threads=4 oltp_update_index prepare >/dev/null
my $((BASE + 12)) "change replication source to source_host='127.0.0.1', source_port=$((BASE + 11)), source_user='r', source_password='r', source_auto_position=1; start replica"
caught_up() { [ "$(my $((BASE + 12)) "select gtid_subset('$(my $((BASE + 11)) "select @@gtid_executed" | tr -d '\n')', @@gtid_executed)")" = 1 ]; }
until caught_up; do sleep 0.2; done
my $((BASE + 12)) "stop replica"
sb $((BASE + 11)) --threads="$THREADS" oltp_update_index run | awk '/transactions:/ {print "written on the source:", $0}'
began=$(millis)
my $((BASE + 12)) "start replica"
until caught_up; do sleep 0.2; done
took=$(($(millis) - began))
echo "MySQL replica: $((took / 1000)).$((took % 1000 / 100)) s: $((N * 1000 / took))/s"
equal $((BASE + 11)) $((BASE + 12))
echo "all tables equal"
