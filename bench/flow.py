#!/usr/bin/env python3
"""Shows what flow control does when a node of three can't keep up, in commit mode after-sync.

  bench/flow.py KIND [THREADS=8] [SECONDS=60]

KIND: cpu      the third node, mysqld and service together, gets a tenth of a core for the middle third of the time
      lock     a session of it holds a lock against all writes (FLUSH TABLES WITH READ LOCK) for that time
      freeze   its mysqld is stopped (SIGSTOP) for that time
      service  its service is stopped for that time
      disk     it may write 1 MB/s for that time (cgroup v1, blkio)
      large    the second node commits one transaction of 100,000 rows
      none     nothing

sysbench oltp_update_index writes at the first node. Each second a line: what sysbench did, the largest lag, who is
slowed and for whom; and at the end the largest lag of each node, and the seconds without a commit. Environment:
SET more "--set key=value" options, BASE first port. Needs root, cgroup v1 (cpu, blkio), sysbench.
"""
import glob, json, os, re, shlex, signal, subprocess, sys, tempfile, threading, time, urllib.request

kind = sys.argv[1]
threads = int(sys.argv[2]) if len(sys.argv) > 2 else 8
seconds = int(sys.argv[3]) if len(sys.argv) > 3 else 60
root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
base = int(os.environ.get("BASE", "25800"))
work = tempfile.mkdtemp()
sandbox = work + "/sandbox"
quorate = root + "/quorate"
cache = os.environ.get("QUORATE_CACHE", os.path.expanduser("~/.cache/quorate"))
mysql = glob.glob(cache + "/mysql-*/bin/mysql")[0]
groups = []


def run(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


def my(node, sql):
    return run(mysql, "--no-defaults", "-h127.0.0.1", f"-P{base + node}", "-uroot", "-Nse", sql)


def group(controller, pids):
    path = f"/sys/fs/cgroup/{controller}/flow_{os.getpid()}"
    os.makedirs(path, exist_ok=True)
    groups.append(path)
    for pid in pids:
        write(path + "/cgroup.procs", str(pid))
    return path


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


def members():
    return json.loads(run(quorate, "sandbox", "status", "--dir", sandbox, "--json"))["nodes"]


def ask(address, path):
    with urllib.request.urlopen(f"http://{address}/actuator/{path}", timeout=2) as answer:
        return json.load(answer)


class Watch(threading.Thread):
    """Asks the first node four times a second what it knows of all."""

    def __init__(self, address):
        super().__init__(daemon=True)
        self.address, self.looks = address, []

    def run(self):
        while True:
            try:
                self.looks.append((time.time(), ask(self.address, "members")["members"], ask(self.address, "cluster/self")["slowed"]))
            except OSError as e:
                self.looks.append((time.time(), [], str(e)))
            time.sleep(0.25)


def disturb(third):
    service, mysqld = third["servicePid"], third["mysqldPid"]
    time.sleep(seconds / 3)
    if kind == "cpu":
        path = group("cpu", [service, mysqld])
        write(path + "/cpu.cfs_period_us", "20000")
        write(path + "/cpu.cfs_quota_us", "2000")
        time.sleep(seconds / 3)
        write(path + "/cpu.cfs_quota_us", "-1")
    elif kind == "disk":
        path = group("blkio", [service, mysqld])
        device = os.stat(sandbox).st_dev
        major, minor = os.major(device), os.minor(device)
        write(path + "/blkio.throttle.write_bps_device", f"{major}:{minor} 1000000")
        time.sleep(seconds / 3)
        write(path + "/blkio.throttle.write_bps_device", f"{major}:{minor} 0")
    elif kind == "lock":
        my(3, f"flush tables with read lock; select sleep({seconds / 3})")
    elif kind in ("freeze", "service"):
        pid = mysqld if kind == "freeze" else service
        os.kill(pid, signal.SIGSTOP)
        time.sleep(seconds / 3)
        os.kill(pid, signal.SIGCONT)
    elif kind == "large":
        my(2, "insert into bench.large select a.n * 1000 + b.n, repeat('x', 200) from bench.digits a, bench.digits b where a.n < 100")


def main():
    settings = ["quorate.commit-mode=after-sync", "mysql.sync_binlog=1", "mysql.innodb_flush_log_at_trx_commit=1",
                "mysql.innodb_buffer_pool_size=512M", "mysql.max_connections=300", "mysql.performance_schema=ON"]
    options = [part for s in settings for part in ("--set", s)] + shlex.split(os.environ.get("SET", ""))
    run(quorate, "sandbox", "start", "--nodes", "3", "--dir", sandbox, "--base-port", str(base), *options)
    nodes = members()
    my(1, "create database bench; create table bench.large (n int primary key, t varchar(200)); create table bench.digits (n int primary key);"
          "insert into bench.digits with recursive d as (select 0 n union all select n + 1 from d where n < 999) select n from d; create database sbtest")
    sysbench = ["sysbench", "oltp_update_index", "--mysql-host=127.0.0.1", f"--mysql-port={base + 1}", "--mysql-user=app", "--mysql-password=app",
                "--mysql-db=sbtest", "--tables=4", "--table-size=20000", "--auto-inc=off", "--rand-type=uniform", f"--threads={threads}"]
    time.sleep(1)
    run(*sysbench, "prepare")
    run(*sysbench, "--time=20", "--mysql-ignore-errors=1213,1205,1290", "run")
    watch = Watch(nodes[0]["http"])
    watch.start()
    bench = subprocess.Popen(["stdbuf", "-oL", *sysbench, f"--time={seconds}", "--report-interval=1", "--mysql-ignore-errors=1213,1205,1290", "run"],
                             text=True, stdout=subprocess.PIPE)
    threading.Thread(target=disturb, args=(nodes[2],), daemon=True).start()
    worst, stops, seen = {}, [], 0
    for line in bench.stdout:
        m = re.match(r"\[ (\d+)s \] thds: \d+ tps: ([\d.]+)", line)
        if not m:
            if re.search(r"transactions:|avg:|95th|max:|FATAL", line):
                print(line.rstrip())
            continue
        looks, seen = watch.looks[seen:], len(watch.looks)
        lag, states = {}, {}
        for _, all_members, _ in looks:
            for member in all_members:
                if member.get("lagMillis") is not None:
                    lag[member["name"]] = max(lag.get(member["name"], 0), member["lagMillis"])
                states[member["name"]] = member["state"] + (" left behind" if member["leftBehind"] else "")
        for name, millis in lag.items():
            worst[name] = max(worst.get(name, 0), millis)
        if float(m[2]) == 0:
            stops.append(int(m[1]))
        odd = " ".join(f"{n} {s}" for n, s in states.items() if s != "SYNCED")
        print(f"{m[1]:>4} {float(m[2]):7.0f}/s  lag " + " ".join(f"{n} {v:5d}" for n, v in sorted(lag.items())) + f"  {odd}  {looks[-1][2] if looks else ''}", flush=True)
    bench.wait()
    print("largest lag in ms:", worst, "seconds without a commit:", stops)


try:
    main()
finally:
    subprocess.run([quorate, "sandbox", "destroy", "--dir", sandbox], stdout=subprocess.DEVNULL)
    time.sleep(0.5)
    for path in groups:
        os.rmdir(path)
    subprocess.run(["rm", "-rf", work])
