#!/usr/bin/env python3
# test_overwrite.py: -f replaces a file only when there is a new one, and never one that another
# process is writing.
#
# SPDX-License-Identifier: Apache-2.0
import os
import signal
import subprocess

import harness
from harness import check, collector_of, contains, equal, finish, plain, program, run, start


def go_on(process):
    process.stdin.write("\n")
    process.stdin.flush()


def old_trace():
    """A trace of an earlier run, and its bytes."""
    equal(run(program("emit"), 10).code, 7, "exit code")
    with open("t.mled", "rb") as f:
        return f.read()


def bytes_now():
    with open("t.mled", "rb") as f:
        return f.read()


def command_of(trace):
    return harness.report("summary", trace)["command"]


def waiting_run():
    """A run with -f that has recorded 1000 events and waits for a line."""
    process = start(program("emit"), 1000, 1000, options=["-f"], stdin=subprocess.PIPE)
    equal(harness.read_line(process), "1000", "events so far")
    return process, collector_of(process)


def test_two_runs_one_file():
    """The second is refused before its program starts, and says who has the file."""
    process, collector = waiting_run()
    for options in (["-f"], []):
        second = run("touch", "ran", options=options)
        equal(second.code, 1, f"exit code of the second run with {options}", second)
        contains(second.err, f"t.mled is being written by process {collector} ", "message")
        contains(second.err, f"{program('emit')} 1000 1000", "message")
        contains(second.err, "choose another name with -o", "message")
    check(not os.path.exists("ran"), "the second program was started")
    go_on(process)
    result = finish(process)
    equal(result.code, 7, "exit code of the first run", result)
    trace = result.dump()
    equal((trace["kinds"]["alloc"], trace["lost"]), (1000, 0), "allocations of the first run")
    check(trace["has_index"], "no footer")
    equal(run(program("emit"), 10, options=["-f"]).code, 7, "exit code when the file is free")


def test_launcher_killed_keeps_lock():
    """The collector holds the file, whoever took the lock."""
    process, collector = waiting_run()
    os.kill(process.pid, signal.SIGKILL)
    contains(run("touch", "ran", options=["-f"]).err, "is being written by process", "message")
    go_on(process)
    process.communicate(timeout=harness.PATIENCE_S)
    harness.wait_until(lambda: not harness.runs(collector), "the collector's end")
    equal(harness.dump("t.mled")["kinds"]["alloc"], 1000, "allocations")


def test_others_leave_it_alone():
    """import, export and plot do not take the name of a file that is being written."""
    run(program("trains"), trace="other.mled")
    process, collector = waiting_run()
    with open("smi.csv", "w") as f:
        f.write("timestamp, index, memory.used [MiB], memory.total [MiB]\n"
                "2024/01/01 00:00:00.000, 0, 5 MiB, 100 MiB\n")
    inode = os.stat("t.mled").st_ino
    for line in (["import", "-f", "-o", "t.mled", "smi.csv"],
                 ["export", "-f", "--format", "chrome", "-o", "t.mled", "other.mled"]):
        done = plain(harness.MEMLEDGER, *line)
        equal(done.returncode, 1, f"exit code of {line[0]}", done)
        contains(done.stderr, f"t.mled is being written by process {collector}", line[0])
    equal(os.stat("t.mled").st_ino, inode, "the file of that name")
    go_on(process)
    equal(finish(process).dump()["kinds"]["alloc"], 1000, "allocations")


def test_not_started():
    """A program that cannot be started leaves an older trace as it is, and its mode."""
    old = old_trace()
    os.chmod("t.mled", 0o644)
    with open("broken", "w") as f:
        f.write("#!/no/such/interpreter\n")
    os.chmod("broken", 0o755)
    for _ in range(20):
        result = run("./broken", options=["-f"])
        equal(result.code, 126, "exit code", result)
        check(bytes_now() == old, "the old trace has changed")
        equal(os.stat("t.mled").st_mode & 0o777, 0o644, "mode of the old trace")
    open("empty.mled", "w").close()
    os.chmod("empty.mled", 0o644)
    equal(run("./broken", options=["-f"], trace="empty.mled").code, 126, "exit code")
    equal((os.stat("empty.mled").st_size, os.stat("empty.mled").st_mode & 0o777), (0, 0o644),
          "size and mode of an empty file")
    equal(run("./no-such-program", options=["-f"]).code, 127, "exit code")
    check(bytes_now() == old, "the old trace has changed")
    equal(run("./broken", trace="new.mled").code, 126, "exit code")
    check(not os.path.exists("new.mled"), "a trace of nothing was left")


def test_replaced_at_once():
    """While the program runs the file is the new trace, under its name, also when the
    collector is killed; its links stay, and it is for its owner alone."""
    old_trace()
    os.chmod("t.mled", 0o640)
    os.link("t.mled", "link.mled")
    process, collector = waiting_run()
    harness.wait_until(lambda: (command_of("t.mled") or "").endswith("emit 1000 1000"),
                       "the new trace under its name")
    os.kill(collector, signal.SIGKILL)
    go_on(process)
    equal(finish(process).code, 7, "exit code")
    contains(command_of("link.mled"), "emit 1000 1000", "command of the new trace")
    equal(os.stat("t.mled").st_mode & 0o777, 0o600, "mode")


harness.main(globals())
