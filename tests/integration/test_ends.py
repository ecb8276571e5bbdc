#!/usr/bin/env python3
# test_ends.py: exit codes and signals pass through, however a program ends, and its trace is
# complete.
#
# SPDX-License-Identifier: Apache-2.0
import os
import signal

import harness
from harness import check, collector_of, contains, equal, finish, plain, program, run, start
from kernel_counts import wait_until_taken


def whole(result, allocations=2):
    """The trace has its footer and what the program recorded."""
    trace = result.dump()
    check(trace["has_index"], "the trace has no footer", result)
    equal(trace["kinds"].get("alloc"), allocations, "allocations", result)
    equal(trace["lost"], 0, "lost", result)
    return trace


def test_exit_codes():
    for code in (0, 1, 2, 77, 126, 127, 128, 255):
        result = run(program("ends"), "exit", code, options=["-f"])
        equal(result.code, code, "exit code", result)
        whole(result)


def test_signals_kill():
    for number in (signal.SIGSEGV, signal.SIGKILL, signal.SIGTERM, signal.SIGPIPE, signal.SIGABRT,
                   signal.SIGALRM, signal.SIGXFSZ, signal.SIGRTMIN):
        result = run(program("ends"), "signal", int(number), options=["-f"])
        equal(result.code, -number, "the launcher ends by the same signal", result)
        whole(result)


def test_ways_to_end():
    for how, code, allocations in (("_exit", 5, 2), ("quick_exit", 6, 2), ("thread-exit", 7, 3),
                                   ("main-leaves", 8, 3)):
        result = run(program("ends"), how, code, options=["-f"])
        equal(result.code, code, f"exit code after {how}", result)
        whole(result, allocations)
    for how, number in (("abort", signal.SIGABRT), ("segv", signal.SIGSEGV)):
        result = run(program("ends"), how, options=["-f"])
        equal(result.code, -number, f"signal after {how}", result)
        whole(result)


def test_dispositions_inherited():
    """What the program finds ignored or blocked is what we found, not our own."""
    show = ["grep", "-E", "^Sig(Blk|Ign|Cgt)", "/proc/self/status"]

    def ignore():
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGTERM})

    for setup in (None, ignore):
        without = plain(*show, preexec_fn=setup).stdout
        under = run(*show, options=["-f", "-q"], preexec_fn=setup)
        equal(under.out, without, "signal masks and dispositions", under)


def test_child_signals_ignored():
    """Started with SIGCHLD ignored, when the kernel reaps children unasked."""
    result = run(program("ends"), "exit", 9,
                 preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    equal(result.code, 9, "exit code", result)


def test_interrupt():
    """Ctrl-C reaches the whole group; the program decides, the trace is good."""
    for how, code in (("wait", 40 + signal.SIGINT), ("wait-default", -signal.SIGINT)):
        process = start(program("ends"), how, options=["-f"])
        equal(harness.read_line(process), "ready", "first line")
        os.killpg(process.pid, signal.SIGINT)
        result = finish(process)
        equal(result.code, code, f"end of {how} after SIGINT to its group", result)
        whole(result)
        contains(result.err, "next: memledger summary t.mled", "closing note")


def test_signal_forwarded():
    for how, code in (("wait", 40 + signal.SIGTERM), ("wait-default", -signal.SIGTERM)):
        process = start(program("ends"), how, options=["-f"])
        equal(harness.read_line(process), "ready", "first line")
        os.kill(process.pid, signal.SIGTERM)
        result = finish(process)
        equal(result.code, code, f"end of {how} after SIGTERM to the launcher", result)
        whole(result)


def test_late_signal():
    """One that comes while the trace is being finished does not replace the
    program's exit code."""
    process = start(program("ends"), "wait")
    equal(harness.read_line(process), "ready", "first line")
    collector = collector_of(process)
    [pid] = set(harness.children(process.pid)) - {collector}
    os.kill(collector, signal.SIGSTOP)
    os.kill(process.pid, signal.SIGTERM)
    harness.wait_until(lambda: not harness.state_and_parent(pid)[0], "the launcher to see the end")
    os.kill(process.pid, signal.SIGINT)
    wait_until_taken(process.pid, signal.SIGINT)
    os.kill(collector, signal.SIGCONT)
    equal(finish(process).code, 40 + signal.SIGTERM, "exit code")
    harness.wait_until(lambda: not harness.runs(collector), "the collector's end")


def test_launcher_killed():
    """The collector finishes the trace alone and cleans up."""
    os.environ["XDG_RUNTIME_DIR"] = os.getcwd()
    process = start(program("emit"), 10, 10, stdin=-1)
    harness.read_line(process)
    os.kill(process.pid, signal.SIGKILL)
    process.stdin.write("\n")
    process.stdin.flush()
    contains(process.stdout.read(), "done 20", "output")
    process.wait()
    harness.wait_until(lambda: os.listdir() == ["t.mled"], "the session folder to go")
    trace = harness.dump("t.mled")
    check(trace["has_index"], "no footer")
    equal(trace["kinds"]["alloc"] + trace["kinds"]["free"], 20, "events")


def test_reader_gone():
    """A reader of our notes that went away takes neither exit code nor trace."""
    read, write = os.pipe()
    os.close(read)
    process = start(program("ends"), "exit", 3, stderr=write)
    os.close(write)
    process.communicate(timeout=harness.PATIENCE_S)
    equal(process.returncode, 3, "exit code")
    check(harness.dump("t.mled")["has_index"], "no footer")


harness.main(globals())
