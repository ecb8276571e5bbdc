#!/usr/bin/env python3
# test_mxnet_profiler.py: `from memledger.mxnet import profiler`, function by function,
# against what MXNet's own does; and beside MXNet's own, from PyPI.
#
# SPDX-License-Identifier: Apache-2.0
import glob
import importlib.util
import json
import os
import sys
from collections import Counter

import harness
import pypi
from harness import Skip, check, contains, equal, plain, report

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = os.path.join(HERE, "mxnet_profiler_cases.py")
PACKAGE = os.environ["TEST_PACKAGE"]
MXNET_PYTHONS = range(8, 12)  # minor versions for which there is the NumPy that it needs
PARTS = ["profile_symbolic", "profile_imperative", "profile_api", "profile_memory"]


def answer(done, what):
    """What a program told, which came to a good end."""
    equal(done.code, 0, f"exit code of {what}", done)
    return json.loads(done.out) if done.out else None


def case(name, *options, **more):
    """Under `memledger run`."""
    return answer(harness.run(sys.executable, CASES, name, options=["-q", *options],
                              env=os.environ | more), name)


def outside(name, **more):
    done = plain(sys.executable, CASES, name, env=os.environ | {"PYTHONPATH": PACKAGE} | more)
    equal(done.returncode, 0, f"exit code of {name}", done.stderr)
    return json.loads(done.stdout) if done.stdout else None, done.stderr


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)["traceEvents"]


def phases(events, **wanted):
    return [e for e in events if all(e.get(k) == v for k, v in wanted.items())]


def values(events, name):
    return [e["args"][name] for e in phases(events, ph="C", name=name)]


# ---- Under `memledger run` --------------------------------------------------------


def test_everything():
    told = case("everything")
    names = ["dom", "task", "frame", "event", "counter", "marker"]
    equal(told["names"], names, "str() of each")
    equal(told["handles"], [True] * 5, "handles")
    equal(told["constructed"], ["x"] * 4, "objects made without their domain's help")
    events = load("all.json")
    for name, cat, pair in (("task", "dom", "be"), ("frame", "dom,frame", "()"),
                            ("event", "event", "BE")):
        for phase in pair:
            equal(len(phases(events, ph=phase, name=name, cat=cat)), 1, f"{phase} of {name}")
    equal(values(events, "counter"), [5, 8, 7, 8, 18, 17, 15, 100], "the counter")
    markers = phases(events, ph="n", cat="dom,instant_marker", name="marker")
    equal("".join(m["s"] for m in markers), "pgptpp", "the markers' scopes")
    equal(sorted(e["args"]["name"] for e in phases(events, ph="M")),
          sorted(["cpu/0", "dom", "dom,frame", "dom,instant_marker", "event"]), "processes")


def test_defaults():
    worker = "profile_process='worker'"
    equal(case("defaults"), {
        "set_state": ["state='stop'", worker],
        "dump": ["finished=True", worker],
        "dumps": ["reset=False", "format='table'", "sort_by='total'", "ascending=False"],
        "pause": [worker],
        "resume": [worker],
        "scope": ["name='<unk>:'", "append_mode=True"],
        "profiler_set_config": ["mode='symbolic'", "filename='profile.json'"],
        "profiler_set_state": ["state='stop'"],
        "dump_profile": [],
        "Counter": ["domain", "name", "value=None"],
        "Domain.new_counter": ["name", "value=None"],
        "Marker.mark": ["scope='process'"],
        "Counter.increment": ["delta=1"],
        "Counter.decrement": ["delta=1"],
        "set_kvstore_handle": ["handle"],
    }, "signatures")


def test_default_file():
    told = case("default_file")
    equal(told["statistics"], "\nProfile Statistics:\n"
          "\tNote the difference in units for different entries.\n", "statistics without any")
    equal(values(load("profile.json"), "c"), [7], "the file")


def test_dumps():
    case("dumps")
    for i in range(3):
        equal(values(load(f"growing{i}.json"), "c"), list(range(i + 1)), f"growing, dump {i}")
        equal(values(load(f"whole{i}.json"), "c"), [i], f"whole, dump {i}")
    equal(values(load("growing.json"), "c"), [0, 1, 2], "the finished file")
    equal(values(load("whole.json"), "c"), [2], "the last file")


