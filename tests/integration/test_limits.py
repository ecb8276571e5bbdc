#!/usr/bin/env python3
# test_limits.py: no memory, no descriptors for the recorder. The program runs as it would
# without memledger, and the report says that it was not recorded.
#
# SPDX-License-Identifier: Apache-2.0
import contextlib
import os
import resource
import subprocess
import sys

import harness
from attaching import begin
from harness import check, contains, equal, plain, program, report, run


def limited(limits, *command):
    """A shell that sets limits for the program only."""
    return ["sh", "-c", f'{limits}; exec "$@"', "sh", *map(str, command)]


def test_no_memory_for_rings():
    """Less and less address space, until the smallest ring set would take too much of it."""
    for kib in range(40000, 5000, -1000):
        result = run(*limited(f"ulimit -v {kib}", program("emit"), 1000), options=["-f"])
        equal(result.code, 7, f"exit code in {kib} KiB", result)
        if "was not recorded" in result.err:
            break
        equal(result.dump()["lost"], 0, f"lost in {kib} KiB")
    contains(result.out, "done 1000", "output")
    contains(result.err, "1 process was not recorded: no room for the recorder's buffers", "note")
    contains(result.err, "1,000 events were lost", "note")
    trace = result.dump()
    equal((trace["kinds"].get("alloc"), trace["lost"]), (None, 1000), "recorded and lost")


def test_no_memory_for_names():
    """Not for all that a program can have: tables are smaller then, and events have names."""
    for kib in 12000, 40000, 120000:
        result = run(*limited(f"ulimit -v {kib}", program("emit"), 1000), options=["-f"])
        equal(result.code, 7, f"exit code in {kib} KiB", result)
        trace = result.dump()
        equal((trace["kinds"]["alloc"], trace["lost"]), (500, 0), f"recorded and lost in {kib} KiB")
        check(all(s["device"] and s["name"] for s in trace["spaces"]), "no names", trace["spaces"])


def test_names_after_a_limit():
    """A program that leaves itself little room before its first name has names all the same."""
    result = run(program("limits_itself"))
    equal(result.code, 0, "exit code", result)
    trace = result.dump()
    equal([(s["device"], s["name"]) for s in trace["spaces"]], [("cpu", "late")], "spaces")


def test_no_memory_for_more_rings():
    """The last of 100 threads get none: what they do is counted."""
    for kib in range(40000, 9000, -1000):
        result = run(*limited(f"ulimit -s 64; ulimit -v {kib}", program("threads"), 100, 100),
                     options=["-f"])
        equal(result.code, 0, f"exit code in {kib} KiB", result)
        trace = result.dump()
        recorded = trace["kinds"].get("alloc", 0) + trace["kinds"].get("free", 0)
        equal(recorded + trace["lost"], 2000, "recorded and lost together", trace["kinds"])
        if trace["lost"] > 0:
            break
    check(trace["lost"] > 0, "nothing was lost, so nothing was tested")
    check(recorded > 0, f"nothing was recorded in {kib} KiB")


def test_no_descriptors():
    """One, which the loader needs as well, but none for the socket."""
    result = run(*limited("ulimit -n 4", program("emit"), 1000))
    equal(result.code, 7, "exit code with 4 descriptors", result)
    contains(result.err, "1 process was not recorded", "note")
    equal(result.dump()["lost"], 1000, "lost")
    result = run(*limited("ulimit -n 5", program("emit"), 1000), options=["-f"])
    equal(result.dump()["kinds"]["alloc"], 500, "allocations with 5 descriptors")


def test_launcher_without_descriptors():
    """Refused with a message; never half a run."""
    for number in range(4, 16):
        result = run("touch", f"ran {number}", options=["-f"], preexec_fn=lambda:
                     resource.setrlimit(resource.RLIMIT_NOFILE, (number, number)))
        ran = os.path.exists(f"ran {number}")
        if ran:
            equal(result.code, 0, f"exit code with {number} descriptors", result)
        else:
            equal(result.code, 1, f"exit code with {number} descriptors", result)
            contains(result.err, "memledger: ", "message")
    check(ran, "15 descriptors are not enough", result)


def test_many_processes():
    """The collector needs descriptors for each: it takes what the limit allows."""
    result = run(program("families"), "storm", 60, preexec_fn=lambda:
                 resource.setrlimit(resource.RLIMIT_NOFILE, (24, 512)))
    equal(result.code, 0, "exit code", result)
    trace = result.dump()
    equal((trace["kinds"]["alloc"], trace["lost"]), (61, 0), "recorded and lost")


def without_pages(after):
    """Under a kernel that gives a process no more than so many pages for its rings."""
    result = run(program("emit"), 100000, options=["-f"],
                 env=dict(os.environ, LD_PRELOAD=program("libno_pages.so"), NO_PAGES_AFTER=str(after)))
    equal(result.code, 7, "exit code", result)
    contains(result.out, "done 100000", "output")
    return result


def test_no_page_for_rings():
    """It fails as a refusal: the process is not recorded, and a note says so."""
    result = without_pages(0)
    contains(result.err, "1 process was not recorded", "note")


