# SPDX-License-Identifier: Apache-2.0
"""Real programs to record, each with work for a second or more."""
import glob
import os
import pwd
import shutil
import subprocess
import time

import process_times
from bench_context import HERE
from bench_run import Failed, Run, run

READY_S = 60
LOAD_S = 240
ROOT = HERE.parent.parent


class Program:
    """A command that ends by itself. `work` is what it is given to do."""

    heaptrack, python = True, False
    without = ""

    def __init__(self, argv, work, python=False, cwd=None):
        self.argv, self.work, self.python, self.cwd = argv, work, python, cwd

    def measure(self, ctx, maker, name):
        """@return Times, events lost"""
        argv = maker(ctx, self.argv, name) if maker else self.argv
        done = run(argv, env=process_times.environment(ctx, self.argv, "times"), cwd=self.cwd)
        times = process_times.read(ctx, "times", done.end_s - done.wall_s, done.end_s,
                                   done.tree_cpu_s)
        return with_note(times, argv), done.lost


def with_note(times, argv):
    if not times:
        raise Failed("the program left no note of its times: %s" % " ".join(argv))
    return times


def compiler(ctx):
    gxx = shutil.which("g++")
    if not gxx:
        return None
    source = str(ROOT / "tests/integration/heap_stacks/stack_callers.cc")
    headers = ["-include", "bits/stdc++.h"] if ctx.sizes["program_size"] else []
    # The compiler proper: the driver would start it as a child, which heaptrack does not follow.
    command = subprocess.run([gxx, "-###", "-O2", *headers, "-c", source, "-o",
                              "/dev/null"], check=True,
                             capture_output=True, text=True).stderr
    line = next(l for l in command.splitlines() if "cc1plus" in l and " -quiet" in l)
    argv = [word.strip('"') for word in line.split()]
    argv[argv.index("-o") + 1] = ctx.file("compiled.s")
    return Program(argv, "cc1plus -O2 of stack_callers.cc%s"
                   % (" and the headers of the standard library" if headers else ""))


def git_log(ctx):
    if not shutil.which("git") or not (ROOT / ".git").exists():
        return None
    commits = "1000" if ctx.sizes["program_size"] else "5"
    return Program(["git", "-C", str(ROOT), "--no-pager", "log", "--stat", "-n", commits],
                   "git log --stat of this repository, %s commits" % commits)


def numpy(ctx):
    python = ctx.python()
    if subprocess.run([python, "-c", "import numpy"], check=False,
                      stderr=subprocess.DEVNULL).returncode:
        return None
    rounds = "20" if ctx.sizes["program_size"] else "1"
    return Program([python, str(HERE / "numpy_work.py"), rounds], "numpy_work.py %s" % rounds,
                   python=True)


class Server:
    """A server under a recorder, and clients that load it. What counts is how long they take."""

    heaptrack, python = True, False
    without = ""
    user = None

    def command(self, ctx, maker, name):
        return maker(ctx, self.argv, name) if maker else self.argv

    def measure(self, ctx, maker, name):
        """@return Times, whose wall_s is that of the clients; events lost"""
        argv = self.command(ctx, maker, name)
        begin = time.monotonic()
        server = subprocess.Popen(argv, cwd=self.folder, user=self.user, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  env=process_times.environment(ctx, self.argv, "times"))
        try:
            self.wait_until_ready(server)
            start = time.monotonic()
            subprocess.run(self.load, check=True, timeout=LOAD_S, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, user=self.user)
            took = time.monotonic() - start
        finally:
            subprocess.run(self.stop, check=False, timeout=READY_S, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, user=self.user)
            said, usage = end_of(server)
        times = with_note(process_times.read(ctx, "times", begin, time.monotonic(),
                                             usage.ru_utime + usage.ru_stime), argv)
        times.wall_s = took
        return times, Run(0, 0, 0, "", said, 0).lost

    def wait_until_ready(self, server):
        deadline = time.monotonic() + READY_S
        while subprocess.run(self.ready, check=False, stdout=subprocess.DEVNULL, user=self.user,
                             stderr=subprocess.DEVNULL).returncode:
            if server.poll() is not None or time.monotonic() > deadline:
                raise Failed("the server did not start: %s" % " ".join(self.argv))
            time.sleep(0.05)


