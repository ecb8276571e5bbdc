#!/usr/bin/env python3
# test_attach_python.py: attach to Python 3.14, which has an interface of its own for that, so that
# no thread is stopped.
#
# SPDX-License-Identifier: Apache-2.0
import ctypes
import os
import random
import signal
import struct
import subprocess
import time

import harness
import maven_python
from harness import MEMLEDGER, Skip, check, contains, equal

HERE = os.path.dirname(os.path.abspath(__file__))
VERSION = "3.14"
ATTACHES = 12
TRIES = 20
SYS_PTRACE, SYS_MEMFD_CREATE = 101, 319
EPERM, KILL = 0x00050000 | 1, 0x80000000  # verdicts of a filter


def python():
    folder = os.path.join(os.environ["PYPI_FOLDER"], f"python{VERSION}")
    found = maven_python.interpreter(folder, VERSION)
    if not found:
        raise Skip(f"no Python {VERSION}: is there a network, and mvn?")
    return found


class Program:
    def __init__(self, **env):
        self.process = subprocess.Popen([python(), os.path.join(HERE, "attach_python.py")],
                                        stdout=subprocess.PIPE, text=True, env=os.environ | env)
        equal(harness.read_line(self.process), "ready", "its first line")

    def end(self):
        """What it printed."""
        self.process.send_signal(signal.SIGTERM)
        said = self.process.communicate(timeout=harness.PATIENCE_S)[0]
        equal(self.process.returncode, 0, "exit code of the program")
        return said


def forbid_ptrace():
    """With this, an attach that succeeds has stopped no thread."""
    install_filter(SYS_PTRACE, EPERM)


def install_filter(call, verdict):
    """For the calling process and its children."""
    instructions = [(0x20, 0, 0, 0),                    # the number of the call
                    (0x15, 0, 1, call),
                    (0x06, 0, 0, verdict),
                    (0x06, 0, 0, 0x7fff0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *i) for i in instructions))
    program = struct.pack("@HxxxxxxQ", len(instructions), ctypes.addressof(code))
    libc = ctypes.CDLL(None)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):
        os._exit(99)


def attach(pid, *options, **settings):
    return harness.plain(MEMLEDGER, "attach", "-f", "-o", "t.mled", *options, pid, **settings)


def attach_without_ptrace(pid):
    """On a busy machine the main thread may come to a script too late, that of the attach or that of
    the detach; then another time."""
    for _ in range(TRIES):
        done = attach(pid, "--heap", "--for", "50ms", preexec_fn=forbid_ptrace)
        if "not allowed to trace" not in done.stderr:
            break
        harness.plain(MEMLEDGER, "detach", pid)
        harness.wait_until(lambda: "not being recorded" in
                           harness.plain(MEMLEDGER, "pause", pid).stderr, "the end of the recording")
    equal(done.returncode, 0, "exit code of attach", done.stderr)


def test_without_ptrace():
    program = Program()
    for _ in range(ATTACHES):
        time.sleep(random.uniform(0, 0.05))
        attach_without_ptrace(program.process.pid)
        summary = harness.report("summary", "t.mled")
        check(summary["allocations"] > 0, "allocations", summary)
        equal(summary["lost"], 0, "lost events", summary)
    said = program.end()
    contains(said, "{31225} {31225} {31225} ticks", "what the program printed")
    check("memledger" not in said.replace(" ", ""), "the program has no name of ours", said)


def test_detach():
    program = Program()
    attached = subprocess.Popen([MEMLEDGER, "attach", "-f", "-o", "t.mled", "--heap",
                                 str(program.process.pid)], stderr=subprocess.PIPE, text=True,
                                preexec_fn=forbid_ptrace)
    contains(attached.stderr.readline(), "recording process", "the first line")
    done = harness.plain(MEMLEDGER, "detach", program.process.pid, preexec_fn=forbid_ptrace)
    equal(done.returncode, 0, "exit code of detach", done.stderr)
    equal(attached.wait(harness.PATIENCE_S), 0, "exit code of attach")
    contains(program.end(), "{31225} {31225} {31225} ticks", "what the program printed")


def test_switched_off():
    """Then a thread is stopped, as in other programs."""
    program = Program(PYTHON_DISABLE_REMOTE_DEBUG="1")
    done = attach(program.process.pid, "--heap", "--for", "50ms", preexec_fn=forbid_ptrace)
    equal(done.returncode, 1, "exit code without ptrace", done.stderr)
    done = attach(program.process.pid, "--heap", "--for", "50ms")
    program.end()
    if "not allowed to trace" in done.stderr or "built without libdw" in done.stderr:
        raise Skip(done.stderr, machine=True)
    equal(done.returncode, 0, "exit code of attach", done.stderr)


def test_without_ctypes():
    """The script gives up at once, and leaves nothing on standard error."""
    code = ("import sys; sys.modules['_ctypes'] = None\nprint('ready', flush=True)\n"
            "import select\nwhile not select.select([0], [], [], 0)[0]: pass\nprint('end')")
    process = subprocess.Popen([python(), "-c", code], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    equal(harness.read_line(process), "ready", "its first line")
    done = attach(process.pid, "--heap", "--for", "50ms")
    said = process.communicate("\n", timeout=harness.PATIENCE_S)
    equal(said, ("end\n", ""), "what the program printed")
    if "not allowed to trace" in done.stderr or "built without libdw" in done.stderr:
        raise Skip(done.stderr, machine=True)
    equal(done.returncode, 0, "exit code of attach", done.stderr)


def test_sandbox():
    """A filter that would end the program for a call of the recorder: attach refuses."""
    process = subprocess.Popen([python(), "-c", "import select\nprint('ready', flush=True)\n"
                                "while not select.select([0], [], [], 0)[0]: pass\nprint('end')"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                               preexec_fn=lambda: install_filter(SYS_MEMFD_CREATE, KILL))
    equal(harness.read_line(process), "ready", "its first line")
    done = attach(process.pid, "--for", "50ms")
    equal(done.returncode, 1, "exit code of attach", done.stderr)
    equal(process.communicate("\n", timeout=harness.PATIENCE_S)[0], "end\n", "what it printed")


def test_waiting():
    """The script that the main thread never came to is taken back."""
    process = subprocess.Popen([python(), "-c", "print('ready', flush=True); input(); print('end')"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    equal(harness.read_line(process), "ready", "its first line")
    done = attach(process.pid, "--heap", "--for", "50ms", preexec_fn=forbid_ptrace)
    equal(done.returncode, 1, "exit code without ptrace", done.stderr)
    contains(done.stderr, "not allowed to trace", "its reason: the script was called off")
    said = process.communicate("\n", timeout=harness.PATIENCE_S)
    equal(said, ("end\n", ""), "what the program printed")


if __name__ == "__main__":
    harness.main(globals())
