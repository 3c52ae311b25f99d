#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs the schemas of applications on a server alone and on nodes, and compares errors, tables and time.

    it/field/packages.py --plain 127.0.0.1:3306 --node 127.0.0.1:21000 --node 127.0.0.1:21001 zabbix cacti keystone

Each schema is installed on the first node, or with --at-once on all nodes at the same time, in one database, as by
instances of an application that boot together; the same number of clients then does so on the server alone. On every
node a client inserts rows into another database meanwhile, and must hear no error. In the end all nodes have the same
tables with the same rows. With --at-once any error that the server alone gives too may come, as often as it likes, and
2013, which whoever loses in mode after-sync hears.

Debian's packages come from the archive that apt knows; nothing is installed. Keystone and Neutron have programs that
bring a schema up to date, which pip installs into --directory; an instance that fails is started again, as whatever
runs it would. The account is root without a password, as in
a sandbox; --user and --password say otherwise. --client names the program mysql. Exit code 1 if anything is otherwise
than on the server alone.
"""
import argparse
import gzip
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SHARE = "usr/share/"
DBCONFIG = SHARE + "dbconfig-common/data/"
PACKAGES = {
    "bacula": ("bacula-director-mysql", [DBCONFIG + "bacula-director-mysql/install/mysql"]),
    "cacti": ("cacti", [SHARE + "cacti/conf_templates/cacti.sql"]),
    "icinga2": ("icinga2-ido-mysql", [DBCONFIG + "icinga2-ido-mysql/install/mysql"]),
    "icingadb": ("icingadb", [SHARE + "icingadb/schema/mysql/schema.sql"]),
    "icingaweb2": ("icingaweb2", [SHARE + "icingaweb2/schema/mysql.schema.sql"]),
    "mediawiki": ("mediawiki", [SHARE + "mediawiki/maintenance/tables-generated.sql"]),
    "pdns": (
        "pdns-backend-mysql",
        [SHARE + "pdns-backend-mysql/schema/" + name + ".mysql.sql" for name in ("schema", "enable-foreign-keys")],
    ),
    "roundcube": ("roundcube-core", [DBCONFIG + "roundcube/install/mysql"]),
    "zabbix": (
        "zabbix-server-mysql",
        [SHARE + "zabbix-server-mysql/" + name + ".sql.gz" for name in ("schema", "images", "data")],
    ),
}
# Programs of OpenStack, with the modules that pip installs.
PROGRAMS = {
    "keystone": (["keystone", "pymysql"], ["keystone-manage", "db_sync"]),
    "neutron": (["neutron", "pymysql"], ["neutron-db-manage", "upgrade", "heads"]),
}
STARTS_MAX = 10
ERROR = re.compile(r"^ERROR (\d+)|\w+Error\) \((\d+), ", re.M)
LEVEL_WITHIN = 300
LOST = "2013"


def script(directory, name):
    """The SQL of a package."""
    package, files = PACKAGES[name]
    unpacked = directory / package
    if not unpacked.exists():
        subprocess.run(["apt-get", "download", "-qq", package], cwd=directory, check=True, stderr=subprocess.DEVNULL)
        subprocess.run(["dpkg-deb", "-x", str(next(directory.glob(f"{package}_*.deb"))), str(unpacked)], check=True)
    texts = [gzip.open(unpacked / f).read() if f.endswith(".gz") else (unpacked / f).read_bytes() for f in files]
    return b"\n".join(texts)


def program(directory, name):
    """The command that brings the schema up to date."""
    modules, command = PROGRAMS[name]
    environment = directory / "programs"
    if not (environment / "bin" / command[0]).exists():
        subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
        subprocess.run([str(environment / "bin" / "pip"), "install", "-q", *modules], check=True)
    return [str(environment / "bin" / command[0]), *command[1:]]


def client(account, address, *options):
    host, port = address.split(":")
    return [account.client, f"-h{host}", f"-P{port}", f"-u{account.user}", *options] + (
        [f"-p{account.password}"] if account.password else []
    )


def ask(account, address, sql):
    command = client(account, address, "-N", "-B", "-e", sql)
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def errors_in(output):
    """How often each number came."""
    found = ERROR.findall(output.decode(errors="replace"))
    return Counter(by_client or by_driver for by_client, by_driver in found)


def start_until_done(account, address, command, database):
    """Errors of each start but the last one."""
    login = account.user + (f":{account.password}" if account.password else "")
    connection = f"mysql+pymysql://{login}@{address}/{database}?charset=utf8mb4"
    errors = Counter()
    for _ in range(STARTS_MAX):
        done = subprocess.run(command, env={"OS_DATABASE__CONNECTION": connection}, capture_output=True)
        if done.returncode == 0:
            return errors
        # Each traceback of a chain says it once more.
        errors.update(errors_in(done.stderr + done.stdout).keys() or ["other"])
        last = done.stderr
    sys.exit(f"{' '.join(command)} fails on {address}, at the last time so:\n{last.decode(errors='replace')}")


def install(account, address, schema, database):
    """How often each error came, and how many seconds it took."""
    begun = time.monotonic()
    if isinstance(schema, list):
        errors = start_until_done(account, address, schema, database)
        return errors, time.monotonic() - begun
    command = client(account, address, "--force", "--default-character-set=utf8mb4", database)
    done = subprocess.run(command, input=schema, capture_output=True)
    return errors_in(done.stderr), time.monotonic() - begun


class Bystander:
    """A client that inserts row after row into another database, until it is ended."""

    def __init__(self, account, address):
        self.process = subprocess.Popen(
            client(account, address, "--force", "--unbuffered", "elsewhere"),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        self.open = True

    def write(self):
        while self.open:
            self.process.stdin.write(b"INSERT INTO rows_elsewhere VALUES (NULL);\n")
            self.process.stdin.flush()
            time.sleep(0.05)

    def end(self):
        self.open = False
        return errors_in(self.process.communicate()[1])


def content(account, address, database):
    """What the database holds: columns, indexes, constraints, programs and checksums of tables."""
    where = f"= '{database}'"
    shapes = ask(
        account,
        address,
        f"SELECT TABLE_NAME, COLUMN_NAME, ORDINAL_POSITION, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT, EXTRA,"
        f" COLLATION_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA {where} ORDER BY 1, 3;"
        f"SELECT TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX, COLUMN_NAME, NON_UNIQUE, SUB_PART FROM"
        f" information_schema.STATISTICS WHERE TABLE_SCHEMA {where} ORDER BY 1, 2, 3;"
        f"SELECT TABLE_NAME, CONSTRAINT_NAME, CONSTRAINT_TYPE FROM information_schema.TABLE_CONSTRAINTS"
        f" WHERE TABLE_SCHEMA {where} ORDER BY 1, 2;"
        f"SELECT ROUTINE_NAME, MD5(ROUTINE_DEFINITION) FROM information_schema.ROUTINES"
        f" WHERE ROUTINE_SCHEMA {where} ORDER BY 1;"
        f"SELECT TRIGGER_NAME, MD5(ACTION_STATEMENT) FROM information_schema.TRIGGERS"
        f" WHERE TRIGGER_SCHEMA {where} ORDER BY 1",
    )
    names = ask(
        account,
        address,
        f"SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA {where} AND TABLE_TYPE = 'BASE TABLE'"
        " ORDER BY 1",
    ).split()
    tables = ", ".join(f"`{database}`.`{name}`" for name in names)
    return shapes, ask(account, address, f"CHECKSUM TABLE {tables}") if tables else ""


def prepare(account, address, database):
    collation = "CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
    ask(account, address, f"DROP DATABASE IF EXISTS `{database}`; CREATE DATABASE `{database}` {collation}")


def await_level(account, nodes, database):
    """What the nodes hold once it is the same everywhere, and after how many seconds; otherwise None."""
    begun = time.monotonic()
    while time.monotonic() < begun + LEVEL_WITHIN:
        try:
            first, *others = [content(account, node, database) for node in nodes]
            if all(other == first for other in others):
                return first, time.monotonic() - begun
        except subprocess.CalledProcessError:
            pass  # The database or a table isn't there yet.
        time.sleep(0.2)
    return None, LEVEL_WITHIN


def together(account, addresses, schema, database):
    begun = time.monotonic()
    with ThreadPoolExecutor(len(addresses)) as pool:
        done = list(pool.map(lambda address: install(account, address, schema, database), addresses))
    return sum((errors for errors, _ in done), Counter()), time.monotonic() - begun


def compare(account, name, schema):
    """Whether all is as on the server alone."""
    # One of an earlier run may still be there at some node.
    database = f"pkg_{name}_{os.getpid()}"
    at_once = account.nodes if account.at_once else account.nodes[:1]
    prepare(account, account.plain, database)
    expected, alone = together(account, [account.plain] * len(at_once), schema, database)
    prepare(account, account.nodes[0], database)
    for node in account.nodes:
        while database not in ask(account, node, "SHOW DATABASES"):
            time.sleep(0.1)
    bystanders = [Bystander(account, node) for node in account.nodes]
    with ThreadPoolExecutor(len(bystanders)) as pool:
        for bystander in bystanders:
            pool.submit(bystander.write)
        errors, seconds = together(account, at_once, schema, database)
        held, level = await_level(account, account.nodes, database)
        heard = sum((bystander.end() for bystander in bystanders), Counter())
    good = held is not None and not heard
    if account.at_once:
        good = good and errors.keys() <= expected.keys() | {LOST}
    else:
        good = good and errors == expected and held[0] == content(account, account.plain, database)[0]
    print(
        f"{name}: server alone {alone:.1f} s {dict(expected)}, nodes {seconds:.1f} s {dict(errors)},"
        f" level {level:.1f} s later{'' if held else ' (NOT)'}, bystanders {dict(heard)}"
        f"{'' if good else ' <- NOT AS ALONE'}",
        flush=True,
    )
    for address in (account.plain, account.nodes[0]):
        ask(account, address, f"DROP DATABASE `{database}`")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = ", ".join([*PACKAGES, *PROGRAMS])
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help=f"{names}; those of Debian by default")
    parser.add_argument("--plain", required=True, metavar="HOST:PORT")
    parser.add_argument("--node", action="append", required=True, metavar="HOST:PORT", dest="nodes")
    parser.add_argument("--at-once", action="store_true")
    parser.add_argument("--client", default="mysql")
    parser.add_argument("--user", default="root")
    parser.add_argument("--password", default="")
    parser.add_argument("--directory", type=Path, help="kept and used again; a temporary one by default")
    account = parser.parse_args()
    directory = (account.directory or Path(tempfile.mkdtemp(prefix="quorate-packages-"))).absolute()
    directory.mkdir(exist_ok=True)
    ask(account, account.nodes[0], "CREATE DATABASE IF NOT EXISTS elsewhere")
    table = "CREATE TABLE IF NOT EXISTS elsewhere.rows_elsewhere (id BIGINT AUTO_INCREMENT PRIMARY KEY)"
    ask(account, account.nodes[0], table)
    time.sleep(2)
    names = account.packages or PACKAGES
    good = [compare(account, name, (program if name in PROGRAMS else script)(directory, name)) for name in names]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
