#!/usr/bin/env bash
# Measures a Quorate sandbox of three nodes the way its peers are measured: each node (mysqld and service together) in a cgroup of
# its own, held to a share of CPU, sysbench on one writer, and the time until every node has every row counted in.
#   bench/system.sh [TEST=oltp_update_index] [THREADS=16] [SECONDS=10]
# Before the first run the writer writes for WARM seconds (default 60) at the same share of CPU: the services start cold, and the JVM
# compiles meanwhile.
# TEST and THREADS may be comma lists. Environment: QUOTA cores a node may use (default 0.5; 0 = no limit), DURABLE=0|1 (default 0),
# WRITERS nodes written to (default 1), NODES (default 3), WORK scratch folder (default a new one), SET more "--set key=value" options,
# MODE commit mode (default async; after-sync),
# PROFILE a folder for a flight recording of each service (JFR) over the measured runs.
# Prints a JSON line per run. Needs root, cgroup v1 (cpu, cpuacct), sysbench.
set -euo pipefail
TESTS=${1:-oltp_update_index} THREADS=${2:-16} SECS=${3:-10}
QUOTA=${QUOTA:-0.5} DURABLE=${DURABLE:-0} WRITERS=${WRITERS:-1} NODES=${NODES:-3} WARM=${WARM:-60} ROWS=${ROWS:-50000} TABLES=${TABLES:-4}
BASE=${BASE:-25700} SET="--set quorate.commit-mode=${MODE:-async} ${SET:-}"
ROOT=$(cd "$(dirname "$0")/.." && pwd)
own=; [ -n "${WORK:-}" ] || { WORK=$(mktemp -d); own=yes; }
DIR=$WORK/sandbox TAG=quorate_$$

if [ "$DURABLE" = 1 ]; then durable="--set mysql.sync_binlog=1 --set mysql.innodb_flush_log_at_trx_commit=1"
else durable="--set mysql.sync_binlog=0 --set mysql.innodb_flush_log_at_trx_commit=2"; fi

cleanup() {
  [ -n "${KEEP:-}" ] || "$ROOT/quorate" sandbox destroy --dir "$DIR" >/dev/null 2>&1 || true
  sleep 0.5
  for i in $(seq "$NODES"); do for c in cpu cpuacct; do rmdir /sys/fs/cgroup/$c/${TAG}_$i 2>/dev/null || true; done; done
  [ -z "$own" ] || [ -n "${KEEP:-}" ] || rm -rf "$WORK"
}
trap cleanup EXIT

# shellcheck disable=SC2086
"$ROOT/quorate" sandbox start --nodes "$NODES" --dir "$DIR" --base-port "$BASE" $durable $SET \
  --set mysql.innodb_buffer_pool_size=768M --set mysql.innodb_redo_log_capacity=512M --set mysql.max_connections=400 \
  --set mysql.performance_schema=OFF >&2

field() { # field NODE-INDEX NAME
  "$ROOT/quorate" sandbox status --dir "$DIR" --json | python3 -c "import json,sys; print(json.load(sys.stdin)['nodes'][$1-1]['$2'])"; }
declare -a SERVICE MYSQLD
for i in $(seq "$NODES"); do SERVICE[i]=$(field "$i" servicePid); MYSQLD[i]=$(field "$i" mysqldPid); done
for i in $(seq "$NODES"); do
  for c in cpu cpuacct; do
    mkdir -p /sys/fs/cgroup/$c/${TAG}_$i
    echo "${SERVICE[i]}" > /sys/fs/cgroup/$c/${TAG}_$i/cgroup.procs
    echo "${MYSQLD[i]}" > /sys/fs/cgroup/$c/${TAG}_$i/cgroup.procs
  done
  echo 20000 > /sys/fs/cgroup/cpu/${TAG}_$i/cpu.cfs_period_us
done
hold() { for i in $(seq "$NODES"); do awk -v q="$QUOTA" 'BEGIN{printf "%d", q == 0 ? -1 : q*20000}' > /sys/fs/cgroup/cpu/${TAG}_$i/cpu.cfs_quota_us; done; }
free() { for i in $(seq "$NODES"); do echo -1 > /sys/fs/cgroup/cpu/${TAG}_$i/cpu.cfs_quota_us; done; }
ticks() { awk '{sub(/^.*\) /, ""); print $12 + $13}' "/proc/$1/stat"; } # utime + stime, in 10 ms

MYSQL=${MYSQL:-}
if [ -z "$MYSQL" ]; then MYSQL=$(command -v mysql || ls -d "${QUORATE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/quorate}"/mysql-*/bin/mysql | head -1); else MYSQL=$MYSQL/bin/mysql; fi
my() { local n=$1; shift; "$MYSQL" --no-defaults -h127.0.0.1 -P$((BASE + n)) -uroot -Nse "$*"; }
mark=0
caught_up() { # writes a last row at each writer and waits until every node has it; prints ms
  local t0 n; t0=$(date +%s%N); mark=$((mark + 1))
  for w in $(seq "$WRITERS"); do my "$w" "insert into bench.mark values ($w, $mark) on duplicate key update n=$mark"; done
  for n in $(seq "$NODES"); do for w in $(seq "$WRITERS"); do
    until [ "$(my "$n" "select n from bench.mark where w=$w" 2>/dev/null)" = $mark ]; do sleep 0.02; done; done; done
  echo $((($(date +%s%N) - t0) / 1000000))
}

