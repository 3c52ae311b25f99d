#!/usr/bin/env python3
"""Shows what flow control does when a node of three can't keep up: Quorate's in commit mode after-sync, or a peer's.

  bench/flow.py KIND [THREADS=8] [SECONDS=60]

KIND: cpu      the third node, mysqld and service together, gets a tenth of a core for the middle third of the time
      lock     a session of it holds a lock against all writes (FLUSH TABLES WITH READ LOCK) for that time
      freeze   its mysqld is stopped (SIGSTOP) for that time
      service  its service is stopped for that time (Quorate only)
      disk     it may write 1 MB/s for that time (cgroup v1, blkio), on a file system of its own, since one journal for
               all would hold up all
      large    the second node commits one transaction of 100,000 rows
      none     nothing

sysbench oltp_update_index writes at the first node. Each second a line: what sysbench did, by how much a reader of the
other nodes was behind at most (a row that is written ten times a second says so), and with Quorate what it says itself.
At the end the largest of these, and the seconds without a commit.
Environment: SYSTEM=quorate|gr|galera; SET more "--set key=value" options for Quorate, or options for the peer's servers;
BASE first port; MARIADB a folder with the Debian packages mariadb-server, galera-4, rsync and what they depend on
unpacked, for galera. Needs root, cgroup v1 (cpu, blkio), sysbench.
"""
import glob, json, os, re, shlex, shutil, signal, subprocess, sys, tempfile, threading, time, urllib.request

kind = sys.argv[1]
threads = int(sys.argv[2]) if len(sys.argv) > 2 else 8
seconds = int(sys.argv[3]) if len(sys.argv) > 3 else 60
root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
base = int(os.environ.get("BASE", "25800"))
more = shlex.split(os.environ.get("SET", ""))
work = tempfile.mkdtemp()
cache = os.environ.get("QUORATE_CACHE", os.path.expanduser("~/.cache/quorate"))
home = glob.glob(cache + "/mysql-8.0.*/bin/mysql")[0].rsplit("/", 2)[0]
groups, started, mounts = [], [], []


def run(*command, **options):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, **options).stdout


def client(node):
    return [home + "/bin/mysql", "--no-defaults", "-h127.0.0.1", f"-P{base + node}", "-uroot", "-N"]


def my(node, sql):
    return run(*client(node), "-se", sql, stderr=subprocess.DEVNULL)


def wait_for(what, condition):
    for _ in range(600):
        try:
            if condition():
                return
        except subprocess.CalledProcessError:
            pass
        time.sleep(0.1)
    raise SystemExit(what + " did not come about")


