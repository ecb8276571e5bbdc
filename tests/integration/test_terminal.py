#!/usr/bin/env python3
# test_terminal.py: the progress line: on a terminal, after two seconds, erased
# at the end; nowhere else. Keys reach the program.
#
# SPDX-License-Identifier: Apache-2.0
import os
import pty
import re
import signal
import time

import harness
from harness import check, contains, equal, program
from kernel_counts import wait_until_asleep

QUIET_S = 2  # QUIET_NS of run_notes.c
# PROGRESS_MS of run_program.c is 500: these rounds take twice as long as there is no line.
ROUNDS = 2 * QUIET_S * 2
LINE = re.compile(r"memledger: (?P<time>[0-9.]+) s, [0-9,]+ events?, [^,]+ on disk, 1 process\r")


class OnTerminal:
    """`memledger run` as a shell would start it: in the foreground."""

    def __init__(self, *arguments):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execv(harness.MEMLEDGER, [harness.MEMLEDGER, "run", "-o", "t.mled", *arguments])
        self.text = ""

    def read(self):
        try:
            piece = os.read(self.terminal, 65536).decode(errors="replace")
        except OSError:  # all is closed
            piece = ""
        self.text += piece
        return piece

    def read_until(self, pattern):
        end = time.monotonic() + harness.PATIENCE_S
        while not re.search(pattern, self.text):
            check(self.read() and time.monotonic() < end, f"no {pattern!r} in:\n{self.text!r}")

    def press(self, keys):
        os.write(self.terminal, keys)

    def end(self):
        while self.read():
            pass
        os.close(self.terminal)
        status = os.waitpid(self.pid, 0)[1]
        return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def test_progress():
    run = OnTerminal(program("emit"), "100000", "10")
    run.read_until(LINE)
    run.press(b"\n")
    equal(run.end(), 7, "exit code", run.text)
    shown = [m.end() for m in LINE.finditer(run.text)]
    rest = run.text[shown[-1]:]
    check(re.search(r"\r\x1b\[K.*100,0[0-9]+ events of 1 process and [0-9,]+ samples in t\.mled", rest, re.S),
          "the line is not erased before the closing note", repr(rest))
    contains(rest, "memledger: next: memledger summary t.mled", "closing note")


def test_no_progress_at_first():
    """The launcher looks several times before it shows the first line."""
    run = OnTerminal(program("ends"), "wait")
    run.read_until(LINE)
    run.press(b"\x03")
    equal(run.end(), 40 + signal.SIGINT, "exit code", run.text)
    first = LINE.search(run.text)
    check("on disk" not in run.text[:first.start()], "a progress line within the first second", repr(run.text))
    check(float(first["time"]) >= QUIET_S, "a progress line within two seconds", repr(run.text))


def test_quiet():
    run = OnTerminal("-q", program("ends"), "wait")
    run.read_until("ready")
    wait_until_asleep(run.pid, ROUNDS, "rounds of the launcher")
    os.kill(run.pid, signal.SIGTERM)
    equal(run.end(), 40 + signal.SIGTERM, "exit code", run.text)
    equal(run.text, "ready\r\n", "what a quiet run shows")


def test_not_a_terminal():
    process = harness.start(program("ends"), "wait", options=["--sample-hz", "0"])
    equal(harness.read_line(process), "ready", "first line")
    wait_until_asleep(process.pid, ROUNDS, "rounds of the launcher")
    process.terminate()
    result = harness.finish(process)
    equal(result.code, 40 + signal.SIGTERM, "exit code", result)
    equal(len(result.err.splitlines()), 2, "lines", result)


def test_interrupt_key():
    """Ctrl-C on the keyboard: the program gets it once, the trace is good."""
    run = OnTerminal(program("ends"), "wait")
    run.read_until("ready")
    run.press(b"\x03")
    equal(run.end(), 40 + signal.SIGINT, "exit code", run.text)
    check(harness.dump("t.mled")["has_index"], "no footer")
    contains(run.text, "next: memledger summary t.mled", "closing note")


def test_stop_and_go_on():
    """Program and launcher stop, as by Ctrl-Z in a shell, and go on together."""
    run = OnTerminal(program("emit"), "10", "10")
    run.read_until("10\r\n")
    os.killpg(run.pid, signal.SIGSTOP)
    _, status = os.waitpid(run.pid, os.WUNTRACED)
    check(os.WIFSTOPPED(status), "the launcher did not stop", status)
    os.killpg(run.pid, signal.SIGCONT)
    run.press(b"\n")
    equal(run.end(), 7, "exit code", run.text)
    trace = harness.dump("t.mled")
    equal(trace["kinds"]["alloc"] + trace["kinds"]["free"], 20, "events")


harness.main(globals())
