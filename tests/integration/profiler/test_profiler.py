#!/usr/bin/env python3
"""The profiler API: profiler_api.c under `memledger run`, and what it wrote.

usage: test_profiler.py MEMLEDGER PROGRAM CASE
    PROGRAM  profiler_api, or profiler_api_cxx for the case cxx
    CASE     one of those below

SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

MEMLEDGER, PROGRAM = (os.path.abspath(p) for p in sys.argv[1:3])
CASE = sys.argv[3]
PATIENCE_S = 600  # only ends what hangs


def check(good, text):
    if not good:
        sys.exit("test_profiler.py: " + str(text))


def run(*args, recorded=True):
    """Runs the program in this folder and returns what it printed."""
    command = [PROGRAM] + list(args)
    if recorded:
        command = [MEMLEDGER, "run", "-q", "-f", "-o", "run.mled", "--"] + command
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE_S)
    check(done.returncode == 0, "exit status %d\n%s" % (done.returncode, done.stderr.decode()))
    return done.stdout.decode()


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)["traceEvents"]


def phases(events, **wanted):
    return [e for e in events if all(e.get(k) == v for k, v in wanted.items())]


def values(events, name):
    return [e["args"][name] for e in phases(events, ph="C", name=name)]


def trace_events():
    text = subprocess.run([MEMLEDGER, "events", "--json", "run.mled"], stdout=subprocess.PIPE,
                          check=True).stdout
    found = json.loads(text)
    return found["events"] if isinstance(found, dict) else found


def absent():
    check(run("absent", recorded=False) == "", "printed something")
    check(os.listdir(".") == [], os.listdir("."))


def everything():
    stats = json.loads(run("all"))
    events = load("all.json")
    domain = 'a "domain"'
    for name, cat, pair in (("task", domain, "be"), ("frame", domain + ",frame", "()"),
                            ("event", "event", "BE"), ("conv", "operator", "BE"),
                            ("conv", "operator", "be")):
        both = [phases(events, ph=p, name=name, cat=cat) for p in pair]
        check(len(both[0]) == len(both[1]) == 1, (name, both))
        check(both[0][0]["ts"] <= both[1][0]["ts"], both)
    check(values(events, "counter") == [5000000000, 5000001000, 100], events)
    check(values(events, "Memory: gpu/0") == [3000000000, 5000000000, 2000000000], events)
    marker = phases(events, ph="n")
    check(len(marker) == 1 and marker[0]["s"] == "t", marker)
    names = {e["pid"]: e["args"]["name"] for e in phases(events, ph="M")}
    for e in events:
        check(e["pid"] in names, e)
        check(e["ph"] == "M" or e["ts"] > 1600000000000000, e)
    check(len(set(names.values())) == len(names), names)

    task = stats["Time"][domain]["task"]
    begun, ended = (phases(events, ph=p, name="task")[0]["ts"] for p in "be")
    check(task["Count"] == 1 and task["Total"] >= 5, task)
    # Milliseconds; the file has whole microseconds.
    check(abs(task["Total"] * 1000 - (ended - begun)) <= 1, (task, begun, ended))
    check(task["Total"] == task["Min"] == task["Max"] == task["Avg"], task)
    check(stats["Time"]["operator"]["conv"]["Count"] == 1, stats)
    check(stats["Counter"][domain]["counter"] ==
          {"Count": 3, "Last": 100, "Min": 100, "Max": 5000001000, "Avg": 10000001100 / 3}, stats)
    check(stats["Memory"]["Device Storage"]["Memory: gpu/0"] ==
          {"Count": 3, "Min": 2000000, "Max": 5000000, "Avg": 10000000 / 3}, stats)
    check(stats["Unit"] == {"Time": "ms", "Memory": "kB", "Counter": "1"}, stats)


def table():
    before, after = run("table").split("after the reset\n")
    check('\na "domain"\n=================\nName  ' in before, before)
    check("\ncounter                                 3         100.0000         100.0000  "
          "5000001000.0000  3333333700.0000\n" in before, before)
    check(after == "\nProfile Statistics:\n"
          "\tNote the difference in units for different entries.\n", after)


def dumps():
    run("dumps")
    for i in range(3):
        check(values(load("whole%d.json" % i), "c") == [i], i)
        check(values(load("growing%d.json" % i), "c") == list(range(i + 1)), i)
        check(len(phases(load("whole%d.json" % i), ph="M")) == 2, "names are missing")
    check(values(load("profile.json"), "c") == [0, 1, 2], "the finished file")


def exits():
    run("exits")
    check(values(load("profile.json"), "c") == [77], "the file at the end")


def states():
    run("states")
    events = load("profile.json")
    check(values(events, "c") == [2, 13, 100], events)
    check(not phases(events, ph="b") and not phases(events, ph="n"), events)
    kinds = [e["kind"] for e in trace_events()]
    # What was started is stopped, and what was recorded before the run is there.
    check(kinds.count("start") == kinds.count("stop") == 1, kinds)
    check(kinds.count("counter") == 4 and kinds.count("marker") == 0, kinds)


def wrong():
    run("wrong")
    check(not os.path.exists("must-not-be-used.json"), "half of a bad call was used")
    load("profile.json")


def many():
    run("many")


def threads():
    run("threads")
    events = load("profile.json")
    for i in range(8):
        check(values(events, "thread %d" % i) == list(range(1, 101)), i)
    check(len(values(events, "shared")) == 800, len(values(events, "shared")))


def forks():
    text = run("forks")
    check("42.0000" in text, text)
    check(values(load("parent.json"), "c") == [41, 40], "the parent's")
    check(values(load("child.json"), "c") == [42], "the child's")


def servers():
    run("servers")
    check(values(load("rank0_server.json"), "served") == [1, 2, 3], "the server's")
    check(not os.path.exists("profile.json"), "the worker has one too")


def signals():
    run("signals")
    events = load("profile.json")
    seen = values(events, "c")
    check(seen == list(range(1, len(seen) + 1)), "values are missing")
    check(len(values(events, "signalled")) > 10, "no signals")


def children_of(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
        return [int(child) for child in f.read().split()]


def start_stepwise():
    """A program that says a word and waits for a line. Also its collector."""
    launcher = subprocess.Popen([MEMLEDGER, "run", "-q", "-f", "-o", "run.mled", "--", PROGRAM,
                                 CASE], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    check(launcher.stdout.readline() == b"ready\n", "did not start")
    for pid in children_of(launcher.pid):
        with open("/proc/%d/cmdline" % pid, "rb") as f:
            if not f.read().startswith(PROGRAM.encode()):
                collector = pid
    return launcher, collector


def stop(pid):
    """Returns when it stands still."""
    os.kill(pid, signal.SIGSTOP)
    deadline = time.monotonic() + PATIENCE_S
    while True:
        with open("/proc/%d/stat" % pid) as f:
            if f.read().rpartition(")")[2].split()[0] == "T":
                return
        check(time.monotonic() < deadline, "it does not stop")
        time.sleep(0.001)


def go_on(launcher):
    launcher.stdin.write(b"\n")
    launcher.stdin.flush()


def end(launcher):
    launcher.stdin.close()
    launcher.wait(timeout=PATIENCE_S)
    check(launcher.returncode == 0, "exit status %d" % launcher.returncode)


def orphaned():
    """Without its collector the program goes on, and gets a message."""
    launcher, collector = start_stepwise()
    os.kill(collector, signal.SIGKILL)
    go_on(launcher)
    end(launcher)
    load("profile.json")


def left():
    """A handler that leaves a waiting call by siglongjmp leaves nothing held: the next call fails if
    it waits for the one that was left, because that never ends."""
    launcher, collector = start_stepwise()
    stop(collector)
    go_on(launcher)
    check(launcher.stdout.readline() == b"left\n", "the call was not left")
    os.kill(collector, signal.SIGCONT)
    go_on(launcher)
    end(launcher)


def cxx():
    stats = json.loads(run())
    check(stats["Time"]["c++"]["scope"]["Count"] == 1, stats)
    check(values(load("cxx.json"), "n") == [3], "the file")
    check(run(recorded=False) == "", "without a recorder")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    {"absent": absent, "all": everything, "table": table, "dumps": dumps, "exits": exits,
     "states": states, "wrong": wrong, "many": many, "threads": threads, "forks": forks,
     "servers": servers, "signals": signals, "orphaned": orphaned, "left": left,
     "cxx": cxx}[CASE]()
    os.chdir("/")