def test_statistics():
    told = case("statistics")
    # Last: a 9, b 4, c 2; average: a 5, b 4, c 2; least: a 1, b 4, c 2; equal rows by name.
    equal(told["order"], {
        "total False": "abc", "total True": "cba", "avg False": "abc", "avg True": "cba",
        "min False": "bca", "min True": "acb", "max False": "abc", "max True": "cba",
        "count False": "cab", "count True": "bac"}, "order of the rows")
    check(told["same"], "the defaults are not those written out")
    lines = told["table"].splitlines()
    equal(lines[:6], ["", "Profile Statistics:",
                      "\tNote the difference in units for different entries.", "d", "=" * 17,
                      "Name                          Total Count       Last Value"
                      "        Min Value        Max Value        Avg Value"], "the table's head")
    contains(told["table"], "\na                                       2           9.0000"
             "           1.0000           9.0000           5.0000\n", "the table")
    equal(told["json"]["Counter"]["d"]["a"],
          {"Count": 2, "Last": 9, "Min": 1, "Max": 9, "Avg": 5}, "a in JSON")
    equal(told["json"]["Unit"], {"Time": "ms", "Memory": "kB", "Counter": "1"}, "units")
    equal(told["after"].count("\n"), 3, "lines after the reset", told["after"])
    equal(told["after_json"]["Counter"], {}, "counters after the reset")
    load("profile.json")


def test_states():
    case("states")
    # A new run begins a new file only after a finished one: here it goes on.
    equal(values(load("states.json"), "c"), [2, 4, 6], "what was recorded")


def test_wrong():
    told = case("wrong")
    for name, part in {"dump": "has not been run", "key": 'did you mean "filename"',
                       "value": "true, false, 1 or 0", "period": "above 0",
                       "whose": "worker or server", "scope": "global, process, thread",
                       "large": "9223372036854775807", "mode": "unknown key"}.items():
        equal(told[name][0], "RuntimeError", f"the error of {name}")
        contains(told[name][1], part, f"the message about {name}")
    for name, part in {"state": "'stop' or 'run'", "process": "'worker' or 'server'",
                       "format": "'table' or 'json'", "sort": "'avg'"}.items():
        equal(told[name][0], "ValueError", f"the error of {name}")
        contains(told[name][1], part, f"the message about {name}")
    equal(told["negative"][0], "OverflowError", "the error of a negative value")
    equal(told["stop"], ["memledger: cannot stop a task that is not started"], "a stop too many")
    check(not os.path.exists("never.json"), "half of a bad call was used")


def test_deprecated():
    warned = case("deprecated")["warnings"]
    equal([w[0].split()[0] for w in warned],
          ["profiler.profiler_set_config()", "profiler.profiler_set_state()",
           "profiler.dump_profile()", "profiler.profiler_set_state()"], "who warned")
    for text, category, file in warned:
        contains(text, "is deprecated", "a warning")
        equal([category, file], ["UserWarning", os.path.basename(CASES)], "its kind and place")
    equal(values(load("old.json"), "c"), [1], "the file")


def test_scopes():
    told = case("scopes", "--heap")
    equal(told["names"], ["<unk>:", "encoder:", "encoder:attention:", "alone:", "encoder:again:",
                          "after:"], "names")
    groups = report("table", "t.mled")["groups"]
    inside, = [g for g in groups if g["module"] == "encoder > attention > alone"]
    check(inside["bytes"] >= 3 << 20, f"the scopes' bytes: {inside}")


def test_threads():
    equal(case("threads")["count"], 200, "tasks")
    events = load("threads.json")
    for i in range(4):
        equal(values(events, f"thread {i}"), list(range(1, 51)), f"thread {i}")


def test_names():
    case("names")
    counters = [e["name"] for e in phases(load("names.json"), ph="C")]
    equal(counters, ['a "quote" \\ and\ttab', "größer", "x" * 200, "null", "half ?"], "names")


def test_servers():
    equal(case("servers")["handle"], 12345, "the kvstore's handle")
    equal(values(load("rank0_server.json"), "served"), [1, 3], "the server's file")
    check(not os.path.exists("profile.json"), "the worker has a file too")


def test_parts():
    if not importlib.util.find_spec("torch"):
        raise Skip("this Python has no PyTorch")
    table = case("parts", "--ops", OMP_NUM_THREADS="1")["table"].splitlines()
    equal(table[table.index("Device Storage"):][1:4],
          ["=" * 17, "Name                          Total Count    Min Use  (kB)    Max Use  (kB)"
           "    Avg Use  (kB)",
           "----                          -----------    -------------    -------------"
           "    -------------"], "the table of memory")
    for name, memory, operators in (("101", True, True), ("010", False, True),
                                    ("100", True, False)):
        events = load(f"{name}.json")
        found = phases(events, ph="C", cat="Device Storage", name="Memory: cpu/0")
        equal(bool(found), memory, f"whether {name} has memory")
        added = phases(events, ph="B", cat="Custom Operator", name="aten::add")
        equal(bool(added), operators, f"whether {name} has operators")
        check(all(e["args"]["Memory: cpu/0"] >= 0 for e in found), "memory below 0", found)


