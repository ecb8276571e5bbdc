# mxnet_run.py: runs programs with the MXNet to be tested, recorded and alone.
#
# MXNET_VERSION is the one to test; the real wheels, from PyPI.
#
# SPDX-License-Identifier: Apache-2.0
import functools
import glob
import json
import os
import shlex

import pypi
from harness import balanced, check, equal, plain, run

VERSION = os.environ["MXNET_VERSION"]
IS_2 = VERSION.startswith("2")
FOLDER = os.path.join(os.environ["PYPI_FOLDER"], f"mxnet-{VERSION}")
NAIVE = {"MXNET_ENGINE_TYPE": "NaiveEngine"}


def python():
    return os.path.join(pypi.environment(os.environ["PYPI_REQUIREMENTS"], FOLDER), "bin/python")


def said(text, details):
    lines = text.strip().splitlines()
    check(lines, "the program said nothing", details)
    return json.loads(lines[-1])


def run_recorded(program, case, code=0, env=None, options=()):
    """What the program said, and how it went."""
    result = run(python(), program, case, options=("-qf", *options),
                 env=os.environ | (env or {}))
    equal(result.code, code, f"exit code of {case}", result)
    check("memledger:" not in result.err, "the recorder has something to say", result)
    return said(result.out, result), result


def record(program, case, code=0, env=None, options=()):
    """What the program said, and its trace with all events."""
    told, result = run_recorded(program, case, code, env, options)
    trace = result.dump(events=True)
    balanced(trace)
    return told, trace


def alone(program, case, env=None):
    done = plain(python(), program, case, env=os.environ | (env or {}))
    return said(done.stdout, done.stderr)


def events(trace, *kinds, device="cpu"):
    spaces = [i for i, s in enumerate(trace["spaces"])
              if (s["device"], s["name"]) == (device, "mxnet")]
    return [e for e in trace["events"] if e["kind"] in kinds and e.get("space") in spaces]


def compile_program(*arguments):
    done = plain(*shlex.split(os.environ["TEST_CC"]), "-O1", "-std=gnu11", *arguments)
    equal(done.returncode, 0, f"compiling {arguments[0]}", done.stderr)


@functools.cache
def linked(source):
    """The path of a program in C, compiled and linked with MXNet."""
    python()
    package, = glob.glob(os.path.join(FOLDER, "lib/python3*/site-packages/mxnet"))
    program = os.path.join(FOLDER, os.path.basename(source)[:-len(".c")])
    compile_program(source, "-isystem", os.path.join(package, "include"), "-o", program,
                    f"-L{package}", "-lmxnet", f"-Wl,-rpath,{package}",
                    "-Wl,--allow-shlib-undefined", *(["-DHAS_DTYPE_ARGUMENT"] if IS_2 else []))
    return program
