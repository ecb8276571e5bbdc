#!/usr/bin/env python3
# test_processes.py: children of all kinds are in the trace of their parent, with
# the right parent, the right names, and all their events.
#
# SPDX-License-Identifier: Apache-2.0
import os
import signal
import subprocess
import time

import harness
from harness import check, contains, equal, finish, program, run, start
from kernel_counts import wait_until_asleep


class Family:
    """The trace beside what the processes printed: (pid, size) of each event."""

    def __init__(self, *arguments, **settings):
        self.result = run(program("families"), *arguments, **settings)
        equal(self.result.code, 0, "exit code", self.result)
        self.trace = self.result.dump(events=True)
        self.printed = [tuple(map(int, line.split())) for line in self.result.out.splitlines()]
        self.processes = self.trace["processes"]
        self.check_events()

    def pid_of(self, event):
        return self.processes[self.trace["threads"][event["thread"]]["process"]]["pid"]

    def check_events(self):
        """Each process's events, under their names, and no others."""
        allocations = [e for e in self.trace["events"] if e["kind"] == "alloc"]
        equal(sorted((self.pid_of(e), e["size"]) for e in allocations), sorted(self.printed),
              "allocations by process and size")
        for event in allocations:
            equal(event["scope"], f"before > after {event['size']}", f"scope in {event}")
        for space in self.trace["spaces"]:
            equal((space["device"], space["name"]), ("cpu", "family"), f"space {space}")
        harness.balanced(self.trace)
        ends = self.trace["kinds"].get("process_end", 0)
        equal(ends, len(self.processes), "ends of processes")

    def tree(self):
        """(how, parent's place in the list) of each process."""
        return [(p["how"], p["parent"]) for p in self.processes]


def test_fork():
    for how in ("fork", "raw-fork", "raw-clone"):
        family = Family(how, options=["-f"])
        equal(family.tree(), [("started", -1), ("forked", 0), ("forked", 1)], how)
        equal(len(family.printed), 5, f"{how}: processes and records")


def test_vfork_and_spawn():
    for how in ("vfork", "spawn"):
        family = Family(how, program("families"), "fork", options=["-f"])
        equal(family.tree(), [("started", -1), ("started", 0), ("forked", 1), ("forked", 2)], how)


def test_exec():
    """One pid, two processes in the trace: the books of the first are closed."""
    family = Family("exec", program("families"), "exec", program("families"), "fork")
    equal(family.tree()[:3], [("started", -1), ("exec", 0), ("exec", 1)], "exec of exec")
    equal(len({p["pid"] for p in family.processes[:3]}), 1, "pids")
    contains(family.processes[0]["command"], "families exec", "first command line")
    contains(family.processes[2]["command"], "families fork", "last command line")


def test_orphan():
    """The parent is the process it was forked from, though long reaped."""
    family = Family("orphan", options=["--wait"])
    equal(family.tree(), [("started", -1), ("forked", 0)], "tree")


def test_fork_among_threads():
    family = Family("threads", 40)
    equal(family.tree(), [("started", -1)] + 40 * [("forked", 0)], "tree")


def test_storm():
    """More children at once than the socket queues."""
    family = Family("storm", 100)
    equal(family.tree(), [("started", -1)] + 100 * [("forked", 0)], "tree")


def test_shell_pipeline():
    """Programs that know nothing of each other."""
    result = run("sh", "-c", f"{program('families')} fork | cat; {program('ends')} exit 3")
    equal(result.code, 3, "exit code", result)
    trace = result.dump()
    equal(trace["kinds"]["alloc"], 7, "allocations")
    commands = [os.path.basename(p["command"].split()[0]) for p in trace["processes"]]
    equal(sorted(commands), ["cat", "ends", "families", "families", "families", "sh"], "commands")


def outliving(*options):
    process = start(program("families"), "outlive", options=options)
    harness.read_line(process)
    child = int(harness.read_line(process).split()[0])
    return process, child


def end_child(child):
    open("end", "w").close()
    harness.wait_until(lambda: not harness.runs(child), "the child's end")


def test_child_outlives():
    """The launcher does not wait, says so, and the child is not harmed."""
    process, child = outliving()
    result = finish(process)
    equal(result.code, 0, "exit code", result)
    contains(result.err, "1 process is still running, not recorded from here on; --wait waits",
             "note")
    trace = result.dump()
    equal(trace["kinds"]["alloc"], 2, "allocations until then")
    equal(trace["kinds"]["process_end"], 1, "ends of processes")
    equal(trace["live_bytes"], 2, "live: the child still has its block")
    end_child(child)


