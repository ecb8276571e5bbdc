#!/usr/bin/env python3
# test_scan_at_exit.py: `run --scan-at-exit`, on a C and a C++ program that leave blocks of every
# sort: definitely lost, indirectly lost and reachable, as LeakSanitizer and valgrind say.
#
# SPDX-License-Identifier: Apache-2.0
import functools
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import harness
from harness import MEMLEDGER, check, contains, equal, plain, report

HERE = os.path.dirname(os.path.abspath(__file__))
OPTIONS = ["-f", "--heap", "--stacks=native", "--sample-hz=0", "--scan-at-exit"]
REACHES = ("definitely_lost", "indirectly_lost", "reachable", "unknown")
# Of a thread that waits for others, and of the run-time libraries.
OTHERS = "main"


@functools.cache
def folder():
    return tempfile.TemporaryDirectory()


@functools.cache
def built(source):
    program = os.path.join(folder().name, source.partition(".")[0])
    compiler = "cc" if source.endswith(".c") else "c++"
    subprocess.run([compiler, "-O1", "-g", "-fno-builtin", "-pthread", "-o", program,
                    os.path.join(HERE, source)], check=True)
    return program


def scanned(*command, options=()):
    done = harness.run(*command, options=OPTIONS + list(options))
    equal(done.code, 0, "the exit code", done)
    check("still running" not in done.err, "the copy of a process counts as a process", done.err)
    return done.trace


def purpose(stack):
    """The function of the program that says what happens to the block."""
    names = [frame["function"] or "" for frame in stack or ()]
    return next((name.split("::")[-1].split("(")[0] for name in names
                 if "keep_" in name or "lose_" in name), OTHERS)


def by_purpose(leaks):
    """{purpose: {reach: (blocks, bytes)}}"""
    found = {}
    for group in leaks["groups"]:
        sums = found.setdefault(purpose(group["stack"]), {})
        for reach in REACHES:
            amount = group[reach]
            if amount["blocks"]:
                blocks, size = sums.get(reach, (0, 0))
                sums[reach] = (blocks + amount["blocks"], size + amount["bytes"])
    return found


def never_freed(trace, *options):
    return report("leaks", trace, "--never-freed", "--top=100", *options)


def test_c():
    leaks = never_freed(scanned(built("leaks_in_c.c")))
    found = by_purpose(leaks)
    equal(set(found.pop(OTHERS)), {"reachable"}, "blocks of main and libc", leaks)
    equal(found, {
        "keep_in_global": {"reachable": (1, 1001)},
        "keep_in_thread": {"reachable": (1, 1002)},
        "keep_inside": {"reachable": (1, 1003)},
        "keep_list": {"reachable": (5, 200)},
        "keep_after_recorder": {"reachable": (1, 1008)},
        "lose_list": {"definitely_lost": (1, 48), "indirectly_lost": (3, 144)},
        "lose_circle": {"definitely_lost": (1, 56), "indirectly_lost": (1, 56)},
        "lose_plain": {"definitely_lost": (3, 3012)},
        "lose_large": {"definitely_lost": (1, 1 << 20)},
        "lose_in_freed": {"definitely_lost": (1, 1005)},
        "lose_in_thread": {"definitely_lost": (1, 1006)},
    }, "what was lost")
    equal([p["outcome"] for p in leaks["searched"]], ["searched"], "the processes", leaks)


def test_cxx():
    found = by_purpose(never_freed(scanned(built("leaks_in_cc.cc"))))
    equal(found.pop("lose_widget"), {"definitely_lost": (1, 64), "indirectly_lost": (2, 601)},
          "an object with members")
    for name in ("keep_table", "keep_by_base", "keep_array", "keep_in_running_thread", OTHERS):
        equal(set(found.pop(name)), {"reachable"}, name)
    equal(found, {}, "others")


def test_text_and_suppressions():
    trace = scanned(built("leaks_in_c.c"))
    text = plain(MEMLEDGER, "leaks", "--never-freed", trace)
    for part in ("definitely lost: 1.0 MiB in 8 blocks", "indirectly lost: 200 B in 4 blocks",
                 "1.0 MiB in 1 block definitely lost"):
        contains(text.stdout, part, "the text")
    with open("known", "w", encoding="ascii") as f:
        f.write("leak:lose_\n")
    leaks = never_freed(trace, "--suppressions=known")
    equal(leaks["never_freed"]["definitely_lost"]["blocks"], 0, "lost blocks that are left", leaks)
    equal(leaks["suppressed"]["definitely_lost"]["blocks"], 8, "suppressed blocks", leaks)
    fails = [MEMLEDGER, "leaks", "--never-freed", "--fail", trace]
    equal(subprocess.run(fails, capture_output=True, check=False).returncode, 1, "lost blocks")
    equal(subprocess.run(fails + ["--suppressions=known"], capture_output=True,
                         check=False).returncode, 0, "blocks that are reachable do not fail")


def test_processes():
    """A forked process has blocks of its parent; those of its children are not judged."""
    program = built("leaks_in_c.c")
    leaks = never_freed(scanned("sh", "-c", "%s; %s; exit 0" % (program, program)))
    lost = sum(group["definitely_lost"]["blocks"] for group in leaks["groups"]
               if purpose(group["stack"]).startswith("lose_"))
    equal(lost, 16, "lost by two processes", leaks)


def test_program_is_as_before():
    """Its output ends with it, although its copy goes on for a while; its code stays."""
    program = "import os, sys; print('said'); sys.stdout.flush(); sys.exit(3)"
    done = harness.run(sys.executable, "-c", program, options=OPTIONS)
    equal((done.code, done.out), (3, "said\n"), "a program under the scan", done)


def test_needs_all_blocks():
    done = subprocess.run([MEMLEDGER, "run", "--heap=sample", "--scan-at-exit", "true"], check=False,
                          capture_output=True, text=True)
    equal(done.returncode, 2, "samples")
    contains(done.stderr, "needs all blocks of malloc", "the message")


def test_without_scan():
    done = harness.run(built("leaks_in_c.c"), options=["-f", "--heap", "--stacks=native"])
    leaks = never_freed(done.trace)
    check("searched" not in leaks and "reachable" not in leaks["never_freed"], "no scan", leaks)


harness.main(globals())
