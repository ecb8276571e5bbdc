#!/usr/bin/env python3
# test_stop.py: whatever delays the collector, `memledger run` says what it waits for, ends on
# request, and returns the program's exit code.
#
# SPDX-License-Identifier: Apache-2.0
import os
import select
import signal
import subprocess

import harness
from harness import check, children, collector_of, contains, equal, finish, program, run, start
from stopping import check_finished_alone, ended_with_stopped_collector, sessions_here, started

# More than a pipe and a ring hold.
MANY = 2000000


def wait_for_text(stream, text):
    """Reads until the text has come; what is read here is not read again."""
    got = b""
    while text not in got.decode(errors="replace"):
        ready, _, _ = select.select([stream], [], [], harness.PATIENCE_S)
        part = os.read(stream.fileno(), 4096) if ready else b""
        check(part, f"{text!r} was not said; said was {got!r}")
        got += part
    return got.decode()


def until_ended(process, number):
    """Sends a signal until it has had its effect: one may come before it is waited for."""
    def asked():
        harness.signal_process(process.pid, number)
        return process.poll() is not None
    try:
        harness.wait_until(asked, f"an end by signal {number}")
    except harness.Failure:
        process.kill()
        raise


def test_stopped_collector():
    """SIGTERM, or Ctrl-C, ends the waiting."""
    with sessions_here():
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            process, collector = ended_with_stopped_collector("-f")
            os.kill(process.pid, number)
            result = finish(process)
            equal(result.code, 40 + signal.SIGTERM, "exit code", result)
            contains(result.err, f"process {collector} continues to write t.mled", "note")
            check_finished_alone(collector)


def test_asked_twice():
    """The second time there is no waiting at all."""
    with sessions_here():
        process, collector = ended_with_stopped_collector()
        until_ended(process, signal.SIGINT)
        equal(finish(process).code, 40 + signal.SIGTERM, "exit code")
        check_finished_alone(collector)


def test_says_what_for():
    """Nobody waits for seconds without a word, also with -q."""
    for options in ((), ("-q", "-f")):
        process, collector = ended_with_stopped_collector(*options)
        said = wait_for_text(process.stderr, "Ctrl-C leaves")
        contains(said, f"the collector (process {collector}) is stopped", "the message")
        contains(said, f"kill -CONT {collector}", "the message")
        os.kill(collector, signal.SIGCONT)
        equal(finish(process).code, 40 + signal.SIGTERM, "exit code")
        check(harness.dump("t.mled")["has_index"], "no footer")


def test_ignored_signal():
    """Under nohup the end of the terminal is no reason to leave."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process, collector = ended_with_stopped_collector()
    finally:
        signal.signal(signal.SIGHUP, before)
    os.kill(process.pid, signal.SIGHUP)
    wait_for_text(process.stderr, "is stopped")
    os.kill(collector, signal.SIGCONT)
    contains(finish(process).err, "next: memledger summary", "closing note")


def test_pipe_that_nobody_empties():
    """The collector hangs in a write."""
    with sessions_here():
        os.mkfifo("pipe")
        reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
        process = start(program("emit"), MANY, trace="pipe", options=["-f"])
        collector = collector_of(process)
        started.extend([process.pid, collector])
        said = wait_for_text(process.stderr, "Ctrl-C leaves")
        contains(said, "still writing pipe (", "the message")
        os.kill(process.pid, signal.SIGTERM)
        equal(finish(process).code, 7, "exit code")
        os.close(reader)
        harness.wait_until(lambda: not harness.runs(collector), "the collector's end")
        equal(os.listdir("sessions"), [], "what is left of the session")


def test_pipe_needs_no_force():
    """There is nothing in a pipe that could be lost."""
    os.mkfifo("pipe")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    result = run(program("ends"), "exit", 5, trace="pipe")
    equal(result.code, 5, "exit code", result)
    check(os.read(reader, 8) == b"\x89MLED\r\n\x1a", "what came through the pipe")
    os.close(reader)


def test_pipe_without_reader():
    os.mkfifo("pipe")
    result = run("touch", "ran", trace="pipe", options=["-f"])
    equal(result.code, 1, "exit code", result)
    contains(result.err, "nothing reads from pipe; start its reader first", "message")
    check(not os.path.exists("ran"), "the program was started")


def test_pipe_with_reader():
    os.mkfifo("pipe")
    with subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE) as reader:
        # A writer of our own, so that the reader is there.
        writer = os.open("pipe", os.O_WRONLY)
        result = run(program("emit"), 1000, trace="pipe", options=["-f"])
        os.close(writer)
        data = reader.communicate(timeout=harness.PATIENCE_S)[0]
    equal(result.code, 7, "exit code", result)
    with open("t.mled", "wb") as f:
        f.write(data)
    equal(harness.dump("t.mled")["kinds"]["alloc"], 500, "allocations")


def test_waiting_for_children():
    """--wait waits until it is asked not to."""
    process = start(program("families"), "outlive", options=["--wait"])
    started.append(process.pid)
    pids = [int(harness.read_line(process).split()[0]) for _ in range(2)]
    harness.wait_until(lambda: not all(harness.state_and_parent(pid)[0] for pid in pids),
                       "the launcher to see the program's end")
    os.kill(process.pid, signal.SIGINT)
    harness.wait_until(lambda: not harness.runs(process.pid), "the launcher's end")
    with open("end", "w"):
        pass
    result = finish(process)
    equal(result.code, 0, "exit code", result)
    contains(result.err, "1 process is still running, not recorded from here on", "note")
    check(harness.dump("t.mled")["has_index"], "no footer")


def test_disk_that_hangs():
    """The trace cannot be opened for as long as the disk hangs (a test double does)."""
    with sessions_here():
        for number in (signal.SIGTERM, signal.SIGINT):
            process = start("touch", "ran", trace="hanging.mled",
                            env=dict(os.environ, LD_PRELOAD=program("libhanging_disk.so")))
            harness.wait_until(lambda: os.path.exists("opening"), "the trace to be opened")
            pids = children(process.pid)
            started.extend([process.pid, *pids])
            until_ended(process, number)
            equal(process.returncode, -number, "how it ended", finish(process))
            harness.wait_until(lambda: not any(map(harness.runs, pids)), "its children's end")
            os.unlink("opening")
        check(not os.path.exists("ran"), "the program was started")
        equal(os.listdir("sessions"), [], "what is left of the session")


def test_interrupted_before_open():
    """No part of a trace is left when the run ends before its program starts."""
    process = start("touch", "ran", trace="slow.mled",
                    env=dict(os.environ, LD_PRELOAD=program("libhanging_disk.so")))
    harness.wait_until(lambda: os.path.exists("opening"), "the trace to be made")
    started.extend([process.pid, *children(process.pid)])
    until_ended(process, signal.SIGINT)
    equal(process.returncode, -signal.SIGINT, "how it ended", finish(process))
    equal(os.listdir(), ["opening"], "what is left")


def test_export_to_pipe():
    """Waiting for the reader of a pipe can be interrupted."""
    run(program("emit"), 10)
    os.mkfifo("pipe")
    process = subprocess.Popen([harness.MEMLEDGER, "export", "--format", "chrome", "-o", "pipe",
                                "t.mled"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    harness.wait_until(lambda: harness.state_and_parent(process.pid)[0] == "S", "it to wait")
    until_ended(process, signal.SIGTERM)
    equal(process.returncode, -signal.SIGTERM, "how it ended")


harness.main(globals())