def test_child_that_has_not_said_hello():
    """It runs, whether or not it has been recorded."""
    result = run("sh", "-c", "unset LD_PRELOAD; sleep 60 <&- >&- 2>&- & echo $!")
    equal(result.code, 0, "exit code", result)
    os.kill(int(result.out), signal.SIGKILL)
    contains(result.err, "1 process is still running, not recorded from here on; --wait waits",
             "note")


def test_child_waited_for():
    process, child = outliving("--wait")
    harness.wait_until(lambda: harness.collector_of(process) and
                       len(harness.children(process.pid)) == 2, "the child to be adopted")
    equal(process.poll(), None, "exit code before the child's end")
    end_child(child)
    result = finish(process)
    equal(result.code, 0, "exit code", result)
    check("still running" not in result.err, "the note counts a process that has ended", result)
    equal(result.dump()["kinds"]["alloc"], 3, "allocations")


def test_wait_for_late_starter():
    """A process that says hello only after its parent has ended."""
    os.mkfifo("go")
    process = start("sh", "-c", f"(read line <go; {program('ends')}) >/dev/null 2>&1 & exit 4", options=["--wait"])
    harness.wait_until(lambda: harness.collector_of(process) and
                       len(harness.children(process.pid)) == 2, "the child to be adopted")
    harness.wait_until(lambda: [p["ended"] for p in harness.report("summary", "t.mled")["processes"]] == ["exit"],
                       "the end of the collector's only process, in the file")
    open("go", "w").close()
    result = finish(process)
    equal(result.code, 4, "exit code", result)
    equal(result.dump()["kinds"]["alloc"], 2, "allocations")


def test_environment_cleared():
    """Without its environment an exec'd program is not followed, and not harmed."""
    result = run("env", "-i", program("ends"), "exit", 5)
    equal(result.code, 5, "exit code", result)
    equal(result.dump()["kinds"].get("alloc"), None, "allocations")


def test_time_of_the_end():
    """A program that does nothing for half a second lasted that long."""
    for options in (["-f"], ["-f", "--wait"], ["-f", "--sample-hz", "0"]):
        began = time.monotonic()
        result = run("sleep", "0.5", options=options)
        took = time.monotonic() - began
        # The machine may be sampled until the collector has noticed the end.
        *_, end = [e for e in result.dump(events=True)["events"] if e["kind"] != "sample"]
        equal(end["kind"], "process_end", "last event")
        seconds = end["time"] / 1e9
        check(0.5 <= seconds <= took, f"{options}: {seconds} s of {took} s")


def peak_mib(*command):
    run(*command, options=["-f", "-q"])
    return harness.report("summary", "t.mled")["peak_bytes"] >> 20


def test_one_after_the_other():
    """What a process had is gone before the next one has its own, also when it took its last
    breath a moment ago."""
    holds = f"{program('ends')} holds exit 0"
    for _ in range(20):
        equal(peak_mib("sh", "-c", f"{holds}; {holds}; true"), 100, "peak of two in a row, MiB")
        for how in ("exit", "_exit"):
            equal(peak_mib(program("ends"), "parent", how, 3), 100,
                  f"peak of a child that ends by {how} and of its parent, MiB")


def test_parent_is_last():
    """A parent that ends right after its child was there to the last."""
    for _ in range(10):
        run("sh", "-c", f"{program('ends')} holds exit 0; true", options=["-f", "-q", "--heap"])
        at_end = harness.report("table", "t.mled", "--at", "end", "--by", "process")
        names = [group["process"] for group in at_end["groups"]]
        check(len(names) == 1 and "sh -c" in names[0], "processes at the end", names)


def test_how_each_ended():
    """Children too, which are not the collector's."""
    ends, family = program("ends"), program("families")
    result = run("sh", "-c", f"{ends} exit 3; {ends} signal 9; {ends} _exit 0; {ends} quick_exit 6;"
                 f"{ends} abort; {family} exec {ends} exit 5; {ends} wait-default >ready 2>&1 &"
                 "until test -s ready; do sleep 0.01; done; exit 7")
    equal(result.code, 7, "exit code", result)
    found = {}
    for process in harness.report("summary", "t.mled")["processes"]:
        command = " ".join(map(os.path.basename, process["command"].split()))
        if not command.startswith(("sh -c", "sleep")):
            found[command] = (process["ended"], process["exit_code"], process["signal"])
            if process["ended"] == "running":
                harness.signal_process(process["pid"], signal.SIGKILL)
    equal(found, {
        "ends exit 3": ("exit", 3, None),
        "ends signal 9": ("signal", None, 9),
        "ends _exit 0": ("exit", 0, None),
        "ends quick_exit 6": ("exit", 6, None),
        "ends abort": ("signal", None, signal.SIGABRT),
        "families exec ends exit 5": ("exec", None, None),
        "ends exit 5": ("exit", 5, None),
        "ends wait-default": ("running", None, None),
    }, "how processes ended")
    text = harness.plain(harness.MEMLEDGER, "summary", "t.mled").stdout
    for words in ("exit 3", "signal 9", "exec", "running"):
        contains(text, words, "the table of processes")


