#!/usr/bin/env python3
# test_profiler_contract.py: every function, class, default and environment variable of
# MXNet's profiler, and each of its known defects, one by one: in Python with and without
# MXNet, with the oldest CPython that is supported and with this one; in C by the table of
# docs/api.md.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import re
import sys

import harness
from harness import check, contains, equal, plain
from test_mxnet_profiler import CASES, HERE, load, mxnet_python, other_python, phases

CONTRACT = os.path.join(HERE, "profiler_contract.py")
DEFECTS = os.path.join(HERE, "profiler_defects.py")
SOURCE = os.environ["TEST_SOURCE"]
OLDEST = (3, 9)

# MXNet's functions in C, and which of ours does the same.
IN_C = {
    "MXSetProcessProfilerConfig": "set_config", "MXSetProfilerConfig": "set_config",
    "MXSetProcessProfilerState": "set_process_state", "MXSetProfilerState": "set_state",
    "MXSetProfilerScope": "push", "MXDumpProcessProfile": "dump_process",
    "MXDumpProfile": "dump", "MXAggregateProfileStatsPrint": "stats",
    "MXAggregateProfileStatsPrintEx": "stats", "MXProcessProfilePause": "pause_process",
    "MXProfilePause": "pause", "MXProfileCreateDomain": "domain", "MXProfileCreateTask": "task",
    "MXProfileCreateFrame": "frame", "MXProfileCreateEvent": "event",
    "MXProfileCreateCounter": "counter", "MXProfileDestroyHandle": "destroy",
    "MXProfileDurationStart": "start", "MXProfileDurationStop": "stop",
    "MXProfileSetCounter": "counter_set", "MXProfileAdjustCounter": "counter_adjust",
    "MXProfileSetMarker": "marker",
}
NOT_THE_PROFILERS = {"MXCUDAProfilerStart", "MXCUDAProfilerStop"}  # NVIDIA's own

KEYS = {"profile_all": "false", "profile_symbolic": "true", "profile_imperative": "true",
        "profile_memory": "true", "profile_api": "true", "filename": "profile.json",
        "gpu_memory_profile_filename_prefix": "gpu_memory_profile", "continuous_dump": "true",
        "dump_period": "1.0", "aggregate_stats": "false", "profile_process": "worker"}


def check_contract(python, *arguments):
    done = harness.run(python, CONTRACT, *arguments, options=["-qf"])
    equal(done.code, 0, f"exit code of {python} {arguments}", done)
    told = json.loads(done.out.splitlines()[-1])
    equal(told["checked"], told["public"], "names that have a check")


# ---- In Python --------------------------------------------------------------------


def test_without_mxnet():
    for python in (sys.executable, other_python(OLDEST)):
        check_contract(python)


def test_with_mxnet():
    check_contract(mxnet_python("1.9.1"), "mxnet")
    check_contract(mxnet_python("2.0.0b1"), "mxnet")


def test_with_mxnet_and_the_oldest_python():
    check_contract(mxnet_python("1.9.1", other_python(OLDEST)), "mxnet")


DUMPS = """
import os
from memledger.mxnet import profiler
path = f"held-pid_{os.getpid()}.csv"
open(path, "w").close()
profiler.set_config(gpu_memory_profile_filename_prefix="held", filename="held.json")
profiler.set_state("run")
profiler.dump()
print(os.path.exists(path))
"""


def test_memory_profile_of_another_pid_namespace():
    """The trace has another number for the process, so the profile cannot be found."""
    unshare = ["unshare", "--pid", "--fork"]
    if plain(*unshare, "true").returncode:
        raise harness.Skip("no pid namespace may be made here", machine=True)
    done = harness.run(*unshare, sys.executable, "-c", DUMPS, options=["-qf"])
    equal([done.code, done.out.strip()], [0, "False"], "whether the old profile is left", done)
    contains(done.err, "cannot write the memory profile: the trace has no memory of process 1;",
             "the warning")


COMPARE = """
import inspect, json, mxnet.profiler
from memledger.mxnet import profiler
def signatures(module):
    found = {}
    for name, member in vars(module).items():
        if name.startswith("_") or not callable(member):
            continue
        if getattr(member, "__module__", None) != module.__name__:
            continue
        found[name] = str(inspect.signature(member)).replace('"', "'")
        if inspect.isclass(member):
            for method, function in inspect.getmembers(member, inspect.isfunction):
                if not method.startswith("_") or method in ("__iadd__", "__isub__", "__str__"):
                    found[name + "." + method] = str(inspect.signature(function))
    return found
print(json.dumps([signatures(mxnet.profiler), signatures(profiler)]))
"""


def test_all_of_mxnets():
    """Each function, class and method of MXNet's module is there, with its arguments and
    defaults."""
    for version in ("1.9.1", "2.0.0b1"):
        done = harness.run(mxnet_python(version), "-c", COMPARE, options=["-qf"])
        equal(done.code, 0, "exit code", done)
        theirs, ours = json.loads(done.out.splitlines()[-1])
        check(len(theirs) > 30, "names of MXNet's", theirs)
        for name, signature in theirs.items():
            equal(ours.get(name), signature, f"{name} of {version}")


# ---- The environment --------------------------------------------------------------


def told_by(python, case, **env):
    done = harness.run(python, CASES, case, options=["-qf"], env=os.environ | env)
    equal(done.code, 0, f"exit code of {case}", done)
    return json.loads(done.out.splitlines()[-1])


