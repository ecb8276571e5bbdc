#!/usr/bin/env python3
# test_places.py: odd names, odd folders, odd programs, and runs within runs.
#
# SPDX-License-Identifier: Apache-2.0
import os
import shutil

import harness
from harness import check, contains, equal, plain, program, run

ODD = "a name: with spaces, colons & Größe 名"


def test_odd_names():
    """Program, arguments, trace and working folder."""
    os.mkdir(ODD)
    shutil.copy(program("ends"), os.path.join(ODD, ODD))
    result = run(os.path.join(ODD, ODD), "exit", 4, trace=os.path.join(ODD, "%n.mled"))
    equal(result.code, 4, "exit code", result)
    trace = harness.dump(os.path.join(ODD, ODD + ".mled"))
    equal(trace["kinds"]["alloc"], 2, "allocations")
    equal(trace["processes"][0]["command"], os.path.join(ODD, ODD) + " exit 4", "command line")


def test_odd_installation():
    """LD_PRELOAD takes blanks and colons for the end of a name."""
    for place in ("bin", "lib/memledger"):
        os.makedirs(os.path.join(ODD, place))
    memledger = os.path.join(ODD, "bin", "memledger")
    shutil.copy(harness.MEMLEDGER, memledger)
    shutil.copy(os.path.join(harness.LIBRARIES, "libmemledger.so"),
                os.path.join(ODD, "lib/memledger"))
    done = plain(memledger, "run", "-o", "t.mled", program("families"), "fork")
    equal((done.returncode, len(done.stdout.splitlines())), (0, 5), "the program's end", done)
    equal(harness.dump("t.mled")["kinds"]["alloc"], 5, "allocations", done.stderr)


def test_odd_temporary_folder():
    os.mkdir(ODD)
    environment = dict(os.environ, XDG_RUNTIME_DIR=os.path.abspath(ODD))
    equal(run(program("ends"), "exit", 4, env=environment).dump()["kinds"]["alloc"], 2,
          "allocations")
    long = os.path.abspath("x" * 100)
    os.mkdir(long)
    environment = dict(os.environ, XDG_RUNTIME_DIR=long, TMPDIR=long)
    equal(run(program("ends"), "exit", 4, env=environment, options=["-f"]).dump()["kinds"]["alloc"],
          2, "allocations, where the folder's name is too long for a socket")


def test_removed_folder():
    """Started where the working folder is no more."""
    done = plain("sh", "-c", 'mkdir gone && cd gone && rmdir ../gone && '
                 f'exec "$0" run -o "{os.getcwd()}/t.mled" "$1" exit 4',
                 harness.MEMLEDGER, program("ends"))
    equal(done.returncode, 4, "exit code", done)
    equal(harness.dump("t.mled")["kinds"]["alloc"], 2, "allocations")


def test_script():
    with open("script", "w") as f:
        f.write(f"#!/bin/sh\n{program('ends')} exit 5\n")
    os.chmod("script", 0o755)
    with open("headless", "w") as f:
        f.write(f"{program('ends')} exit 6\n")
    os.chmod("headless", 0o755)
    for name, code in (("./script", 5), ("./headless", 6)):
        result = run(name, options=["-f"])
        equal(result.code, code, f"exit code of {name}", result)
        equal(result.dump()["kinds"]["alloc"], 2, f"allocations of {name}")


def test_found_in_path():
    environment = dict(os.environ, PATH=harness.PROGRAMS + ":" + os.environ["PATH"])
    equal(run("ends", "exit", 5, env=environment).code, 5, "exit code")


def test_run_in_run():
    """The inner run has the program; the outer one sees the launcher go by."""
    result = run(harness.MEMLEDGER, "run", "-q", "-o", "inner.mled", program("ends"), "exit", 6,
                 trace="outer.mled")
    equal(result.code, 6, "exit code", result)
    equal(harness.dump("inner.mled")["kinds"]["alloc"], 2, "allocations in the inner run")
    outer = result.dump()
    equal(outer["kinds"].get("alloc"), None, "allocations in the outer run")
    contains(outer["processes"][0]["command"], "memledger run", "process in the outer run")


def test_python():
    """A real program with threads and children of its own."""
    code = ("import subprocess, threading\n"
            f"subprocess.run([{program('ends')!r}, 'exit', '0'])\n"
            "t = threading.Thread(target=lambda: None); t.start(); t.join()\n"
            "raise SystemExit(8)\n")
    result = run("/usr/bin/python3", "-c", code, options=["--heap"])
    equal(result.code, 8, "exit code", result)
    trace = result.dump()
    equal(trace["lost"], 0, "lost")
    check(trace["kinds"]["alloc"] > 1000, "allocations", trace["kinds"])
    equal(trace["replaced"], 0, "replaced")


harness.main(globals())