# ---- The environment --------------------------------------------------------------


def test_mode():
    for number in (1, 2, 4, 8, 13, 15):
        first, second, third = case("mode", MXNET_PROFILER_MODE=str(number))["sent"]
        bits = {key: str(bool(number & 1 << bit)) for bit, key in enumerate(PARTS)}
        equal(first, bits, f"mode {number}")
        equal(second, dict.fromkeys(PARTS, "True") | {"profile_api": "False"}, "set_config() after")
        equal(third, {"filename": "x.json"}, "the one after that")
        os.remove("t.mled")
    for nothing in ("", "0"):
        equal(len(case("mode", MXNET_PROFILER_MODE=nothing)["sent"]), 2, "calls without a mode")
        os.remove("t.mled")


def test_autostart():
    equal(case("autostarted", MXNET_PROFILER_AUTOSTART="1")["variable"], None,
          "what MXNet's own profiler would see")
    equal(values(load("profile.json"), "c"), [3], "the file")
    os.remove("profile.json")
    os.remove("t.mled")
    case("autostarted", MXNET_PROFILER_AUTOSTART="0")
    check(not os.path.exists("profile.json"), "a profile without a start")


# ---- In a plain Python ------------------------------------------------------------


def test_outside():
    told, err = outside("late")
    text, handle, dump, key = told["before"]
    equal([text, handle], ["", 0], "statistics and a handle before the first run")
    contains(dump[1], "set_state('run')", "a dump before the first run")
    contains(key[1], 'did you mean "filename"', "a bad key before the first run")
    contains(err, "is recorded into ", "stderr")
    equal(err.count("\n"), 1, "lines on stderr", err)
    events = load("late.json")
    equal(values(events, "c"), [7], "the counter's values")
    equal([len(phases(events, ph=p, name="t")) for p in "be"], [1, 1], "the task")
    contains(told["table"], "\nt                                       1 ", "the table")
    trace, = glob.glob("elsewhere/*.mled")
    equal(report("summary", trace)["lost"], 0, "events lost")


def test_a_second_recording():
    told, err = outside("again")
    equal(told["child"], 0, "the child's status")
    contains(told["text"], "\nc                                       1           2.0000 ",
             "the statistics of the second")
    equal(err.count("is recorded into "), 2, "recordings on stderr", err)
    for name, wanted in {"first": [1], "again": [2], "child": [7]}.items():
        equal(values(load(f"{name}.json"), "c"), wanted, name)


def test_outside_autostart():
    _, err = outside("autostarted", MXNET_PROFILER_AUTOSTART="1")
    contains(err, "is recorded into ", "stderr")
    equal(values(load("profile.json"), "c"), [3], "the file")


def test_outside_without_a_run():
    told, err = outside("untouched")
    equal(told, {"name": "s:", "dumps": ""}, "what was told")
    equal(err, "", "stderr")
    equal(os.listdir("."), [], "files")


def test_outside_without_the_command():
    told, err = outside("default_file", MEMLEDGER_COMMAND="/nowhere/memledger")
    equal(told, {"statistics": ""}, "what was told")
    contains(err, "the profiler does nothing: ", "stderr")
    equal(os.listdir("."), [], "files")


def test_collector_killed():
    told, _ = outside("orphaned")
    equal(told["text"], "", "statistics of nobody")
    equal(told["warnings"], 2, "warnings")


def test_the_page():
    """What docs/mxnet-profiler.md shows first."""
    with open(os.path.join(os.environ["TEST_SOURCE"], "docs", "mxnet-profiler.md")) as f:
        script = f.read().partition("```python\n")[2].partition("```")[0]
    done = harness.run(sys.executable, "-c", script, options=["-q"])
    equal(done.code, 0, "exit code", done)
    contains(done.out, "\nbatch                                   3 ", "the statistics")
    equal(values(load("train.json"), "samples"), [0, 16, 32, 48], "the file")


# ---- Beside MXNet -----------------------------------------------------------------


def other_python(version):
    """An interpreter of that version, (3, 9): from Debian, or pyenv's."""
    name = "python{}.{}".format(*version)
    for place in ("/usr/bin", "/usr/local/bin", "~/.pyenv/versions/{}.{}*/bin".format(*version)):
        for path in sorted(glob.glob(os.path.expanduser(os.path.join(place, name)))):
            if plain(path, "-c", "import ctypes").returncode == 0:
                return path
    raise Skip(f"no {name} is here", machine=True)


