#!/usr/bin/env bash
# A node that is killed under a steady load, is away for a minute, and comes back under that load: how long until it counts as whole
# again (SYNCED, or ONLINE), and until what is written on another node is on it within a second. At one third and at two thirds of what
# the cluster bears, which is measured first.
#   bench/back.sh quorate|gr [AWAY=60] [SHARES=33,67]
# Each of the three nodes has QUOTA cores (default 0.5; 0 = no limit) in a cgroup of its own, and servers that don't force their logs; all is
# written on n1, by 16 threads of oltp_update_index. Prints a JSON line per share. Needs root, cgroup v1 (cpu), sysbench, curl, python3.
set -euo pipefail
SYSTEM=$1 AWAY=${2:-60} SHARES=${3:-33,67}
QUOTA=${QUOTA:-0.5} WARM=${WARM:-60} ROWS=${ROWS:-50000}
BASE=${BASE:-26200} ROOT=$(cd "$(dirname "$0")/.." && pwd) WORK=$(mktemp -d)
DIR=$WORK/sandbox TAG=back_$$
declare -A PID
finish() {
  kill "${LOAD:-}" 2>/dev/null || true
  "$ROOT/quorate" sandbox destroy --dir "$DIR" >/dev/null 2>&1 || true
  for p in "${PID[@]}"; do kill -9 "$p" 2>/dev/null || true; done
  for p in "${PID[@]}"; do wait "$p" 2>/dev/null || true; done
  sleep 0.5
  for n in 1 2 3; do rmdir "/sys/fs/cgroup/cpu/${TAG}_$n" 2>/dev/null || true; done
  rm -rf "$WORK"
}
trap finish EXIT
MYSQLD=${MYSQLD:-$(ls -d "${QUORATE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/quorate}"/mysql-*/bin/mysqld | head -1)}
MYSQL=$(dirname "$MYSQLD")/mysql
millis() { echo $(($(date +%s%N) / 1000000)); }
my() { local n=$1; shift; "$MYSQL" --no-defaults -h127.0.0.1 -P$((BASE + n)) -uroot -Nse "$*" 2>/dev/null; }
SB=(oltp_update_index --mysql-host=127.0.0.1 --mysql-port=$((BASE + 1)) --mysql-user=root --mysql-db=sbtest --tables=4 --table-size="$ROWS"
  --auto-inc=off --rand-type=uniform --mysql-ignore-errors=1213,1205,1290,3101,1180)
sb() { sysbench "${SB[@]}" "$@"; }
for n in 1 2 3; do
  mkdir -p "/sys/fs/cgroup/cpu/${TAG}_$n"
  echo 20000 > "/sys/fs/cgroup/cpu/${TAG}_$n/cpu.cfs_period_us"
done
hold() { for n in 1 2 3; do awk -v q="$QUOTA" 'BEGIN{printf "%d", q == 0 ? -1 : q*20000}' > "/sys/fs/cgroup/cpu/${TAG}_$n/cpu.cfs_quota_us"; done; }
confine() { local p; for p in $(pgrep -f "$WORK/.*[nm]$1/" || true); do echo "$p" > "/sys/fs/cgroup/cpu/${TAG}_$1/cgroup.procs" 2>/dev/null || true; done; }

case $SYSTEM in
quorate)
  make() { "$ROOT/quorate" sandbox start --dir "$DIR" --base-port "$BASE" --set quorate.commit-mode=async --set mysql.sync_binlog=0 --set mysql.innodb_flush_log_at_trx_commit=2 \
    --set mysql.innodb_buffer_pool_size=512M --set mysql.performance_schema=ON >&2; }
  murder() { "$ROOT/quorate" sandbox kill n3 --dir "$DIR" >/dev/null; }
  revive() { "$ROOT/quorate" sandbox restart n3 --timeout 600 --dir "$DIR" >"$WORK/revive.log" 2>&1 & }
  state() { curl -s -m 1 "http://127.0.0.1:$((BASE + 203))/actuator/cluster/self" | python3 -c 'import json, sys; print(json.load(sys.stdin)["state"])' 2>/dev/null || true; }
  WHOLE=SYNCED;;
