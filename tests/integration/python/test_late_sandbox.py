#!/usr/bin/env python3
# test_late_sandbox.py: recordings that a Python program starts itself, in a seccomp sandbox
# that kills for calls that only the recorder makes: start() refuses, and the program continues.
#
# SPDX-License-Identifier: Apache-2.0
import os
import sys

import harness
from harness import equal, plain

CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sandbox_cases.py")
# memfd_create, sendmsg, ptrace; for x86-64, as all of memledger
MEMFD_CREATE, SENDMSG, PTRACE = 319, 46, 101
REFUSED = "this process is in a seccomp sandbox, where it cannot be recorded"


def says(when, number, *lines):
    done = plain(sys.executable, CASES, when, number,
                 env=os.environ | {"PYTHONPATH": os.environ["TEST_PACKAGE"]})
    equal((done.returncode, done.stdout.split("\n")[:-1]), (0, [*lines, "end"]), f"{when} {number}",
          done.stderr)


def test_before():
    says("before", MEMFD_CREATE, REFUSED)
    says("before", SENDMSG, REFUSED)


def test_before_without_harm():
    says("before", PTRACE, "recording")


def test_between():
    says("between", MEMFD_CREATE, "recording", REFUSED)


def test_during():
    says("during", MEMFD_CREATE, "recording", "child 0")


harness.main(globals())
