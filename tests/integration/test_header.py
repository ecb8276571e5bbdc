#!/usr/bin/env python3
# test_header.py: memledger.h compiles everywhere without a warning, needs no library, and does
# nothing without a recorder.
#
# SPDX-License-Identifier: Apache-2.0
import os
import shutil

import harness
from harness import Skip, check, contains, equal, plain, run

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "header_user.c")
STRICT = ["-pedantic-errors", "-Wall", "-Wextra", "-Werror", "-Wshadow"]
C_ONLY = ["-Wstrict-prototypes", "-Wmissing-prototypes"]


def build(compiler, *flags, output="user"):
    language = ["-x", "c++"] if "++" in compiler else C_ONLY
    done = plain(compiler, *language, *STRICT, *flags, f"-I{harness.INCLUDE}", SOURCE, "-o",
                 output)
    check(done.returncode == 0, f"{compiler} {' '.join(flags)}", done.stderr)
    equal(done.stderr, "", f"warnings of {compiler} {' '.join(flags)}")


def compilers(*names):
    found = [name for name in names if shutil.which(name)]
    if not found:
        raise Skip(f"none of {', '.join(names)} is installed")
    return found


def check_both():
    """Runs with and without a recorder."""
    equal(plain("./user").returncode, 0, "exit code without a recorder")
    result = run("./user", options=["-f", "-q"])
    equal(result.code, 0, "exit code with a recorder", result)
    equal(result.dump()["kinds"].get("alloc"), 2, "allocations", result)


def test_c():
    for compiler in compilers("gcc", "clang"):
        for standard in ("c99", "c11", "c17", "gnu17"):
            build(compiler, f"-std={standard}", "-O2")
            check_both()


def test_cxx():
    for compiler in compilers("g++", "clang++"):
        for standard in ("c++11", "c++17", "c++20"):
            build(compiler, f"-std={standard}", "-O2")
            check_both()


def test_position():
    """-no-pie makes the weak reference a matter of the linker's."""
    for compiler in compilers("gcc", "clang"):
        for flags in (["-no-pie", "-fno-pie"], ["-pie", "-fPIE"], ["-O0", "-no-pie", "-fno-pie"]):
            build(compiler, "-std=c99", *flags)
            check_both()


def test_static():
    """A static program has no recorder to find, and memledger run says so."""
    for compiler in compilers("gcc", "clang"):
        build(compiler, "-std=c99", "-static")
        equal(plain("./user").returncode, 0, f"exit code of {compiler}'s static program")
        result = run("./user", options=["-f", "--sample-hz", "0"])
        equal(result.code, 0, "exit code under memledger run", result)
        contains(result.err, "./user is statically linked", "message")
        equal(result.dump()["kinds"], {}, "events")


def test_static_pie():
    build(compilers("gcc")[0], "-std=c99", "-static-pie")
    equal(plain("./user").returncode, 0, "exit code of a static PIE program")
    contains(run("./user").err, "is statically linked", "message")


harness.main(globals())
