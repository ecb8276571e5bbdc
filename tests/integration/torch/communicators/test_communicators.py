#!/usr/bin/env python3
# test_communicators.py: the ledger lists memory that the driver gave to NCCL by communicator, also
# what NCCL's threads take. With doubles in the place of NCCL and PyTorch; tests/gpu has the real ones.
#
# SPDX-License-Identifier: Apache-2.0
import os
import sys

import harness
from harness import equal, plain, program, report, run, with_standin

GROUPS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "groups_of_python.py")
MIB = 1 << 20


def by_communicator(trace):
    """The bytes of NCCL's entries, and of all driver allocations."""
    ledger = report("ledger", trace, "--at", "peak", "--top", "100")
    book = next(d for d in ledger["devices"] if d["device"] == "cuda:0")
    direct = next(e for e in book["entries"] if e["name"] == "driver allocations")
    return ({e["name"]: e["bytes"] for e in direct["entries"] if e["name"].startswith("NCCL")},
            direct["bytes"])


def test_communicators():
    env = with_standin()
    alone = plain(program("uses_communicators"), env=env)
    equal((alone.returncode, alone.stdout), (0, "0\n"), "the program alone", alone.stderr)
    result = run(program("uses_communicators"), options=["-qf"], env=env)
    equal((result.code, result.out), (0, alone.stdout), "exit code and output", result)
    found, asked = by_communicator(result.trace)
    equal(found, {
        "NCCL, communicator 0 default_pg (rank 1 of 4)": 10 * MIB,
        "NCCL, communicator 1 (rank 1 of 2)": 10 * MIB,
        "NCCL, communicator 2 tensor parallel (rank 0 of 2)": 4 * MIB,
        "NCCL, communicator 3 (2 devices)": 14 * MIB,
        "NCCL, communicator 4": 4 * MIB,
        "NCCL, communicator 5 (rank 1 of 5)": 4 * MIB,
    }, "NCCL's memory")
    equal(asked, 48 * MIB, "all that was asked for")


def test_groups():
    """Parts that were split off have the names of their groups, but not if these share options."""
    if "TEST_PACKAGE" not in os.environ:
        raise harness.Skip("built without the Python package")
    env = with_standin(PYTHONPATH=os.environ["TEST_PACKAGE"])
    result = run(sys.executable, GROUPS, options=["-qf"], env=env)
    equal((result.code, result.err), (0, ""), "exit code and errors", result)
    found, _ = by_communicator(result.trace)
    for part in ("2 tensor parallel (rank 0 of 2)", "8 group 1 (rank 0 of 2)", "14"):
        equal(found.get(f"NCCL, communicator {part}"), 4 * MIB, f"part {part}", sorted(found))


harness.main(globals())
