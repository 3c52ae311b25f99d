#!/usr/bin/env bash
# A full copy of a sysbench data set while it is updated: by stream, by clone, by MySQL's CLONE by hand, and by mysqldump piped into
# mysql, one after the other on the same machine, from the same server.
#   bench/copies.sh [ROWS=500000 a table, 4 tables] [RATE=300 updates a second]
# Needs sysbench, python3, and a mysqldump (MySQL's or MariaDB's) in the PATH. Prints what each took, what the writer did before and
# meanwhile, and the memory of the services.
set -euo pipefail
ROWS=${1:-500000} RATE=${2:-300}
BASE=${BASE:-26800} ROOT=$(cd "$(dirname "$0")/.." && pwd) WORK=$(mktemp -d)
DIR=$WORK/sandbox
PIDS=()
finish() {
  "$ROOT/quorate" sandbox destroy --dir "$DIR" >/dev/null 2>&1 || true
  for p in "${PIDS[@]}"; do kill "$p" 2>/dev/null || true; done
  for p in "${PIDS[@]}"; do wait "$p" 2>/dev/null || true; done
  rm -rf "$WORK"
}
trap finish EXIT

# Small caches and logs: who joins can't have it all from there.
"$ROOT/quorate" sandbox start --dir "$DIR" --base-port "$BASE" --set quorate.commit-mode=async --set mysql.innodb_buffer_pool_size=512M --set mysql.sync_binlog=0 \
  --set mysql.innodb_flush_log_at_trx_commit=2 --set mysql.innodb_redo_log_capacity=512M --set quorate.order.log-bytes-max=8MB \
  --set quorate.order.checkpoint-entries=200 --set quorate.sst.method=stream >&2
MYSQLD=${MYSQLD:-$(ls -d "${QUORATE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/quorate}"/mysql-*/bin/mysqld | head -1)}
MYSQL=$(dirname "$MYSQLD")/mysql
my() { local port=$1; shift; "$MYSQL" --no-defaults -h127.0.0.1 -P"$port" -uroot -Nse "$*"; }
# Without --auto-inc=off most ids would be missing, and most updates change nothing.
sb() { sysbench --mysql-host=127.0.0.1 --mysql-port=$((BASE + 1)) --mysql-user=root --mysql-db=sbtest --tables=4 \
  --table-size="$ROWS" --auto-inc=off --rand-type=uniform "$@"; }
millis() { echo $(($(date +%s%N) / 1000000)); }

my $((BASE + 1)) "create database sbtest"
sb --threads=4 oltp_update_index prepare >/dev/null
until [ "$(my $((BASE + 3)) "select count(*) from information_schema.statistics where table_schema = 'sbtest' and index_name like 'k%'")" = 4 ]; do sleep 1; done
bytes=$(my $((BASE + 1)) "select sum(file_size) from information_schema.innodb_tablespaces where name like 'sbtest/%'")
echo "data set: $((bytes >> 20)) MB in files"
sb --threads=4 --rate="$RATE" --time=0 --report-interval=1 oltp_update_index run >"$WORK/writer" 2>&1 &
PIDS+=($!)
sleep 15

writer() { # of the last N seconds
  tail -n "$1" "$WORK/writer" | awk '/tps:/ {for (i = 1; i < NF; i++) {if ($i == "tps:") t += $(i + 1); if ($i == "(ms,95%):") l += $(i + 1)}; n++} END {if (n) printf "%.0f updates/s, 95%% within %.1f ms", t / n, l / n}'
}
report() { # name milliseconds
  echo "$1: $(($2 / 1000)).$(($2 % 1000 / 100)) s, $((bytes * 1000 / $2 >> 20)) MB/s of files; writer meanwhile $(writer $(($2 / 1000 + 1)))"
}
fresh() { # n
  cp -r "$WORK/template" "$WORK/m$1"; rm -f "$WORK/m$1/auto.cnf"
  "$MYSQLD" --no-defaults --user=root --datadir="$WORK/m$1" --port=$((BASE + 10 + $1)) --socket="$WORK/m$1.sock" --mysqlx=OFF --server-id=$((100 + $1)) \
    --bind-address=127.0.0.1 --innodb-buffer-pool-size=512M --innodb-redo-log-capacity=512M --innodb-flush-log-at-trx-commit=2 --sync-binlog=0 \
    --gtid-mode=ON --enforce-gtid-consistency=ON --log-bin=binlog --log-error="$WORK/m$1.err" >/dev/null 2>&1 &
  PIDS+=($!)
  until my $((BASE + 10 + $1)) "select 1" >/dev/null 2>&1; do sleep 0.2; done
}
"$MYSQLD" --no-defaults --user=root --datadir="$WORK/template" --initialize-insecure >/dev/null 2>&1
echo "nothing copied: writer $(writer 10)"