def test_no_more_pages():
    """What does not fit into the pages that a ring got is dropped and counted."""
    trace = without_pages(20).dump()
    check(trace["lost"] > 0, "nothing was lost: the pages were not asked for", trace)
    equal(trace["kinds"]["alloc"] + trace["kinds"]["free"] + trace["lost"], 100000,
          "recorded and lost", trace)


# Fills up over several times as long as it takes to start, however busy the machine is: a leak grows
# all the time.
FILL_UP = """
import os, time
began = int(open("/proc/self/stat").read().rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
start_s = time.clock_gettime(time.CLOCK_BOOTTIME) - began
kept = []
while True:
    kept.append(bytes(4 << 20))
    time.sleep(max(0.02, start_s / 20))
"""


def test_oom_names_the_limit():
    """A program that asks for more than ulimit -v allows: oom names the limit and its use."""
    kib = 400 << 10
    result = run(*limited(f"ulimit -v {kib}", sys.executable, "-c", FILL_UP),
                 options=["-q", "-f", "--heap"])
    contains(result.err, "MemoryError", "the program's end")
    verdict = report("oom", result.trace)["verdicts"][-1]
    equal((verdict["verdict"], verdict["rule"]), ("limit", "address_limit"), "verdict", verdict)
    equal(verdict["address_limit_bytes"], kib << 10, "limit")
    check(verdict["live_bytes"] < verdict["address_used_bytes"] <= kib << 10, "address space in use",
          verdict)
    changes = verdict["changes"]
    equal([(c["change"], c["enough"]) for c in changes[:2]], [("leak", True), ("raise_limit", True)],
          "changes", verdict)
    change = changes[1]
    check(0 < change["bytes"] <= verdict["asked_bytes"], "missing bytes", verdict)
    leak = report("oom", result.trace)["leak"]
    check(leak and leak["grown_bytes"] > 100 << 20, "the leak", leak,
          plain(harness.MEMLEDGER, "leaks", result.trace).stdout)
    text = " ".join(plain(harness.MEMLEDGER, "oom", result.trace).stdout.split())
    contains(text, "address space (ulimit -v, RLIMIT_AS) forbade it: 400.0 MiB", "text")
    contains(text, "A leak may have led there: live memory", "text")


def memory_group():
    """The folder of this process's control group for memory, and the file with its limit."""
    for line in open("/proc/self/cgroup"):
        _, controllers, path = line.strip().split(":", 2)
        if "memory" in controllers.split(","):
            return "/sys/fs/cgroup/memory" + path, "memory.limit_in_bytes"
    return "/sys/fs/cgroup" + path, "memory.max"


@contextlib.contextmanager
def small_group():
    """A control group with a limit of 100 MiB."""
    above, limit = memory_group()
    group = f"{above}/memledger-test-{os.getpid()}"
    try:
        os.mkdir(group)
        with open(f"{group}/{limit}", "w") as f:
            f.write(str(100 << 20))
    except OSError as error:
        raise harness.Skip(f"no control group can be made here: {error}", machine=True)
    try:
        yield group
    finally:
        os.rmdir(group)


def test_attached_in_another_group():
    """The limit of the program's group counts, not that of the command's."""
    code = "x = []\nprint(flush=True)\ninput()\nwhile True: x.append(bytearray(1 << 20))"
    with small_group() as group:
        process = subprocess.Popen(["sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh",
                                    sys.executable, "-c", code],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process.stdout.readline()  # it is in the group by now
        attached = begin(process.pid, "--heap")
        process.communicate(b"\n")
        equal(attached.wait(harness.PATIENCE_S), 0, "exit code of attach")
    [verdict] = report("oom", "t.mled")["verdicts"]
    equal((verdict["killed"], verdict["group_limit_bytes"]), (True, 100 << 20), "verdict", verdict)


def test_killed_at_the_limit_of_a_group():
    """The kernel kills the program; the closing note names the limit."""
    with small_group() as group:
        result = run("sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh",
                     harness.MEMLEDGER, "run", "-f", "--heap", "-o", "group.mled", "--",
                     sys.executable, "-c", "x = []\nwhile True: x.append(bytearray(1 << 20))")
    words = "its control group reached its memory limit of 100.0 MiB"
    contains(result.err, f"{words}: memledger oom group.mled", "closing note")
    [verdict] = report("oom", "group.mled")["verdicts"]
    equal((verdict["rule"], verdict["killed"], verdict["group_limit_bytes"]),
          ("group_limit", True, 100 << 20), "verdict", verdict)
    check(verdict["short_bytes"] == verdict["asked_bytes"] >= 1 << 20, "last allocation", verdict)
    equal({c["change"] for c in verdict["changes"]} & {"raise_limit"}, {"raise_limit"}, "changes")
    text = " ".join(plain(harness.MEMLEDGER, "oom", "group.mled").stdout.split())
    contains(text, "to keep the memory limit of its control group, 100.0 MiB", "text")
    live = report("table", "group.mled", "--at", "end")["bytes"]
    check(50 << 20 < live < 100 << 20, "live when it was killed", live)


harness.main(globals())
