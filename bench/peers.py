#!/usr/bin/env python3
"""Measures what MySQL brings itself, the way bench/system.sh measures Quorate: one server, a source with two
asynchronous or semi-synchronous replicas, or a group of three (Group Replication, one primary). Each server is held to
a share of CPU in a cgroup of its own; sysbench writes to the first; the time until all have every row counts.

    bench/peers.py mysql|async|semisync|group [TESTS=oltp_update_index] [THREADS=16] [SECONDS=10]

TESTS and THREADS may be comma lists. Environment: MYSQL folder with bin/mysqld and bin/mysql (default: the newest in
Quorate's cache), QUOTA cores a server may use (default 0.5; 0 = no limit), DURABLE=0|1 (default 0), WARM seconds of
writing before (default 20), ROWS, TABLES. Prints a JSON line per run. Needs root, cgroup v1 (cpu, cpuacct), sysbench.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SYSTEM = sys.argv[1] if len(sys.argv) > 1 else "group"
TESTS = (sys.argv[2] if len(sys.argv) > 2 else "oltp_update_index").split(",")
THREADS = [int(t) for t in (sys.argv[3] if len(sys.argv) > 3 else "16").split(",")]
SECONDS = int(sys.argv[4]) if len(sys.argv) > 4 else 10
QUOTA = float(os.environ.get("QUOTA", "0.5"))
DURABLE = int(os.environ.get("DURABLE", "0"))
WARM = int(os.environ.get("WARM", "20"))
ROWS = os.environ.get("ROWS", "50000")
TABLES = os.environ.get("TABLES", "4")
BASE = 25800
CGROUPS = pathlib.Path("/sys/fs/cgroup")
PERIOD = 20000
PASSWORD = "bench"


def newest():
    cache = os.environ.get("QUORATE_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "quorate")
    found = [p for p in pathlib.Path(cache).glob("mysql-*") if (p / "bin" / "mysqld").exists()]
    return max(found, key=lambda p: [int(n) for n in re.findall(r"\d+", p.name)])


MYSQL = pathlib.Path(os.environ["MYSQL"]) if "MYSQL" in os.environ else newest()
VERSION = re.search(r"Ver (\d+\.\d+\.\d+)", subprocess.run(
    [MYSQL / "bin/mysqld", "--no-defaults", "--version"], capture_output=True, text=True, check=True).stdout).group(1)
IS_NEW = [int(n) for n in VERSION.split(".")] >= [8, 4, 0]
PLUGINS = {"semisync": ["--loose-rpl-semi-sync-source-enabled=1", "--loose-rpl-semi-sync-replica-enabled=1",
                        "--loose-rpl-semi-sync-source-timeout=60000",
                        "--plugin-load-add=semisync_source.so", "--plugin-load-add=semisync_replica.so"],
           "group": ["--plugin-load-add=group_replication.so", "--loose-group-replication-start-on-boot=OFF",
                     "--loose-group-replication-group-name=9a1b6f0e-0000-4000-8000-000000000000",
                     "--loose-group-replication-recovery-get-public-key=ON",
                     "--loose-group-replication-ip-allowlist=127.0.0.1/8",
                     "--loose-group-replication-group-seeds="
                     + ",".join(f"127.0.0.1:{BASE + 10 + n}" for n in (1, 2, 3))]}


class Server:
    """A mysqld with a cgroup of its own."""

    def __init__(self, number, work):
        self.number = number
        self.data = work / f"data{number}"
        self.socket = work / f"{number}.sock"
        self.group = f"peers_{os.getpid()}_{number}"
        self.process = None

    def start(self):
        as_root = ["--user=root"] if os.getuid() == 0 else []
        subprocess.run([MYSQL / "bin/mysqld", "--no-defaults", *as_root, "--initialize-insecure",
                        f"--datadir={self.data}"], check=True, capture_output=True)
        for controller in ("cpu", "cpuacct"):
            (CGROUPS / controller / self.group).mkdir()
        (CGROUPS / "cpu" / self.group / "cpu.cfs_period_us").write_text(str(PERIOD))
        durable = "1" if DURABLE else "0"
        own = [] if IS_NEW else ["--binlog-transaction-dependency-tracking=WRITESET"]
        if SYSTEM == "group":
            own.append(f"--loose-group-replication-local-address=127.0.0.1:{BASE + 10 + self.number}")
        self.process = subprocess.Popen(
            [MYSQL / "bin/mysqld", "--no-defaults", *as_root, f"--datadir={self.data}", f"--socket={self.socket}",
             f"--port={BASE + self.number}", f"--server-id={self.number}", "--bind-address=127.0.0.1", "--mysqlx=OFF",
             "--report-host=127.0.0.1", f"--report-port={BASE + self.number}", "--gtid-mode=ON",
             "--enforce-gtid-consistency=ON", "--log-bin=binlog", "--innodb-buffer-pool-size=768M",
             "--innodb-redo-log-capacity=512M", "--max-connections=400", "--performance-schema=ON",
             "--replica-parallel-workers=4", "--replica-preserve-commit-order=ON", f"--sync-binlog={durable}",
             "--innodb-flush-log-at-trx-commit=" + ("1" if DURABLE else "2"), f"--log-error={self.data}.err",
             *PLUGINS.get(SYSTEM, []), *own], start_new_session=True)
        for controller in ("cpu", "cpuacct"):
            (CGROUPS / controller / self.group / "cgroup.procs").write_text(str(self.process.pid))
        deadline = time.monotonic() + 120
        while self.run("SELECT 1", check=False) != "1":
            if time.monotonic() > deadline or self.process.poll() is not None:
                sys.exit(f"server {self.number} did not start: {self.data}.err")
            time.sleep(0.25)
        self.run("SET sql_log_bin = 0",
                 f"CREATE USER bench@'%' IDENTIFIED BY '{PASSWORD}'", "GRANT ALL ON *.* TO bench@'%'",
                 "RESET BINARY LOGS AND GTIDS" if IS_NEW else "RESET MASTER")

    def run(self, *statements, check=True):
        done = subprocess.run([MYSQL / "bin/mysql", "--no-defaults", "-uroot", "-S", self.socket, "-N", "-s", "-e",
                               "; ".join(statements)], capture_output=True, text=True)
        if check and done.returncode != 0:
            sys.exit(f"server {self.number}: {done.stderr}")
        return done.stdout.strip()

    def hold(self, cores):
        quota = -1 if cores == 0 else int(cores * PERIOD)
        (CGROUPS / "cpu" / self.group / "cpu.cfs_quota_us").write_text(str(quota))

    def cpu_nanos(self):
        return int((CGROUPS / "cpuacct" / self.group / "cpuacct.usage").read_text())

    def stop(self):
        if self.process is not None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        for controller in ("cpu", "cpuacct"):
            group = CGROUPS / controller / self.group
            if group.exists():
                group.rmdir()


def replicate(servers):
    for server in servers[1:]:
        server.run(f"CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = {BASE + 1},"
                   f" SOURCE_USER = 'bench', SOURCE_PASSWORD = '{PASSWORD}', SOURCE_AUTO_POSITION = 1,"
                   " GET_SOURCE_PUBLIC_KEY = 1", "START REPLICA")


def form_group(servers):
    for server in servers:
        server.run(f"CHANGE REPLICATION SOURCE TO SOURCE_USER = 'bench', SOURCE_PASSWORD = '{PASSWORD}'"
                   " FOR CHANNEL 'group_replication_recovery'")
        if server.number == 1:
            server.run("SET GLOBAL group_replication_bootstrap_group = ON", "START GROUP_REPLICATION",
                       "SET GLOBAL group_replication_bootstrap_group = OFF")
        else:
            server.run("START GROUP_REPLICATION")
    deadline = time.monotonic() + 60
    while servers[0].run("SELECT COUNT(*) FROM performance_schema.replication_group_members"
                         " WHERE member_state = 'ONLINE'") != "3":
        if time.monotonic() > deadline:
            sys.exit("the group does not come together")
        time.sleep(0.5)


def executed(server):
    return server.run("SELECT @@GLOBAL.gtid_executed").replace("\\n", "").replace("\n", "")


def transactions(gtids):
    return sum(int(last or first) - int(first) + 1 for first, last in re.findall(r":(\d+)(?:-(\d+))?", gtids))


def caught_up(servers):
    """Waits until all have what the first has; seconds."""
    began = time.monotonic()
    gtids = executed(servers[0])
    for server in servers[1:]:
        if server.run(f"SELECT WAIT_FOR_EXECUTED_GTID_SET('{gtids}', 120)") != "0":
            sys.exit(f"server {server.number} does not catch up")
    return time.monotonic() - began


def sysbench(test, command, threads, seconds=0):
    done = subprocess.run(
        ["sysbench", test, "--mysql-host=127.0.0.1", f"--mysql-port={BASE + 1}", "--mysql-user=bench",
         f"--mysql-password={PASSWORD}", "--mysql-db=sbtest1", f"--tables={TABLES}", f"--table-size={ROWS}",
         "--auto-inc=off", f"--threads={threads}", "--rand-type=uniform", f"--time={seconds}",
         "--mysql-ignore-errors=1213,1205,3101,1180", command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    return done.stdout


def measure(servers, test, threads):
    before, cpu = transactions(executed(servers[0])), [s.cpu_nanos() for s in servers]
    text = sysbench(test, "run", threads, SECONDS)
    lag = caught_up(servers)
    count, rate = re.search(r"transactions:\s+(\d+)\s+\(([\d.]+)", text).groups()
    return {"system": SYSTEM, "mysql": VERSION, "test": test, "threads": threads, "quota": QUOTA, "durable": DURABLE,
            "tps": float(rate), "sustained_tps": round(int(count) / (SECONDS + lag), 1),
            "avg_ms": float(re.search(r"avg:\s+([\d.]+)", text).group(1)),
            "p95_ms": float(re.search(r"95th percentile:\s+([\d.]+)", text).group(1)), "lag_ms": round(lag * 1000),
            "transactions": int(count), "writes": transactions(executed(servers[0])) - before,
            "cpu_us_per_trx_by_node": [round((s.cpu_nanos() - c) / 1000 / max(int(count), 1))
                                       for s, c in zip(servers, cpu)]}


def main():
    if SYSTEM not in ("mysql", "async", "semisync", "group"):
        sys.exit(__doc__)
    work = pathlib.Path(tempfile.mkdtemp(prefix="peers-"))
    servers = [Server(n, work) for n in range(1, 2 if SYSTEM == "mysql" else 4)]
    try:
        for server in servers:
            server.start()
        if SYSTEM == "group":
            form_group(servers)
        elif SYSTEM != "mysql":
            replicate(servers)
        servers[0].run("CREATE DATABASE sbtest1")
        sysbench("oltp_read_write", "prepare", 4)
        caught_up(servers)
        for server in servers:
            server.hold(QUOTA)
        for test in TESTS:
            if WARM:
                sysbench(test, "run", 16, WARM)
            caught_up(servers)
        for test in TESTS:
            for threads in THREADS:
                print(json.dumps(measure(servers, test, threads)), flush=True)
    finally:
        for server in servers:
            server.stop()
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
