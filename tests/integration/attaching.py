# attaching.py: recordings of a process that already runs, for the tests of memledger attach.
#
# SPDX-License-Identifier: Apache-2.0
import subprocess

import harness
from harness import MEMLEDGER, Skip, contains, equal


class Asked:
    """A program that answers each line of its standard input with a number."""

    def __init__(self, *command, first="nothing", **settings):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, **settings)
        self.ask(first)

    def ask(self, *requests):
        """@return what it says to the last one"""
        for request in requests:
            print(request, file=self.process.stdin, flush=True)
            said = harness.read_line(self.process)
        return int(said)

    def end(self):
        self.process.stdin.close()
        equal(self.process.wait(harness.PATIENCE_S), 0, "exit code of the program")


def start(pid, *options, **settings):
    return subprocess.Popen([MEMLEDGER, "attach", "-o", "t.mled", "-f", *options, str(pid)],
                            stderr=subprocess.PIPE, text=True, **settings)


def need_tracing(said):
    """Skips the test if that is what attach says where it can record no process."""
    for reason in ["not allowed to trace", "ptrace", "built without libdw"]:
        if reason in said:
            raise Skip(said, machine=True)


def has_begun(attached):
    """Waits until it records."""
    said = attached.stderr.readline()
    need_tracing(said)
    if not said:
        equal(attached.wait(harness.PATIENCE_S), 0, "exit code of attach, which said nothing")
    contains(said, "recording process", "the first line")


def begin(pid, *options):
    """Records the process into t.mled from now on."""
    attached = start(pid, *options)
    has_begun(attached)
    return attached


def end(attached):
    """As Ctrl-C does."""
    attached.terminate()
    equal(attached.wait(harness.PATIENCE_S), 0, "exit code of attach")
