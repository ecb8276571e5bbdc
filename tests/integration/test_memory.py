#!/usr/bin/env python3
# test_memory.py: the memory that commands use: little for each live block, no more than
# --max-memory, and an error that says so when a file needs more.
#
# SPDX-License-Identifier: Apache-2.0
import glob
import gzip
import os
import subprocess
import sys

import harness
from harness import MEMLEDGER, check, contains, equal, plain, program

MIB = 1 << 20
# Meson has malloc fill what it gives, which touches memory that is only reserved.
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "MALLOC_PERTURB_"}


class Ended:
    """A command's end: exit code, standard error, most memory in MiB. The kernel counts
    what this process has as the command's too, so that it must stay small itself."""

    def __init__(self, *words, env=()):
        with open("stderr", "wb") as err:
            child = subprocess.Popen([MEMLEDGER, *map(str, words)], stdin=subprocess.DEVNULL,
                                     stdout=subprocess.DEVNULL, stderr=err,
                                     env=ENVIRONMENT | dict(env))
            _, status, usage = os.wait4(child.pid, 0)
        child.returncode = self.code = os.waitstatus_to_exitcode(status)
        self.mib = usage.ru_maxrss / 1024
        with open("stderr", encoding="utf-8") as err:
            self.err = err.read()

    def __str__(self):
        return f"exit code {self.code}, {self.mib:.0f} MiB\n{self.err}"


def trace_of(kind, count):
    name = f"{kind}-{count}.mled"
    made = plain(program("hostile_trace"), name, kind, count)
    equal(made.returncode, 0, "hostile_trace", made.stderr)
    return name


def check_refused(ended, *said):
    equal(ended.code, 1, "exit code", ended)
    contains(ended.err, "--max-memory", "standard error")
    for words in said:
        contains(ended.err, words, "standard error")
    equal(ended.err.count("\n"), 1, "lines on standard error", ended)


# Bytes for each live block, from a tenth of the blocks to all: a reader needs memory of its own
# for the first thousands. "blocks" are of a module, so that categories are looked for;
# "training" has what decides them: calls, phases, nodes and labels.
CATEGORIES = {"summary": 60, "tree": 60, "table": 60, "ledger": 60, "leaks": 63}
BYTES_EACH = {
    "live": {"summary": 57, "tree": 57, "table": 57, "ledger": 57, "leaks": 61},
    "blocks": CATEGORIES,
    "training": CATEGORIES,
}


# By how much the kernel's count of resident memory may be wrong, see below.
INEXACT_MIB = 4