# From when the node begins to copy until its server is complete, and until it is SYNCED.
copied() { python3 - "$1" <<'P'
import datetime, re, sys
at = {}
for line in open(sys.argv[1]):
    m = re.match(r'(\S+)Z ', line)
    if m:
        t = datetime.datetime.fromisoformat(m.group(1))
        for key, text in (('begin', 'what this server holds goes'), ('done', 'the full copy of the data of'), ('synced', '-> SYNCED')):
            if text in line:
                at[key] = t
        for text in ('all rows are here', 'rows were brought', 'indexes and foreign keys made'):
            if text in line:
                print('  ', line.split(' : ', 1)[1].strip(), file=sys.stderr)
ms = lambda a, b: int((at[b] - at[a]).total_seconds() * 1000)
print(ms('begin', 'done'), ms('done', 'synced'))
P
}
for method in stream clone; do
  sed -i "s/\"quorate.sst.method\" *: *\"[a-z]*\"/\"quorate.sst.method\" : \"$method\"/" "$DIR/sandbox.json"
  "$ROOT/quorate" sandbox add --dir "$DIR" --timeout 1800 >&2
  node=$(ls "$DIR" | grep -E '^n[0-9]+$' | sort -V | tail -1)
  read -r took after < <(copied "$DIR/$node/service.log")
  report "$method" "$took"
  echo "  SYNCED $after ms after it was complete; joiner's service at most $(awk '/VmHWM/ {print int($2 / 1024)}' /proc/"$(pgrep -f "java.*$DIR/$node/" | head -1)"/status) MB"
  "$ROOT/quorate" sandbox remove "$node" --dir "$DIR" >&2
done

fresh 1
my $((BASE + 1)) "install plugin clone soname 'mysql_clone.so'" 2>/dev/null || true
my $((BASE + 11)) "install plugin clone soname 'mysql_clone.so'; set global clone_valid_donor_list = '127.0.0.1:$((BASE + 1))'"
my $((BASE + 1)) "create user if not exists cloner@'%' identified with mysql_native_password by 'c'; grant backup_admin on *.* to cloner@'%'"
began=$(millis)
my $((BASE + 11)) "clone instance from cloner@'127.0.0.1':$((BASE + 1)) identified by 'c'" 2>/dev/null || true
while kill -0 "${PIDS[-1]}" 2>/dev/null; do sleep 0.1; done
"$MYSQLD" --no-defaults --user=root --datadir="$WORK/m1" --port=$((BASE + 11)) --socket="$WORK/m1.sock" --mysqlx=OFF --server-id=101 \
  --bind-address=127.0.0.1 --innodb-buffer-pool-size=512M --log-error="$WORK/m1.err" >/dev/null 2>&1 &
PIDS+=($!)
until my $((BASE + 11)) "select count(*) from sbtest.sbtest1 where id = 1" >/dev/null 2>&1; do sleep 0.1; done
report "CLONE by hand, mysqld's restart included" $(($(millis) - began))
kill "${PIDS[-1]}"

fresh 2
began=$(millis)
mysqldump --no-defaults -h127.0.0.1 -P$((BASE + 1)) -uroot --single-transaction --skip-lock-tables --databases sbtest 2>/dev/null |
  sed '1{/999999/d}' | # MariaDB's first line, which MySQL's client doesn't know
  "$MYSQL" --no-defaults -h127.0.0.1 -P$((BASE + 12)) -uroot
report "mysqldump | mysql" $(($(millis) - began))
[ "$(my $((BASE + 12)) "select count(*) from sbtest.sbtest4")" = "$ROWS" ] || echo "mysqldump: rows are missing"