gr)
  server() { # number
    "$MYSQLD" --no-defaults --user=root --datadir="$WORK/m$1/" --port=$((BASE + $1)) --socket="$WORK/m$1.sock" --mysqlx=OFF --server-id="$1" \
      --gtid-mode=ON --enforce-gtid-consistency=ON --log-bin=binlog --bind-address=127.0.0.1 --report-host=127.0.0.1 --innodb-buffer-pool-size=512M \
      --sync-binlog=0 --innodb-flush-log-at-trx-commit=2 --binlog-transaction-dependency-tracking=WRITESET --replica-parallel-workers=4 \
      --replica-preserve-commit-order=ON --plugin-load-add=group_replication.so --log-error="$WORK/m$1.err" \
      --loose-group-replication-group-name=aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa --loose-group-replication-start-on-boot="$2" \
      --loose-group-replication-local-address=127.0.0.1:$((BASE + 10 + $1)) \
      --loose-group-replication-group-seeds=127.0.0.1:$((BASE + 11)),127.0.0.1:$((BASE + 12)),127.0.0.1:$((BASE + 13)) \
      --loose-group-replication-ip-allowlist=127.0.0.1/8 >/dev/null 2>&1 &
    PID[$1]=$!
  }
  make() {
    "$MYSQLD" --no-defaults --user=root --datadir="$WORK/template" --initialize-insecure >/dev/null 2>&1
    for n in 1 2 3; do
      cp -r "$WORK/template" "$WORK/m$n"
      rm "$WORK/m$n/auto.cnf"
      server "$n" OFF
      until my "$n" "select 1" >/dev/null; do sleep 0.2; done
      my "$n" "set sql_log_bin=0; create user r@'%' identified with mysql_native_password by 'r'; grant replication slave, backup_admin, clone_admin, group_replication_stream, connection_admin on *.* to r@'%'; reset master; change replication source to source_user='r', source_password='r' for channel 'group_replication_recovery'"
    done
    my 1 "set global group_replication_bootstrap_group=ON; start group_replication; set global group_replication_bootstrap_group=OFF"
    my 2 "start group_replication"
    my 3 "start group_replication"
    until [ "$(my 1 "select count(*) from performance_schema.replication_group_members where member_state = 'ONLINE'")" = 3 ]; do sleep 0.5; done
  }
  murder() { kill -9 "${PID[3]}"; wait "${PID[3]}" 2>/dev/null || true; }
  revive() { server 3 ON; }
  state() { my 3 "select member_state from performance_schema.replication_group_members where member_port = $((BASE + 3))" || true; }
  WHOLE=ONLINE;;
*) echo "quorate or gr?" >&2; exit 2;;
esac

mark=0
level() { # whether what is written on n1 is on n3 within a second
  mark=$((mark + 1))
  my 1 "replace into sbtest.mark values (1, $mark)" || return 1
  local until=$(($(millis) + 1000))
  while [ "$(millis)" -lt "$until" ]; do
    [ "$(my 3 "select n from sbtest.mark")" = "$mark" ] && return 0
    sleep 0.05
  done
  return 1
}
make
my 1 "create database sbtest; create table sbtest.mark (w int primary key, n int)"
sb --threads=4 prepare >/dev/null
until level; do sleep 0.5; done
for n in 1 2 3; do confine "$n"; done
hold
[ "$WARM" = 0 ] || sb --threads=16 --time="$WARM" run >/dev/null
until level; do sleep 0.1; done
began=$(millis)
sb --threads=16 --time=20 run >"$WORK/full"
until level; do sleep 0.1; done
FULL=$(awk -v ms=$(($(millis) - began)) '/transactions:/ {printf "%d", $2 * 1000 / ms}' "$WORK/full")
for share in ${SHARES//,/ }; do
  rate=$((FULL * share / 100))
  (exec sysbench "${SB[@]}" --threads=16 --time=3600 --rate="$rate" --report-interval=1 run >"$WORK/load" 2>&1) &
  LOAD=$!
  sleep 10
  murder
  sleep "$AWAY"
  began=$(millis)
  lines=$(wc -l <"$WORK/load")
  revive
  whole=
  until [ -n "$whole" ] && level; do
    confine 3
    if [ -z "$whole" ] && [ "$(state)" = "$WHOLE" ]; then whole=$(($(millis) - began)); fi
    sleep 0.1
    [ $(($(millis) - began)) -lt 600000 ] || break
  done
  took=$(($(millis) - began))
  meanwhile=$(tail -n +$((lines + 1)) "$WORK/load" | awk '/tps:/ {for (i = 1; i < NF; i++) if ($i == "tps:") {s += $(i + 1); c++}} END {printf "%d", c ? s / c : 0}')
  kill "$LOAD" 2>/dev/null || true
  wait "$LOAD" 2>/dev/null || true
  echo "{\"system\": \"$SYSTEM\", \"bears\": $FULL, \"rate\": $rate, \"away_s\": $AWAY, \"whole_ms\": ${whole:-null}, \"level_ms\": $took, \"tps_meanwhile\": $meanwhile}"
  until level; do sleep 0.5; done
done
# What sysbench had under way when it was ended may have been committed after the last mark.
sleep 3
until level; do sleep 0.5; done
for t in 1 2 3 4; do
  [ "$(my 1 "checksum table sbtest.sbtest$t")" = "$(my 3 "checksum table sbtest.sbtest$t")" ] || { echo "sbtest$t differs" >&2; exit 1; }
done