def test_environment():
    """MXNET_PROFILER_AUTOSTART is off, and MXNET_PROFILER_MODE is a sum."""
    for python in (sys.executable, other_python(OLDEST)):
        for value, starts in (("1", True), ("0", False), ("", False)):
            told_by(python, "autostarted", MXNET_PROFILER_AUTOSTART=value)
            equal(os.path.exists("profile.json"), starts, f"whether {value!r} starts it")
            if starts:
                os.remove("profile.json")
        parts = ("profile_symbolic", "profile_imperative", "profile_api", "profile_memory")
        sent = told_by(python, "mode", MXNET_PROFILER_MODE="13")["sent"]
        equal(sent[0], dict(zip(parts, ("True", "False", "True", "True"))), "mode 13")


# ---- In C -------------------------------------------------------------------------


def read(*path):
    with open(os.path.join(SOURCE, *path), encoding="utf-8") as f:
        return f.read()


def test_in_c():
    """Each has one of ours, which the guide names and the program of test_profiler.py
    calls."""
    header, guide = read("include", "memledger", "memledger.h"), read("docs", "api.md")
    program = read("tests", "integration", "profiler", "profiler_api.c")
    scopes = read("tests", "integration", "emit.c")
    for theirs, ours in IN_C.items():
        check(re.search(rf"\bmemledger_{ours}\(", header), f"no memledger_{ours}")
        check(f"memledger_{ours}(" in program + scopes, f"nothing tests memledger_{ours}")
        contains(guide, f"_{ours}`", f"the guide's table, for {theirs}")


def test_all_of_mxnets_in_c():
    python = mxnet_python("2.0.0b1")
    folder = os.path.join(os.path.dirname(python), "..", "lib")
    done = plain("sh", "-c", f"nm -D --defined-only {folder}/python3*/site-packages/mxnet/"
                 "libmxnet.so | awk '{print $3}' | grep '^MX.*Profil'")
    found = set(done.stdout.split()) - NOT_THE_PROFILERS
    check(len(found) > 15, "functions of MXNet's profiler", done)
    equal(sorted(found - set(IN_C)), [], "functions that are not in the table")


def test_settings():
    """Keys and defaults, as the recorder has them and as the guide tells them."""
    table = re.findall(r'\{"(\w+)",\s*ML_CONFIG_\w+,\s*"([^"]*)"\}',
                       read("src", "format", "config_keys.c"))
    equal(dict(table), KEYS, "keys and defaults")
    guide = read("docs", "api.md")
    for key, default in KEYS.items():
        check(re.search(rf"`{key}`.*\| `{re.escape(default)}` \|", guide),
              f"the guide has no {key} with its default")


# ---- Defects of MXNet's -----------------------------------------------------------


def text(name, whose):
    with open(f"{name}.{whose}.json", encoding="utf-8") as f:
        return f.read()


def is_json(name, whose):
    try:
        json.loads(text(name, whose))
    except ValueError:
        return False
    return True


def run_defects(whose):
    done = harness.run(mxnet_python("1.9.1"), DEFECTS, whose, options=["-qf"],
                       env=os.environ | {"OMP_NUM_THREADS": "1"})
    lines = done.out.splitlines()
    check(lines, "the program said nothing", done)
    return json.loads(lines[0]), done


def test_defects():
    """MXNet 1.9.1 has each of them still, and we have none."""
    theirs, ended = run_defects("mxnet")
    ours, done = run_defects("memledger")
    equal(done.code, 0, "exit code", done)
    # Names are not escaped ...
    equal([is_json("names", "mxnet"), is_json("names", "memledger")], [False, True], "escapes")
    # ... and cut at 127 bytes.
    check('"' + "x" * 127 + '"' in text("names", "mxnet"), "MXNet no longer cuts names")
    check('"' + "x" * 200 + '"' in text("names", "memledger"), "a name is cut")
    # A dump that does not finish the file leaves it without its end.
    equal([is_json("unfinished", "mxnet"), is_json("unfinished", "memledger")], [False, True],
          "dump(finished=False)")
    # A second one that is not continuous begins with a comma.
    equal([is_json("second", "mxnet"), is_json("second", "memledger")], [False, True],
          "the second dump")
    processes = phases(load("second.memledger.json"), ph="M")
    equal([e["args"]["name"] for e in processes], ["cpu/0", "d"], "processes of the second dump")
    # The average of a counter is half of (max - min), in thousandths.
    equal([theirs["average"], ours["average"]], [(10 - 2) / 2 / 1000, 6], "the average")
    # A minimum above 2^31 is wrong.
    check(theirs["least"] * 1000 < 3e9, "MXNet's minimum is right", theirs)
    equal(ours["least"], 3000000000, "the minimum")
    # The free of an older block: neither counts below 0.
    for whose in ("mxnet", "memledger"):
        left = re.findall(r'"Memory: cpu/0": (-?[0-9]+)', text("freed", whose))
        check(all(int(value) >= 0 for value in left), f"memory below 0 with {whose}", left)
    # A reset of statistics that were not gathered.
    equal([ended.code != 0, done.code], [True, 0], "reset without aggregate_stats")
    check("reset" in done.out and "reset" not in ended.out, "who came to the end", ended)


if __name__ == "__main__":
    harness.main(globals())