class Quorate:
    """Three nodes of a sandbox."""

    program, sandbox = root + "/quorate", work + "/sandbox"
    user = password = "app"

    def start(self):
        settings = ["quorate.commit-mode=after-sync", "mysql.sync_binlog=1", "mysql.innodb_flush_log_at_trx_commit=1",
                    "mysql.innodb_buffer_pool_size=512M", "mysql.max_connections=300", "mysql.performance_schema=ON"]
        options = [part for s in settings for part in ("--set", s)] + more
        run(self.program, "sandbox", "start", "--nodes", "3", "--dir", self.sandbox, "--base-port", str(base), *options)
        if kind == "disk":
            run(self.program, "sandbox", "kill", "--dir", self.sandbox, "n3")
            os.rename(self.sandbox + "/n3", work + "/n3")
            shutil.copytree(work + "/n3", volume(self.sandbox + "/n3"), dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.sock*"))
            run(self.program, "sandbox", "restart", "--dir", self.sandbox, "n3")
        # Or a stopped third node would be an election, too.
        run(self.program, "lead", "n1", "--dir", self.sandbox)
        nodes = json.loads(run(self.program, "sandbox", "status", "--dir", self.sandbox, "--json"))["nodes"]
        self.address = nodes[0]["http"]
        return [{"mysqld": n["mysqldPid"], "service": n["servicePid"]} for n in nodes]

    def ask(self, path):
        with urllib.request.urlopen(f"http://{self.address}/actuator/{path}", timeout=2) as answer:
            return json.load(answer)

    def says(self):
        try:
            states = {m["name"]: m["state"] + (" left behind" if m["leftBehind"] else "") for m in self.ask("members")["members"]}
            return " ".join(f"{n} {s}" for n, s in states.items() if s != "SYNCED") + " " + (self.ask("cluster/self")["slowed"] or "")
        except OSError as e:
            return str(e)

    def stop(self):
        subprocess.run([self.program, "sandbox", "destroy", "--dir", self.sandbox], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Peer:
    """Three servers that replicate by themselves."""

    user = password = "sb"
    service = None

    def server(self, node, *command):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        started.append(process)
        wait_for(f"server {node}", lambda: my(node, "select 1"))
        return {"mysqld": process.pid}

    def says(self):
        return ""

    def stop(self):
        pass


class GroupReplication(Peer):
    def start(self):
        template = work + "/template"
        run(home + "/bin/mysqld", "--no-defaults", "--user=root", "--datadir=" + template, "--initialize-insecure", stderr=subprocess.DEVNULL)
        os.remove(template + "/auto.cnf")
        ports = [f"127.0.0.1:{base + 10 + n}" for n in (1, 2, 3)]
        nodes = []
        for n in (1, 2, 3):
            data = f"{work}/m{n}"
            shutil.copytree(template, volume(data) if kind == "disk" and n == 3 else data, dirs_exist_ok=True)
            nodes.append(self.server(
                n, home + "/bin/mysqld", "--no-defaults", "--user=root", "--datadir=" + data, f"--port={base + n}", f"--socket={data}.sock",
                "--mysqlx=OFF", f"--server-id={n}", "--gtid-mode=ON", "--enforce-gtid-consistency=ON", "--log-bin=binlog", "--bind-address=127.0.0.1",
                "--report-host=127.0.0.1", f"--report-port={base + n}", "--innodb-buffer-pool-size=512M", "--max-connections=300",
                "--sync-binlog=1", "--innodb-flush-log-at-trx-commit=1", "--binlog-transaction-dependency-tracking=WRITESET",
                "--replica-parallel-workers=4", "--replica-preserve-commit-order=ON", f"--log-error={data}.err",
                f"--plugin-dir={home}/lib/plugin", "--plugin-load-add=group_replication.so",
                "--loose-group-replication-group-name=aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa", "--loose-group-replication-start-on-boot=OFF",
                f"--loose-group-replication-local-address={ports[n - 1]}", "--loose-group-replication-group-seeds=" + ",".join(ports),
                # Or the second node couldn't write.
                "--loose-group-replication-single-primary-mode=OFF", *more))
            my(n, "set sql_log_bin=0; create user sb@'%' identified with mysql_native_password by 'sb'; grant all on *.* to sb@'%';"
                  "create user rpl@'%' identified with mysql_native_password by 'rpl'; grant replication slave, backup_admin, clone_admin,"
                  "group_replication_stream, connection_admin on *.* to rpl@'%'; set sql_log_bin=1; reset master;"
                  "change replication source to source_user='rpl', source_password='rpl' for channel 'group_replication_recovery'")
            boot = "set global group_replication_bootstrap_group="
            my(n, f"{boot}ON; start group_replication; {boot}OFF" if n == 1 else "start group_replication")
        online = "select count(*) from performance_schema.replication_group_members where member_state='ONLINE'"
        wait_for("the group", lambda: my(1, online).strip() == "3")
        return nodes

    def says(self):
        try:
            states = my(1, "select member_port, member_state from performance_schema.replication_group_members where member_state <> 'ONLINE'")
            return " ".join(states.split())
        except subprocess.CalledProcessError:
            return ""


class Galera(Peer):
    def start(self):
        unpacked = os.environ["MARIADB"]
        # With the scripts and rsync by which the second and third node get the first one's data.
        environment = dict(os.environ, LD_LIBRARY_PATH=unpacked + "/usr/lib/x86_64-linux-gnu",
                           PATH=f"{unpacked}/usr/bin:{unpacked}/usr/sbin:{os.environ['PATH']}")
        share, daemon = unpacked + "/usr/share/mysql", unpacked + "/usr/sbin/mariadbd"
        template = work + "/template"
        run(unpacked + "/usr/bin/mariadb-install-db", "--no-defaults", "--user=root", "--datadir=" + template, "--basedir=" + unpacked + "/usr",
            "--lc-messages-dir=" + share, "--auth-root-authentication-method=normal", env=environment, stderr=subprocess.DEVNULL)
        nodes = []
        os.environ.update(environment)
        for n in (1, 2, 3):
            data = f"{work}/m{n}"
            shutil.copytree(template, volume(data) if kind == "disk" and n == 3 else data, dirs_exist_ok=True)
            run("chmod", "-R", "a+rwX", data)  # rsync's daemon becomes nobody.
            cluster = "gcomm://" + ("" if n == 1 else f"127.0.0.1:{base + 11}")
            nodes.append(self.server(
                n, daemon, "--no-defaults", "--user=root", "--datadir=" + data, f"--port={base + n}", f"--socket={data}.sock",
                "--lc-messages-dir=" + share, "--character-sets-dir=" + share + "/charsets", "--bind-address=127.0.0.1", f"--server-id={n}",
                "--binlog-format=ROW", "--innodb-autoinc-lock-mode=2", "--innodb-buffer-pool-size=512M", "--max-connections=300",
                "--innodb-flush-log-at-trx-commit=1", f"--log-error={data}.err", "--wsrep-on=ON",
                f"--wsrep-provider={unpacked}/usr/lib/galera/libgalera_smm.so", "--wsrep-cluster-name=c", "--wsrep-cluster-address=" + cluster,
                f"--wsrep-node-address=127.0.0.1:{base + 10 + n}", f"--wsrep-node-name=n{n}", "--wsrep-slave-threads=4",
                "--wsrep-sst-method=rsync", f"--wsrep-sst-receive-address=127.0.0.1:{base + 30 + n}",
                f"--wsrep-provider-options=gmcast.listen_addr=tcp://127.0.0.1:{base + 10 + n};ist.recv_addr=127.0.0.1:{base + 20 + n};gcache.size=256M",
                *more))
            state = "show status like 'wsrep_local_state_comment'"
            wait_for(f"node {n}", lambda: my(n, state).split()[-1] == "Synced")
        my(1, "drop user if exists ''@localhost; create user sb@'%' identified by 'sb'; grant all on *.* to sb@'%'")
        return nodes

    def says(self):
        try:
            return "paused " + my(1, "show status like 'wsrep_flow_control_paused_ns'").split()[-1][:-6] + " ms"
        except (subprocess.CalledProcessError, IndexError):
            return ""


def volume(path):
    """A file system of its own at that path."""
    image = work + "/image"
    run("truncate", "-s", "4G", image)
    run("mkfs.ext4", "-q", image)
    os.makedirs(path)
    run("mount", "-o", "loop", image, path)
    mounts.append(path)
    os.rmdir(path + "/lost+found")
    return path


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


class Beat(threading.Thread):
    """Writes at the first node what time it is, ten times a second if it hears OK that soon."""

    def __init__(self):
        super().__init__(daemon=True)

    def run(self):
        with subprocess.Popen([*client(1), "-n", "-f"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as p:
            while True:
                p.stdin.write(f"update bench.beat set t = {time.time():.3f}; select 1;\n")
                p.stdin.flush()
                p.stdout.readline()
                time.sleep(0.1)


class Reader(threading.Thread):
    """Reads that at another one, twenty times a second, and how old it is."""

    def __init__(self, node):
        super().__init__(daemon=True)
        self.node, self.lags, self.last = node, [], time.time()

    def run(self):
        with subprocess.Popen([*client(self.node), "-n", "-f"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as p:
            while True:
                p.stdin.write("select t from bench.beat;\n")
                p.stdin.flush()
                line = p.stdout.readline()
                self.last = float(line)
                self.lags.append(time.time() - self.last)
                time.sleep(0.05)

    def most(self):
        """Since it was asked last, in ms; a node that doesn't answer is as old as what it said last."""
        lags, self.lags = self.lags, []
        return round(1000 * max([*lags, 0 if lags else time.time() - self.last]))


def disturb(third):
    pids = list(third.values())
    time.sleep(seconds / 3)
    if kind == "cpu":
        path = group("cpu", pids)
        write(path + "/cpu.cfs_period_us", "20000")
        write(path + "/cpu.cfs_quota_us", "2000")
        time.sleep(seconds / 3)
        write(path + "/cpu.cfs_quota_us", "-1")
    elif kind == "disk":
        path = group("blkio", pids)
        device = os.stat(mounts[0]).st_dev
        major, minor = os.major(device), os.minor(device)
        write(path + "/blkio.throttle.write_bps_device", f"{major}:{minor} 1000000")
        time.sleep(seconds / 3)
        write(path + "/blkio.throttle.write_bps_device", f"{major}:{minor} 0")
    elif kind == "lock":
        my(3, f"flush tables with read lock; select sleep({seconds / 3})")
    elif kind in ("freeze", "service"):
        pid = third["mysqld" if kind == "freeze" else "service"]
        os.kill(pid, signal.SIGSTOP)
        time.sleep(seconds / 3)
        os.kill(pid, signal.SIGCONT)
    elif kind == "large":
        my(2, "insert into bench.large select a.n * 1000 + b.n, repeat('x', 200) from bench.digits a, bench.digits b where a.n < 100")


def main(system):
    nodes = system.start()
    my(1, "create database bench; create table bench.large (n int primary key, t varchar(200)); create table bench.digits (n int primary key);"
          "insert into bench.digits with recursive d as (select 0 n union all select n + 1 from d where n < 999) select n from d;"
          "create table bench.beat (i int primary key, t double); insert into bench.beat values (1, 0); create database sbtest")
    sysbench = ["sysbench", "oltp_update_index", "--mysql-host=127.0.0.1", f"--mysql-port={base + 1}", "--mysql-user=" + system.user,
                "--mysql-password=" + system.password, "--mysql-db=sbtest", "--tables=4", "--table-size=20000", "--auto-inc=off",
                "--rand-type=uniform", f"--threads={threads}", "--mysql-ignore-errors=1213,1205,1290,1180,3101"]
    time.sleep(1)
    run(*sysbench, "prepare")
    run(*sysbench, "--time=20", "run")
    Beat().start()
    time.sleep(0.5)
    readers = [Reader(2), Reader(3)]
    for reader in readers:
        reader.start()
    bench = subprocess.Popen(["stdbuf", "-oL", *sysbench, f"--time={seconds}", "--report-interval=1", "run"], text=True, stdout=subprocess.PIPE)
    threading.Thread(target=disturb, args=(nodes[2],), daemon=True).start()
    worst, stops = {}, []
    for line in bench.stdout:
        m = re.match(r"\[ (\d+)s \] thds: \d+ tps: ([\d.]+)", line)
        if not m:
            if re.search(r"transactions:|avg:|95th|max:|FATAL", line):
                print(line.rstrip())
            continue
        lag = {f"n{r.node}": r.most() for r in readers}
        for name, millis in lag.items():
            worst[name] = max(worst.get(name, 0), millis)
        if float(m[2]) == 0:
            stops.append(int(m[1]))
        print(f"{m[1]:>4} {float(m[2]):7.0f}/s  behind " + " ".join(f"{n} {v:6d}" for n, v in lag.items()) + f"  {system.says()}", flush=True)
    bench.wait()
    print("most that a reader was behind, in ms:", worst, "seconds without a commit:", stops)


system = {"quorate": Quorate, "gr": GroupReplication, "galera": Galera}[os.environ.get("SYSTEM", "quorate")]()
try:
    main(system)
finally:
    # It can't delete a volume, but ends what is on it.
    system.stop()
    for process in started:
        process.send_signal(signal.SIGCONT)
        process.kill()
        process.wait()
    time.sleep(0.5)
    for path in mounts:
        run("umount", path)
    for path in groups:
        os.rmdir(path)
    subprocess.run(["rm", "-rf", work])
