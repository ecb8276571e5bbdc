#!/usr/bin/env python3
# test_mxnet_files.py: the old profilers' files from real runs of MXNet, read by the old
# tools' rules: every allocation is there, and the totals are memledger's.
#
# MXNET_VERSION is the one to test.
#
# SPDX-License-Identifier: Apache-2.0
import os

import harness
import pypi
from harness import check, equal, run

import old_files

HERE = os.path.dirname(os.path.abspath(__file__))
VERSION = os.environ["MXNET_VERSION"]
FOLDER = os.path.join(os.environ["PYPI_FOLDER"], f"mxnet-{VERSION}")


def recorded(case):
    python = os.path.join(pypi.environment(os.environ["PYPI_REQUIREMENTS"], FOLDER), "bin/python")
    result = run(python, os.path.join(HERE, "..", "mxnet", "mxnet_cases.py"), case, options=("-qf",))
    equal(result.code, 0, f"exit code of {case}", result)
    return result


def check_case(case):
    result = recorded(case)
    allocations = old_files.check_all(result.trace)
    trace = result.dump(events=True)
    events = [e for e in trace["events"]
              if e["kind"] == "alloc" and trace["spaces"][e["space"]]["name"] == "mxnet"]
    check(allocations > 50, f"{case} allocates little: {allocations}")
    equal(allocations, len(events), f"allocations of {case} in the files")


def test_gluon():
    check_case("gluon")


def test_lstm():
    check_case("lstm")


harness.main(globals())
