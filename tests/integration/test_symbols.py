#!/usr/bin/env python3
# test_symbols.py: compares what the two libraries export and import with the lists in symbols/.
# A new symbol is a decision: add it to the list with the change.
#
# SPDX-License-Identifier: Apache-2.0
import os
import re

import harness
from harness import check, equal, plain

LISTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "symbols")
LIBRARIES = ("libmemledger", "libmemledger-heap")

# glibc's own, in the versions before it became one library too.
NEEDED = {"libc.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2"}

# What every shared library refers to, weakly.
ALWAYS = {"_ITM_deregisterTMCloneTable", "_ITM_registerTMCloneTable", "__cxa_finalize",
          "__gmon_start__"}


def listed(library, which):
    with open(os.path.join(LISTS, f"{library}.{which}.txt")) as f:
        return {line.strip() for line in f if line.strip() and not line.startswith("#")}


def symbols(library, *options):
    """(type, name, version) of each dynamic symbol."""
    path = os.path.join(harness.LIBRARIES, f"{library}.so")
    done = plain("nm", "-D", *options, path)
    check(done.returncode == 0, f"nm of {path}", done.stderr)
    for line in done.stdout.splitlines():
        *_, kind, name = line.split()
        name, _, version = name.partition("@")
        yield kind, name, version.lstrip("@")


def plain_name(name):
    """The function behind a variant that a compiler chose by itself."""
    name = {"bcmp": "memcmp", "stpcpy": "strcpy"}.get(name, name)
    name = re.sub(r"^__(\w+)_chk$", r"\1", name)
    return re.sub(r"^(open|lseek|ftruncate|fcntl|getrlimit)64$", r"\1", name)


def test_exports():
    for library in LIBRARIES:
        exported = {name for _, name, _ in symbols(library, "--defined-only")}
        wanted = listed(library, "exports")
        equal(sorted(exported - wanted), [], f"exports of {library}.so that are not listed")
        equal(sorted(wanted - exported), [], f"exports missing from {library}.so")


def test_what_every_event_reads_lies_together():
    """ML_READ_ALWAYS: the switches and PyTorch's own functions on one cache line, the spaces
    right behind."""
    for library in LIBRARIES:
        path = os.path.join(harness.LIBRARIES, f"{library}.so")
        lines = [line.split() for line in plain("nm", path).stdout.splitlines()]
        at = {line[-1]: int(line[0], 16) for line in lines if len(line) == 3}
        if "ml_live_on" not in at:
            raise harness.Skip(f"{path} is stripped")
        first = at["ml_live_on"]
        equal(first % 64, 0, f"where what is read begins on its cache line in {library}.so")
        for name in ("ml_clock_mode", "ml_stacks_mode", "ml_torch_reals"):
            check(first < at[name] <= first + 32, f"{name} is far off in {library}.so", at[name])
        for name in ("ml_torch_cpu_number", "ml_torch_cuda_numbers"):
            check(first < at[name] <= first + 256, f"{name} is far off in {library}.so", at[name])


def test_imports():
    for library in LIBRARIES:
        allowed = listed(library, "imports")
        for kind, name, version in symbols(library, "--undefined-only"):
            if name in ALWAYS and kind == "w":
                continue
            check(plain_name(name) in allowed, f"{library}.so imports {name}, which is not listed")
            check(version.startswith("GLIBC_"), f"{name} in {library}.so is not libc's: {version}")


def test_needed():
    for library in LIBRARIES:
        path = os.path.join(harness.LIBRARIES, f"{library}.so")
        dynamic = plain("readelf", "-d", "-W", path).stdout
        needed = set(re.findall(r"NEEDED.*\[(.*)\]", dynamic))
        check(needed and needed <= NEEDED, f"{library}.so needs {needed - NEEDED}")
        for flag in ("BIND_NOW", "NODELETE"):
            check(flag in dynamic, f"{library}.so lacks {flag}", dynamic)
        check("TEXTREL" not in dynamic, f"{library}.so has text relocations")
        check("RPATH" not in dynamic and "RUNPATH" not in dynamic, f"{library}.so has a run path")


def test_no_executable_stack():
    for library in LIBRARIES:
        path = os.path.join(harness.LIBRARIES, f"{library}.so")
        headers = plain("readelf", "-l", "-W", path).stdout
        stack = re.search(r"GNU_STACK.*", headers)
        check(stack and "RWE" not in stack.group(), f"{library}.so wants an executable stack")


harness.main(globals())
