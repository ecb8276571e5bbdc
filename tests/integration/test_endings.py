#!/usr/bin/env python3
# test_endings.py: the notes on runs that did not end well, of traces that are not whole, and of
# files in odd places.
#
# SPDX-License-Identifier: Apache-2.0
import os
import shlex
import signal
import subprocess

import harness
from harness import check, contains, equal, finish, plain, program, run, start

HERE = os.path.dirname(os.path.abspath(__file__))


def summary(trace="t.mled"):
    return plain(harness.MEMLEDGER, "summary", trace)


def cut(whole, part, size):
    with open(whole, "rb") as source, open(part, "wb") as target:
        target.write(source.read()[:size])


def test_killed():
    """The closing note says so in one line, and what `oom` then says is of use."""
    result = run(program("ends"), "signal", int(signal.SIGKILL))
    contains(result.err, "signal 9 (Killed) ended the program, as when the machine is out of memory: "
             "memledger oom t.mled\n", "closing note")
    contains(plain(harness.MEMLEDGER, "oom", "t.mled").stderr, "was killed (signal 9)", "oom")
    result = run("sh", "-c", f"{program('ends')} signal 9; true", options=["-f"])
    contains(result.err, "1 process was killed by signal 9, as when", "closing note of a parent")
    result = run(program("ends"), "signal", int(signal.SIGTERM), options=["-f"])
    contains(result.err, "signal 15 (Terminated) ended the program\n", "closing note")
    check("oom" not in result.err, "the note of a program that was asked to end", result)
    result = run(program("ends"), "exit", 3, options=["-f"])
    check("ended the program" not in result.err, "the note of one that exits", result)


def test_no_thread_pointer():
    """The hook on _exit runs in a child that has no thread-local storage."""
    for options in ["-f"], ["-f", "--heap"]:
        result = run(program("no_thread_pointer"), options=options)
        equal(result.out, "exit 7, signal 0\n", "the child's end", result)


def test_refused():
    result = run(program("cuda_steps_linked"), "init", "retain", "alloc:900G",
                 env=harness.with_standin())
    contains(result.err, "memory was refused: memledger oom t.mled says why\n", "closing note")


def test_unfinished():
    """Three reasons for a trace without an end, and three sentences."""
    process = start(program("emit"), 1000, 1000, stdin=subprocess.PIPE)
    harness.read_line(process)
    harness.wait_until(harness.allocations_so_far, "the first block on disk")
    contains(summary().stdout, "warning: still being recorded (last event ", "a summary meanwhile")
    check(harness.report("summary", "t.mled")["health"]["being_written"], "health meanwhile")
    contains(harness.plain(harness.MEMLEDGER, "steps", "t.mled").stderr,
             "has no steps yet: it is still being recorded", "steps meanwhile")
    os.kill(harness.collector_of(process), signal.SIGKILL)
    process.stdin.write("\n")
    finish(process)
    contains(summary().stdout, "warning: the recording was not finished", "a killed collector's")
    run(program("emit"), 1000, 1000, trace="whole.mled")
    cut("whole.mled", "part.mled", -60)
    contains(summary("part.mled").stdout, "warning: the file is truncated: ", "half a file's")
    for trace in ("t.mled", "part.mled"):
        check(not harness.report("summary", trace)["health"]["being_written"], f"health of {trace}")


def test_nothing_on_the_heap():
    """Who used --heap is not told to use it."""
    run("true", options=["--heap"])
    contains(summary().stdout, "no allocation was recorded, although --heap was given", "a summary")
    run("true", options=["-f"])
    contains(summary().stdout, "no allocation was recorded; memledger run --heap", "without it")


def test_truncated_is_not_empty():
    """The missing part may hold the allocations: no note mentions them."""
    run("true", options=["--heap"], trace="whole.mled")
    cut("whole.mled", "part.mled", -60)
    text = summary("part.mled").stdout
    contains(text, "warning: the file is truncated", "a summary")
    check("no allocation was recorded" not in text, "a second warning", text)


def test_truncated_before_the_first_event():
    """No report of zeros: nothing is known."""
    run(program("emit"), 1000, 1000, trace="whole.mled")
    cut("whole.mled", "part.mled", 400)
    for command in (["summary"], ["stats", "--json"], ["compare", "whole.mled"], ["plot"],
                    ["export", "--format", "csv"], ["summary", "--salvage"]):
        done = plain(harness.MEMLEDGER, *command, "part.mled")
        equal((done.returncode, done.stdout), (1, ""), f"end of {command}")
        contains(done.stderr, "part.mled: no event can be read: the file is truncated at byte 400",
                 f"error of {command}")


def test_live_at_the_cut():
    """The rest of the file may hold the frees: nothing is called never freed."""
    run(program("emit"), 1000, 1000, trace="whole.mled")
    cut("whole.mled", "part.mled", -60)
    for command in (["summary"], ["stats"]):
        text = plain(harness.MEMLEDGER, *command, "part.mled").stdout
        contains(text, "live at cut", f"{command}")
        check("never freed" not in text, f"a fact that {command} cannot know", text)
    text = plain(harness.MEMLEDGER, "compare", "whole.mled", "part.mled").stdout
    contains(text, "live at end", "compare")
    for command in (["summary", "whole.mled"], ["compare", "whole.mled", "whole.mled"]):
        contains(plain(harness.MEMLEDGER, *command).stdout, "never freed", f"{command}")


def test_removed():
    result = run("rm", "t.mled")
    contains(result.err, "t.mled was removed during the run", "closing note")
    check("next:" not in result.err, "a file that is not there is named", result)


def test_names_for_a_shell():
    """The command that a note names can be typed."""
    for name in ("a b.mled", "it's.mled", "$HOME.mled", "-q.mled", "tab\tnew\n\x1b.mled", "ü.mled"):
        result = run(program("ends"), "exit", 0, trace=name)
        command = result.err.split("next: ")[1].rstrip("\n")
        command = command.replace("memledger", shlex.quote(harness.MEMLEDGER), 1)
        done = plain("bash", "-c", command)
        equal(done.returncode, 0, f"exit code of {command}", done.stderr)


def test_new_folder():
    """What `-o` names gets its folder, in every command that has it."""
    run(program("ends"), "exit", 0, trace="new/er/t.mled")
    check(os.path.exists("new/er/t.mled"), "run makes no folder")
    snapshot = os.path.join(HERE, "..", "data", "torch", "oom_fragmented.pickle")
    for verb, output, *given in (("plot", "pictures/p.svg", "new/er/t.mled"),
                                 ("export", "files/x.csv", "--format", "csv", "new/er/t.mled"),
                                 ("import", "traces/x.mled", snapshot)):
        done = plain(harness.MEMLEDGER, verb, "-o", output, *given)
        check(os.path.exists(output), f"{verb} makes no folder", done.stderr)
    os.makedirs("no", mode=0o500)
    if os.geteuid() != 0:
        done = plain(harness.MEMLEDGER, "plot", "-o", "no/way/p.svg", "new/er/t.mled")
        contains(done.stderr, "cannot write", "where no folder may be made")


harness.main(globals())
