#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs parts of Django's own test suite against a server alone and against nodes, and compares them test by test.

    it/field/django.py --plain 127.0.0.1:3306 --node 127.0.0.1:21000 --node 127.0.0.1:21001 schema migrations

The same parts run on each node, one node after the other, or with --at-once on all of them at the same time, each in
databases of its own. The account is root without a password, as in a sandbox; --user and --password say otherwise.
Django and PyMySQL come from the registry that pip knows. Exit code 1 if a test has another result on a node.
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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

DJANGO = "4.2.16"
RESULT = re.compile(r"^(\w+ \([\w.]+\)).*? \.\.\. (ok|ERROR|FAIL|skipped|expected failure|unexpected success)", re.S)
CODE = re.compile(r"\((\d{4}), ")


def prepare(directory):
    """Makes an environment with Django's sources, which have the tests."""
    python = directory / "venv/bin/python"
    sources = directory / f"Django-{DJANGO}"
    if not python.exists():
        venv.create(directory / "venv", with_pip=True)
        pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", f"Django=={DJANGO}", "PyMySQL", "cryptography", "tblib"], check=True)
    if not sources.exists():
        pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "download", "--no-deps", "--no-binary", ":all:", f"Django=={DJANGO}"], cwd=directory, check=True)
        subprocess.run(["tar", "xzf", f"Django-{DJANGO}.tar.gz"], cwd=directory, check=True)
    return python, sources


def settings(directory, name, address, account):
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
    (directory / f"quorate_{name}.py").write_text(text)
    return f"quorate_{name}"


def run(directory, name, address, account, labels):
    """The result of each test, by its name, and how often each error of the server was met."""
    python, sources = prepare(directory)
    module = settings(directory, name, address, account)
    environment = {**os.environ, "PYTHONPATH": str(directory)}
    start = time.monotonic()
    done = subprocess.run(
        [str(python), "runtests.py", f"--settings={module}", "--parallel=1", "--noinput", "-v2", *labels],
        cwd=sources / "tests",
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    seconds = time.monotonic() - start
    (directory / f"{name}.log").write_text(done.stdout)
    results = {}
    for line in re.split(r"\n(?=\w+ \([\w.]+\))", done.stdout):
        found = RESULT.match(line)
        if found:
            results[found.group(1)] = found.group(2)
    codes = {}
    for code in CODE.findall(done.stdout):
        codes[code] = codes.get(code, 0) + 1
    print(f"{name} ({address}): {len(results)} tests in {seconds:.0f} s, errors of the server {json.dumps(codes)}")
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("labels", nargs="+", metavar="PART")
    parser.add_argument("--plain", required=True, metavar="HOST:PORT")
    parser.add_argument("--node", action="append", required=True, metavar="HOST:PORT", dest="nodes")
    parser.add_argument("--at-once", action="store_true")
    parser.add_argument("--user", default="root")
    parser.add_argument("--password", default="")
    parser.add_argument("--directory", type=Path, help="kept and used again; a temporary one by default")
    account = parser.parse_args()
    directory = (account.directory or Path(tempfile.mkdtemp(prefix="quorate-django-"))).absolute()
    directory.mkdir(exist_ok=True)
    prepare(directory)
    plain = run(directory, "plain", account.plain, account, account.labels)
    with ThreadPoolExecutor(len(account.nodes) if account.at_once else 1) as pool:
        runs = {
            f"n{i + 1}": pool.submit(run, directory, f"n{i + 1}", node, account, account.labels)
            for i, node in enumerate(account.nodes)
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