def end_of(server):
    """Waits for the end. @return (what it said, what it used)"""
    deadline = time.monotonic() + READY_S
    said = server.stderr.read().decode("utf-8", "replace") if server.stderr else ""
    while True:
        pid, _, usage = os.wait4(server.pid, os.WNOHANG)
        if pid:
            server.returncode = 0
            return said, usage
        if time.monotonic() > deadline:
            server.kill()
        time.sleep(0.02)


class Redis(Server):
    def __init__(self, ctx):
        socket = ctx.file("redis.sock")
        requests = "200000" if ctx.sizes["program_size"] else "1000"
        self.folder = str(ctx.dir)
        self.argv = [shutil.which("redis-server"), "--port", "0", "--unixsocket", socket, "--save",
                     "", "--appendonly", "no", "--dir", str(ctx.dir)]
        self.ready = ["redis-cli", "-s", socket, "ping"]
        self.load = ["redis-benchmark", "-s", socket, "-q", "-n", requests, "-c", "20", "-d", "100",
                     "-r", "10000", "-t", "set,get,lpush,lpop,sadd,hset"]
        self.stop = ["redis-cli", "-s", socket, "shutdown", "nosave"]
        self.work = "redis-benchmark, 6 commands, %s requests each" % requests


def redis(ctx):
    if not shutil.which("redis-server") or not shutil.which("redis-benchmark"):
        return None
    return Redis(ctx)


class Postgres(Server):
    heaptrack = False
    without = "heaptrack does not follow the processes that PostgreSQL forks for its clients"

    def __init__(self, ctx, tools):
        self.folder = ctx.file("postgres")
        transactions = "1500" if ctx.sizes["program_size"] else "20"
        if os.getuid() == 0:  # it refuses to run as root
            self.user = "nobody"
        name = self.user or pwd.getpwuid(os.getuid()).pw_name
        client = ["-h", self.folder, "-U", name]
        os.makedirs(self.folder)
        if self.user:
            shutil.chown(self.folder, self.user)
            os.chmod(ctx.dir, 0o777)
        self.argv = [tools("postgres"), "-D", self.folder + "/data", "-k", self.folder, "-h", ""]
        self.ready = [tools("pg_isready"), *client, "-d", "postgres"]
        self.load = [tools("pgbench"), "-c", "4", "-j", "2", "-t", transactions, *client, "postgres"]
        self.stop = [tools("pg_ctl"), "-D", self.folder + "/data", "-m", "fast", "stop"]
        self.work = "pgbench, 4 clients, %s transactions each" % transactions
        subprocess.run([tools("initdb"), "-D", self.folder + "/data", "-A", "trust", "-N"],
                       check=True, user=self.user, stdout=subprocess.DEVNULL, cwd=self.folder)
        self.fill = [tools("pgbench"), "-i", "-q", "-s", "1", *client, "postgres"]


def is_reachable(path, user):
    return subprocess.run(["test", "-x", path], user=user, check=False).returncode == 0


def postgresql(ctx):
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    if not found or not os.path.exists(found[-1] + "/initdb"):
        return None
    if os.getuid() == 0 and not is_reachable(ctx.memledger, "nobody"):
        return None
    program = Postgres(ctx, lambda name: os.path.join(found[-1], name))
    load, program.load = program.load, program.fill
    program.measure(ctx, None, "fill")
    program.load = load
    return program


PROGRAMS = {"compiler": compiler, "git": git_log, "numpy": numpy, "redis": redis,
            "postgresql": postgresql}
NAMES = list(PROGRAMS)