def most_refused(command, trace, enough=16 * MIB, step=MIB // 16):
    """The highest limit, in steps, with which the command does not finish. The kernel counts
    what a limit is compared with to the byte. Resident memory it counts for each processor,
    and adds up now and then: the same command differs by half a megabyte."""
    equal(Ended(command, "--max-memory", enough, trace).code, 0, f"{command} with {enough} bytes")
    low, high = 0, enough // step
    while high - low > 1:
        middle = (low + high) // 2
        if Ended(command, "--max-memory", middle * step, trace).code == 0:
            high = middle
        else:
            low = middle
    return low * step


def test_a_million_live_blocks():
    for kind, commands in BYTES_EACH.items():
        base, trace = trace_of(kind, 100000), trace_of(kind, 1000000)
        for command, bytes_each in commands.items():
            limit = most_refused(command, base) + 900000 * bytes_each
            most = Ended(command, "--max-memory", limit, trace)
            equal(most.code, 0, f"{command} with {bytes_each} bytes for each live block", most)
            few, many = Ended(command, base), Ended(command, trace)
            equal((few.code, many.code), (0, 0), f"{command} without a limit", few, many)
            resident_each = (many.mib - few.mib - INEXACT_MIB) * MIB / 900000
            check(resident_each <= bytes_each, f"{command}: {resident_each:.0f} resident bytes for each "
                  "live block", few, many)


def test_what_is_freed_takes_nothing():
    """A well compressing honest trace, of any length, is never refused."""
    base, trace = Ended("summary", trace_of("repeats", 1)), trace_of("repeats", 1000000)
    ended = Ended("summary", "--max-memory", "24MiB", trace)
    equal(ended.code, 0, "summary", ended)
    check(ended.mib - base.mib < 16, "memory grows with the events", ended)


def test_small_file_that_needs_much():
    """By default: 1 GiB and 256 times the file's size."""
    trace = trace_of("live", 22000000)
    check(os.stat(trace).st_size < 128 << 10, "not small", os.stat(trace))
    ended = Ended("summary", trace)
    check_refused(ended, f"memledger: {trace}: needs more than 1.0", "far more than its size",
                  "to read it anyway")
    check(ended.mib < 1100, "took more than its limit", ended)


COMMANDS = [
    "summary", "tree", "layers", "table", "table --temporary", "ledger", "leaks", "groups", "oom",
    "fragmentation", "stats", "compare blocks-400000.mled", "plot -o p.svg",
    "plot --kind bars -o p.svg", "plot --kind lifetimes -o p.svg",
    "export --format chrome -o e.json", "export --format pprof -o e.pb",
    "export --format torch-snapshot -o e.pickle", "export --format sqlite -o e.sqlite",
]


def test_every_command_has_the_limit():
    trace = trace_of("blocks", 400000)
    for command in COMMANDS:
        ended = Ended(*command.split(), "--max-memory=16MiB", trace)
        check_refused(ended, "16.0 MiB of memory that --max-memory allows", trace)
        check(ended.mib < 40, f"{command} took more than its limit", ended)
        left = [name for name in os.listdir(".") if name.startswith(("p.", "e."))]
        equal(left, [], f"files that {command} left", ended)
    ended = Ended("sql", "--max-memory=16MiB", trace, "select sum(bytes) from events")
    check_refused(ended, trace)


def test_environment_and_command_line():
    trace = trace_of("live", 400000)
    environment = {"MEMLEDGER_MAX_MEMORY": "16MiB"}
    check_refused(Ended("summary", trace, env=environment))
    ended = Ended("summary", "--max-memory=1GiB", trace, env=environment)
    equal(ended.code, 0, "the command line wins", ended)


def test_a_lower_limit_of_the_users_stays():
    """What ulimit allows is not explained by an option that would not help."""
    trace = trace_of("live", 2000000)
    ended = plain("/bin/sh", "-c", 'ulimit -d 40000; exec "$0" summary "$1"', MEMLEDGER, trace)
    equal(ended.returncode, 1, "exit code", ended.stderr)
    contains(ended.stderr, "out of memory", "standard error")
    check("--max-memory" not in ended.stderr, "an option that does not help", ended.stderr)


# ---- Imports -----------------------------------------------------------------


SNAPSHOT = """
import pickle
entries = [{"action": "alloc", "addr": 512 * i, "size": 512, "stream": 0, "frames": []}
           for i in range(200000)]
with open("s.pickle", "wb") as file:
    pickle.dump({"segments": [], "device_traces": [entries]}, file)
"""


def check_nothing_left(what):
    equal(glob.glob("out*") + glob.glob(".out*"), [], f"files that {what} left")


def test_import_keeps_to_the_limit():
    made = plain(sys.executable, "-c", SNAPSHOT)
    equal(made.returncode, 0, "making a snapshot", made.stderr)
    check_refused(Ended("import", "-q", "--max-memory=8MiB", "-o", "out.mled", "s.pickle"),
                  "s.pickle: needs more than the 8.0 MiB")
    check_nothing_left("import")
    equal(Ended("import", "-q", "-o", "out.mled", "s.pickle").code, 0, "import without a limit")


def test_import_of_a_gzip_bomb():
    with gzip.open("b.json.gz", "wb", 9) as file:
        file.write(b'{"traceEvents": [')
        for _ in range(450):
            file.write(b" " * MIB)
    ended = Ended("import", "-q", "-o", "out.mled", "b.json.gz")
    equal(ended.code, 1, "exit code", ended)
    contains(ended.err, "b.json.gz: the first ", "standard error")
    contains(ended.err, "unpack it with gunzip and import that", "standard error")
    check(ended.mib < 64, "held what it unpacked", ended)
    check_nothing_left("import")


harness.main(globals())