def test_rank():
    for name in ("RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"):
        env = {key: value for key, value in os.environ.items() if "RANK" not in key}
        run(program("ends"), options=["-f"], env=env | {name: "12"})
        process, = harness.report("summary", "t.mled")["processes"]
        equal((process["role"], process["rank"]), ("rank 12", 12), name)
    run(program("ends"), options=["-f"], env=env | {"RANK": "high"})
    process, = harness.report("summary", "t.mled")["processes"]
    check("rank" not in process, "a rank that is no number", process)


def test_place():
    """Values of one launcher, and the name of the job."""
    env = {key: value for key, value in os.environ.items() if "RANK" not in key}
    slurm = {"SLURM_PROCID": "1", "SLURM_NTASKS": "2", "SLURM_LOCALID": "0", "SLURM_NODEID": "1",
             "SLURM_JOB_ID": "47 11"}
    run(program("ends"), options=["-f"], env=env | slurm)
    process, = harness.report("summary", "t.mled")["processes"]
    equal(process["place"], "rank=1 world_size=2 local_rank=0 node=1 launcher=slurm job=47_11",
          "Slurm")
    torchrun = {"RANK": "12", "WORLD_SIZE": "16", "LOCAL_RANK": "4", "LOCAL_WORLD_SIZE": "8",
                "GROUP_RANK": "1", "TORCHELASTIC_RUN_ID": "none"}
    run(program("ends"), options=["-f"], env=env | slurm | torchrun)
    process, = harness.report("summary", "t.mled")["processes"]
    equal(process["place"], "rank=12 world_size=16 local_rank=4 local_world_size=8 node=1 "
          "launcher=torchrun job=47_11", "torchrun under Slurm")
    run(program("ends"), options=["-f"], env=env | {"JOB_COMPLETION_INDEX": "3"})
    process, = harness.report("summary", "t.mled")["processes"]
    equal(process["place"], "rank=3 launcher=kubernetes", "an indexed job of Kubernetes")
    run(program("ends"), options=["-f"], env=env)
    process, = harness.report("summary", "t.mled")["processes"]
    check("place" not in process, "outside of a job", process)


def test_pid_namespace():
    """Threads of another pid namespace have numbers that mean nothing here."""
    unshare = ["unshare", "--pid", "--fork"]
    if harness.plain(*unshare, "true").returncode:
        raise harness.Skip("no pid namespace may be made here", machine=True)
    process = start(*unshare, program("emit"), 1000, 1000, stdin=subprocess.PIPE)
    harness.read_line(process)
    # It looks for dead threads in one of five rounds or more often.
    wait_until_asleep(harness.collector_of(process), 20, "rounds of the collector")
    process.stdin.write("\n")
    result = finish(process)
    equal(result.code, 7, "exit code", result)
    trace = result.dump()
    equal(trace["kinds"]["alloc"], 1000, "allocations")
    emitting = [t for t in trace["threads"] if t["kinds"].get("alloc")]
    equal(len(emitting), 1, "threads that the one thread was taken for")
    harness.balanced(trace)


def test_empty_processes_are_one_line():
    """Shells and the programs that they start record nothing without --heap."""
    result = run("sh", "-c", f"true; ls >/dev/null; cat </dev/null; {program('emit')} 10 10; ls >/dev/null",
                 stdin=subprocess.DEVNULL)
    text = harness.plain(harness.MEMLEDGER, "summary", result.trace).stdout
    contains(text, "more processes recorded nothing: ", "summary")
    line = next(line for line in text.splitlines() if "recorded nothing" in line)
    equal(sorted(line.split(": ")[1].split(", ")), ["cat", "ls", "sh"], "names, each once", text)
    rows = text.split("\nBy process\n")[1].splitlines()
    equal(len(rows), 4, "lines about processes", text)  # titles, rule, emit, the others


def test_threads_of_all_processes():
    """A process that recorded nothing has a thread, and one that calls exec() goes on with its own."""
    for options in (["-f"], ["-f", "--heap"]):
        result = run("sh", "-c", "cat </dev/null; ls >/dev/null; exec ls >/dev/null", options=options,
                     stdin=subprocess.DEVNULL)
        text = harness.plain(harness.MEMLEDGER, "summary", result.trace).stdout
        summary = harness.report("summary", result.trace)
        equal((summary["process_count"], summary["threads"]), (3, 3), "processes and threads", text)
        contains(text, "  with 3 threads in all\n", "summary")
        equal("4 processes recorded" in text, False, "the shell and what it executed are one", text)


harness.main(globals())