def mxnet_python(version, python=None):
    """The interpreter of an environment with that MXNet; `python`: not of this version."""
    minor = sys.version_info[1] if not python else int(python.rpartition(".")[2])
    if minor not in MXNET_PYTHONS:
        raise Skip(f"MXNet has no NumPy for Python 3.{minor}", machine=True)
    requirements = os.path.join(os.environ["TEST_SOURCE"], "scripts",
                                f"requirements-mxnet-{version}.txt")
    folder = os.path.join(os.environ["PYPI_FOLDER"], f"mxnet-{version}")
    if python:
        folder += f"-3.{minor}"
    return os.path.join(pypi.environment(requirements, folder, python), "bin", "python")


def with_mxnet(version, program, argument, trace="t.mled", **more):
    env = os.environ | {"OMP_NUM_THREADS": "1"} | more
    return answer(harness.run(mxnet_python(version), os.path.join(HERE, program), argument,
                              options=["-q"], trace=trace, env=env), argument)


def shape(events):
    """Of what the program itself records: phase, category, name, a marker's scope."""
    return sorted((e["ph"], e["cat"], e["name"], e.get("s", ""), sorted(e.get("args", [])))
                  for e in events if e["ph"] != "M" and e["cat"].split(",")[0] in ("dom", "event"))


def check_beside_mxnet(version):
    """What MXNet's profiler and ours make of one program."""
    theirs, ours = (with_mxnet(version, "beside_mxnet.py", whose, f"{whose}.mled")
                    for whose in ("mxnet", "memledger"))
    their_events, our_events = load("mxnet.json"), load("memledger.json")
    equal(shape(our_events), shape(their_events), "records")
    equal(values(our_events, "counter"), values(their_events, "counter"), "the counter")
    for event in our_events:
        like = phases(their_events, ph=event["ph"], name=event["name"], cat=event.get("cat"))
        if like and event["ph"] != "M":
            equal(list(event), list(like[0]), f"members of {event['name']}")
    equal(ours, theirs, "tables, scopes and errors")


def test_beside_mxnet_1_9_1():
    check_beside_mxnet("1.9.1")


def test_beside_mxnet_2_0():
    check_beside_mxnet("2.0.0b1")


def names_of(events, category, phase="b"):
    """What of a category is in a file, but for what MXNet does at its own pace."""
    return Counter(e["name"] for e in phases(events, ph=phase, cat=category)
                   if e["name"] not in ("DeleteVariable", "WaitForVar"))


def run_roles(whose):
    """A scheduler, a server and two workers, and the server's file."""
    os.mkdir(whose)
    done = harness.run(mxnet_python("1.9.1"), os.path.join(HERE, "dist_kvstore.py"), whose,
                       options=["-q"], cwd=whose, env=os.environ | {"OMP_NUM_THREADS": "1"})
    equal(done.code, 0, f"exit code with the profiler of {whose}", done)
    return load(os.path.join(whose, "rank0_server.json"))


def check_roles(trace):
    roles = {p["role"]: p["pid"] for p in report("summary", trace)["processes"] if "role" in p}
    equal(sorted(roles), ["scheduler", "server", "worker 0", "worker 1"], "roles")
    labels = [g["process"] for g in report("table", trace, "--by=process")["groups"]]
    for role in ("server", "worker 0", "worker 1"):
        check(any(f"{roles[role]} {role}: " in label for label in labels), f"no {role}", labels)
    updates = [e for e in report("events", trace, "--kind=push")["events"]
               if e["scope"].endswith("multi_sgd_update")]
    equal([(e["pid"], e["role"]) for e in updates], [(roles["server"], "server")] * 2,
          "where the weights are updated")


def test_dist_kvstore():
    """One trace with the four roles named. Our profile of the server is as MXNet's own,
    without a kvstore that passes the calls on."""
    ours, theirs = run_roles("memledger"), run_roles("mxnet")
    for whose in ("memledger", "mxnet"):
        check_roles(os.path.join(whose, "t.mled"))
    for rank in (0, 1):
        equal(values(load(f"memledger/worker{rank}.json"), "rounds"), [1, 2], f"worker {rank}")
    for category in ("operator", "MXNET_C_API"):
        equal(names_of(ours, category), names_of(theirs, category), f"{category} of the server")
    check("multi_sgd_update" in names_of(ours, "operator"), "no update of the weights")
    check(values(ours, "Memory: cpu/0"), "no memory of the server")


def test_autostart_with_mxnet():
    """The file is ours alone, also after MXNet's own end."""
    for order in ("before", "after"):
        with_mxnet("1.9.1", "autostart_with_mxnet.py", order, f"{order}.mled",
                   MXNET_PROFILER_AUTOSTART="1")
        events = load("profile.json")
        equal(values(events, "c"), [3], f"the counter, MXNet imported {order}")
        os.remove("profile.json")


if __name__ == "__main__":
    harness.main(globals())
