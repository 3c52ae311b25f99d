#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs Django's or SQLAlchemy's own tests against a server alone and against nodes, and compares them one by one.

    it/field/suites.py --plain 127.0.0.1:3306 --node 127.0.0.1:21000 --node 127.0.0.1:21001 django schema migrations
    it/field/suites.py --plain 127.0.0.1:3306 --node 127.0.0.1:21000 sqlalchemy test/dialect/mysql

The same parts run on each node, one node after the other, or with --at-once on all of them at the same time, each in
databases of its own. The account is root without a password, as in a sandbox; --user and --password say otherwise.
Django, SQLAlchemy and PyMySQL come from the registry that pip knows. Exit code 1 if a test has another result on a
node.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import venv
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

CODE = re.compile(r"\((\d{4}), ")


class Suite:
    """A suite's sources, and an environment of Python in which they run."""

    def __init__(self, directory, package, archive, *needed):
        self.directory = directory
        self.python = directory / "venv/bin/python"
        self.sources = directory / archive
        pip = [str(self.python), "-m", "pip", "--quiet", "--disable-pip-version-check"]
        if not self.python.exists():
            venv.create(directory / "venv", with_pip=True)
        if not self.sources.exists():
            subprocess.run([*pip, "install", package, "PyMySQL", "cryptography", *needed], check=True)
            download = [*pip, "download", "--no-deps", "--no-binary", ":all:", package]
            subprocess.run(download, cwd=directory, check=True)
            subprocess.run(["tar", "xzf", f"{archive}.tar.gz"], cwd=directory, check=True)

    def create(self, database, name, address, account):
        host, port = address.split(":")
        login = {"host": host, "port": int(port), "user": account.user, "password": account.password}
        sql = f"CREATE DATABASE IF NOT EXISTS {database}"
        text = f"import pymysql; pymysql.connect(**{login!r}).cursor().execute({sql!r})"
        self.execute(f"{name}-create", self.directory, "-c", text)

    def execute(self, name, where, *command):
        """What the command printed."""
        done = subprocess.run(
            [str(self.python), *command],
            cwd=where,
            env={**os.environ, "PYTHONPATH": str(self.directory)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        (self.directory / f"{name}.log").write_text(done.stdout)
        return done.stdout


class Django(Suite):
    RESULT = re.compile(
        r"^(\w+ \([\w.]+\)).*? \.\.\. (ok|ERROR|FAIL|skipped|expected failure|unexpected success)", re.S
    )

    def __init__(self, directory):
        super().__init__(directory, "Django==4.2.16", "Django-4.2.16", "tblib")

    def settings(self, name, address, account):
        host, port = address.split(":")
        database = {
            "ENGINE": "django.db.backends.mysql",
            "HOST": host,
            "PORT": port,
            "USER": account.user,
            "PASSWORD": account.password,
            "OPTIONS": {"charset": "utf8mb4"},
        }
        databases = {
            alias: {**database, "NAME": f"dj_{name}_{alias}", "TEST": {"CHARSET": "utf8mb4"}}
            for alias in ("default", "other")
        }
        text = f"""import pymysql
pymysql.version_info = (1, 4, 6, "final", 0)
pymysql.install_as_MySQLdb()
DATABASES = {databases!r}
SECRET_KEY = "for tests"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
USE_TZ = False
"""
        (self.directory / f"quorate_{name}.py").write_text(text)
        return f"quorate_{name}"

    def run(self, name, address, account):
        """What was printed, and the result of each test by its name."""
        module = self.settings(name, address, account)
        # Some tests connect to them before there are those of the tests.
        for alias in ("default", "other"):
            self.create(f"dj_{name}_{alias}", name, address, account)
        options = [f"--settings={module}", "--parallel=1", "--noinput", "-v2"]
        printed = self.execute(name, self.sources / "tests", "runtests.py", *options, *account.parts)
        found = (self.RESULT.match(line) for line in re.split(r"\n(?=\w+ \([\w.]+\))", printed))
        return printed, {each.group(1): each.group(2) for each in found if each}


class SqlAlchemy(Suite):
    def __init__(self, directory):
        super().__init__(directory, "SQLAlchemy==2.0.36", "sqlalchemy-2.0.36", "pytest<8.4", "pytest-xdist")

    def run(self, name, address, account):
        """What was printed, and the result of each test by its name."""
        report = self.directory / f"{name}.xml"
        report.unlink(missing_ok=True)
        self.create("test", name, address, account)
        password = f":{account.password}" if account.password else ""
        uri = f"mysql+pymysql://{account.user}{password}@{address}/test?charset=utf8mb4"
        # A worker of its own makes databases of its own.
        options = ["-n1", "--maxfail=100000", "--dburi", uri, f"--junitxml={report}"]
        printed = self.execute(name, self.sources, "-m", "pytest", *options, *account.parts)
        results = {}
        for case in ElementTree.parse(report).iter("testcase") if report.exists() else []:
            kinds = [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
            results[f"{case.get('classname')}.{case.get('name')}"] = kinds[0] if kinds else "ok"
        return printed, results


SUITES = {"django": Django, "sqlalchemy": SqlAlchemy}


def run(suite, name, address, account):
    begun = time.monotonic()
    printed, results = suite.run(name, address, account)
    codes = {}
    for code in CODE.findall(printed):
        codes[code] = codes.get(code, 0) + 1
    seconds = time.monotonic() - begun
    print(
        f"{name} ({address}): {len(results)} tests in {seconds:.0f} s, errors of the server {json.dumps(codes)}",
        flush=True,
    )
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("parts", nargs="+", metavar="PART")
    parser.add_argument("--plain", required=True, metavar="HOST:PORT")
    parser.add_argument("--node", action="append", required=True, metavar="HOST:PORT", dest="nodes")
    parser.add_argument("--at-once", action="store_true")
    parser.add_argument("--user", default="root")
    parser.add_argument("--password", default="")
    parser.add_argument("--directory", type=Path, help="kept and used again; a temporary one by default")
    account = parser.parse_args()
    directory = (account.directory or Path(tempfile.mkdtemp(prefix="quorate-suites-"))).absolute()
    directory.mkdir(exist_ok=True)
    suite = SUITES[account.suite](directory)
    plain = run(suite, "plain", account.plain, account)
    with ThreadPoolExecutor(len(account.nodes) if account.at_once else 1) as pool:
        runs = {
            f"n{i + 1}": pool.submit(run, suite, f"n{i + 1}", node, account) for i, node in enumerate(account.nodes)
        }
        results = {name: each.result() for name, each in runs.items()}
    differ = 0
    for name, found in results.items():
        for test in sorted(plain.keys() | found.keys()):
            if plain.get(test) != found.get(test):
                differ += 1
                print(f"{name} {test}: {found.get(test)} instead of {plain.get(test)}")
    print(f"{differ} differ; output in {directory}")
    return 1 if differ or not plain else 0


if __name__ == "__main__":
    sys.exit(main())