free
my 1 "create database bench; create table bench.mark (w int primary key, n int); create database sbtest1; create database sbtest2; create database sbtest3"
everywhere() { for n in $(seq "$NODES"); do my "$n" "select 1 from bench.mark limit 1; use sbtest3" >/dev/null 2>&1 || return 1; done; }
until everywhere; do sleep 0.2; done
sb() { local t=$1 k=$2 threads=$3; shift 3
  sysbench "$t" --mysql-host=127.0.0.1 --mysql-port=$((BASE + (k > WRITERS ? 1 : k))) --mysql-user=app --mysql-password=app --mysql-db=sbtest"$k" \
    --tables="$TABLES" --table-size="$ROWS" --auto-inc=off --threads="$threads" --rand-type=uniform "$@"; }
for k in $(seq "$WRITERS"); do sb oltp_read_write "$k" 4 prepare >/dev/null; done
caught_up >/dev/null
hold
writes() { "$ROOT/quorate" sandbox status --dir "$DIR" --json | python3 -c "import json,sys; print(json.load(sys.stdin)['nodes'][0]['lastOrdered'])"; }

if [ "$WARM" -gt 0 ]; then
  for t in ${TESTS//,/ }; do sb "$t" 1 16 --time="$WARM" --mysql-ignore-errors=1213,1205,1290 run >/dev/null; done
  caught_up >/dev/null
fi
[ -z "${PROFILE:-}" ] || for i in $(seq "$NODES"); do jcmd "${SERVICE[i]}" JFR.start name=p settings=profile >/dev/null; done
for t in ${TESTS//,/ }; do for th in ${THREADS//,/ }; do
  w0=$(writes)
  for i in $(seq "$NODES"); do c0[i]=$(cat /sys/fs/cgroup/cpuacct/${TAG}_$i/cpuacct.usage); s0[i]=$(ticks "${SERVICE[i]}"); m0[i]=$(ticks "${MYSQLD[i]}"); done
  pids=()
  for k in $(seq "$WRITERS"); do sb "$t" "$k" $((th / WRITERS > 0 ? th / WRITERS : 1)) --time="$SECS" --mysql-ignore-errors=1213,1205,1290 run > "$WORK/out.$k" 2>&1 & pids+=($!); done
  wait "${pids[@]}" || { cat "$WORK"/out.* >&2; exit 1; }
  lag=$(caught_up)
  out=""; for i in $(seq "$NODES"); do out="$out $(cat /sys/fs/cgroup/cpuacct/${TAG}_$i/cpuacct.usage) ${c0[i]} $(ticks "${SERVICE[i]}") ${s0[i]} $(ticks "${MYSQLD[i]}") ${m0[i]}"; done
  python3 - "$t" "$th" "$QUOTA" "$DURABLE" "$SECS" "$lag" "$(($(writes) - w0))" "$WORK" "$WRITERS" $out <<'PY'
import sys, re, json
t, th, quota, durable, secs, lag, writes, work, writers = sys.argv[1:10]
nums = list(map(int, sys.argv[10:]))
text = "".join(open(f"{work}/out.{k}").read() for k in range(1, int(writers) + 1))
trx = sum(map(int, re.findall(r"transactions:\s+(\d+)", text)))
tps = sum(map(float, re.findall(r"transactions:\s+\d+\s+\(([\d.]+)", text)))
num = lambda p: [float(x) for x in re.findall(p, text)]
per = lambda v: round(v / max(trx, 1))
nodes = [nums[i:i + 6] for i in range(0, len(nums), 6)]
print(json.dumps({"system": "quorate", "test": t, "threads": int(th), "quota": float(quota), "durable": int(durable), "writers": int(writers),
  "tps": round(tps, 1), "sustained_tps": round(trx / (float(secs) + int(lag) / 1000), 1), "avg_ms": num(r"avg:\s+([\d.]+)")[0],
  "p95_ms": max(num(r"95th percentile:\s+([\d.]+)")), "lag_ms": int(lag), "transactions": trx, "writes": int(writes),
  "cpu_us_per_trx_by_node": [per((n[0] - n[1]) / 1000) for n in nodes],
  "service_us_per_trx": [per((n[2] - n[3]) * 10000) for n in nodes], "mysqld_us_per_trx": [per((n[4] - n[5]) * 10000) for n in nodes]}))
PY
  rm -f "$WORK"/out.*
done; done
[ -z "${PROFILE:-}" ] || for i in $(seq "$NODES"); do jcmd "${SERVICE[i]}" JFR.dump name=p filename="$PROFILE/$i.jfr" >/dev/null; done
