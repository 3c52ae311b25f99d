#!/usr/bin/env python3
"""Measures what a node of three costs at some rates of writing: CPU, memory, disk and network, service and mysqld apart.

  bench/sizing.py [RATES=0,50,200,500] [SECONDS=20] [TEST=oltp_update_index]

sysbench writes at the first node at each rate, eight clients; a line for each rate and kind of node: the one that is
written to, which leads, and the mean of the other two. CPU in ms a second; what the writeset cache grows by and what is sent to
other nodes in KB a second; resident memory at the end in MB.
Environment: MODE commit mode (after-sync); SET more "--set key=value" options; BASE first port. Needs sysbench, ss.
"""
import glob, json, os, re, shlex, subprocess, sys, tempfile, time, urllib.request

rates = [int(r) for r in (sys.argv[1] if len(sys.argv) > 1 else "0,50,200,500").split(",")]
seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 20
test = sys.argv[3] if len(sys.argv) > 3 else "oltp_update_index"
root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
base = int(os.environ.get("BASE", "26100"))
mode = os.environ.get("MODE", "after-sync")
sandbox = tempfile.mkdtemp() + "/sandbox"
program = root + "/quorate"
cache = os.environ.get("QUORATE_CACHE", os.path.expanduser("~/.cache/quorate"))
home = glob.glob(cache + "/mysql-8.0.*/bin/mysql")[0].rsplit("/", 2)[0]
tick = os.sysconf("SC_CLK_TCK")


def run(*command, **options):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, **options).stdout


def bench(*options):
    return run("sysbench", test, "--mysql-host=127.0.0.1", f"--mysql-port={base + 1}", "--mysql-user=app", "--mysql-password=app",
               "--mysql-db=sizing", "--tables=4", "--table-size=50000", "--auto-inc=off", "--rand-type=uniform", *options)


def used(pid):
    """CPU in ms since the process began; resident bytes."""
    fields = open(f"/proc/{pid}/stat").read().rsplit(") ", 1)[1].split()
    resident = int(re.search(r"^VmRSS:\s+(\d+)", open(f"/proc/{pid}/status").read(), re.M)[1]) * 1024
    return (int(fields[11]) + int(fields[12])) * 1000 / tick, resident


def sent(pid, mysql):
    """Bytes that a service has sent on its connections, but those to its server."""
    total, lines = 0, run("ss", "-tinpO", "state", "established").splitlines()
    for line in lines:
        peer = re.match(r"\d+\s+\d+\s+\S+:\d+\s+\S+:(\d+)", line)
        bytes_sent = re.search(r"bytes_sent:(\d+)", line)
        if f"pid={pid}," in line and peer and bytes_sent and int(peer[1]) != mysql:
            total += int(bytes_sent[1])
    return total


def look(node):
    service, mysqld = used(node["servicePid"]), used(node["mysqldPid"])
    with urllib.request.urlopen(f"http://{node['http']}/actuator/prometheus", timeout=5) as answer:
        cache = float(re.search(r"^quorate_cache_bytes\S* (\S+)", answer.read().decode(), re.M)[1])
    return {"service CPU": service[0], "mysqld CPU": mysqld[0], "cache": cache / 1024,
            "sent": sent(node["servicePid"], node["port"]) / 1024, "service memory": service[1] / 2**20, "mysqld memory": mysqld[1] / 2**20}


try:
    options = [f"quorate.commit-mode={mode}", "mysql.sync_binlog=1", "mysql.innodb_flush_log_at_trx_commit=1",
               "mysql.innodb_buffer_pool_size=512M", "mysql.max_connections=300"]
    run(program, "sandbox", "start", "--nodes", "3", "--dir", sandbox, "--base-port", str(base),
        *[part for o in options for part in ("--set", o)], *shlex.split(os.environ.get("SET", "")))
    run(program, "lead", "n1", "--dir", sandbox)
    nodes = json.loads(run(program, "sandbox", "status", "--dir", sandbox, "--json"))["nodes"]
    for index, node in enumerate(nodes):
        node["port"] = base + index + 1
    run(home + "/bin/mysql", "--no-defaults", "-h127.0.0.1", f"-P{base + 1}", "-uroot", "-e", "CREATE DATABASE sizing")
    bench("prepare")
    bench("--threads=8", f"--time={seconds}", "--rate=100", "run")  # warms the services up
    print(f"{'rate':>6} {'done/s':>7} node    " + " ".join(f"{k:>15}" for k in look(nodes[0])))
    for rate in rates:
        time.sleep(3)
        before, start = [look(n) for n in nodes], time.monotonic()
        done = 0.0
        if rate:
            out = bench("--threads=8", f"--time={seconds}", f"--rate={rate}", "run")
            done = float(re.search(r"transactions:\s+\d+\s+\(([\d.]+) per sec", out)[1])
        else:
            time.sleep(seconds)
        after, took = [look(n) for n in nodes], time.monotonic() - start
        cost = [{k: a[k] if "memory" in k else (a[k] - b[k]) / took for k in a} for a, b in zip(after, before)]
        others = {k: (cost[1][k] + cost[2][k]) / 2 for k in cost[0]}
        for name, each in (("writer", cost[0]), ("others", others)):
            print(f"{rate:>6} {done:>7.0f} {name}  " + " ".join(f"{v:>15.0f}" for v in each.values()), flush=True)
finally:
    subprocess.run([program, "sandbox", "destroy", "--dir", sandbox], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.rmdir(os.path.dirname(sandbox))
