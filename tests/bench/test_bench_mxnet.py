#!/usr/bin/env python3
# test_bench_mxnet.py: the benchmark's row of MXNet still runs, with the real wheel. The
# other rows need no wheel: bench_smoke.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import sys

import harness
import pypi
from harness import check, equal, plain

BENCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bench.py")


def test_row():
    pypi.environment(os.environ["PYPI_REQUIREMENTS"],
                     os.path.join(os.environ["BUILD_DIR"], "pypi", "mxnet-1.9.1"))
    done = plain(sys.executable, BENCH, "--quick", "--only", "mxnet", "--json", "mxnet.json")
    equal(done.returncode, 0, "exit code", done.stdout, done.stderr)
    with open("mxnet.json") as f:
        row = json.load(f)["rows"]["mxnet"]
    equal(sorted(row["data"]), sorted(["alone", "memledger", "memledger --stacks python",
                                       "profile_all", "profile_memory"]), "commands")
    for name, figures in row["data"].items():
        equal(len(figures["each_over_alone"]), figures["programs"], f"programs of {name}")
        check(figures["median_ms"] >= figures["fastest_ms"] > 0, f"no time of {name}", figures)
    check(row["data"]["memledger"]["events"] > 100, "events in the trace", row["data"])


harness.main(globals())
