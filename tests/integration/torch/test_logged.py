#!/usr/bin/env python3
# test_logged.py: memledger.metrics() and its callbacks in real training loops (logged_loops.py): the
# numbers are those of the trace, and the loggers of Lightning and of Hugging Face's Trainer get them.
#
# SPDX-License-Identifier: Apache-2.0
import os

import harness
from harness import check, equal, plain, report, run
from torch_packages import environment
from torch_support import PYTHON, need_torch, said

PACKAGE = os.environ["TEST_PACKAGE"]
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "logged_loops.py")


def recorded(case, env=None, starter=()):
    need_torch()
    result = run(*starter, PYTHON, PROGRAM, case, env=env or dict(os.environ), options=["-qf"])
    equal(result.code, 0, f"exit code of {case}", result)
    return said(result.out, result)


def check_values(told):
    values = told["values"]
    for category, times in (("parameter", 1), ("gradient", 1), ("optimizer_state", 2)):
        got = values[f"memledger/category/{category}_bytes"]
        check(0 <= got - times * told["parameters"] < 1024, f"bytes of {category}: {got}", told)
    equal(values["memledger/cpu/live_bytes"], values["memledger/process/live_bytes"],
          "bytes of the device and of the only process", told)
    equal([values["memledger/lost_events"], values["memledger/out_of_memory"]], [0, 0], "losses")
    check(values["memledger/cpu/driver_used_bytes"] > values["memledger/cpu/live_bytes"], "RSS")
    check(all(isinstance(v, (int, float)) for v in values.values()), "numbers", values)


def test_by_hand():
    told = recorded("by_hand")
    check_values(told)
    summary = report("summary", "t.mled")
    equal(told["values"]["memledger/cpu/peak_bytes"], summary["peak_bytes"], "the peak")
    equal(len(summary["processes"]), 1, "recorded processes: the helper is none of them")
    check(all(name.startswith("m.") for name in told["other_names"]) and told["other_names"],
          "another prefix", told["other_names"])


def test_execed():
    """A program that replaces itself is two processes of the trace with one number."""
    check_values(recorded("by_hand", starter=("env", "STARTED=env")))
    equal(len({p["pid"] for p in report("summary", "t.mled")["processes"]}), 1, "numbers")


def test_fast_steps():
    """The numbers of a step are those of that step, however fast it is."""
    told = recorded("fast_steps")
    rows = told["rows"][1:]
    first = told["rows"][0][0]
    for n, (live, steps, peak) in enumerate(rows, 1):
        check(0 <= live - first - (n << 20) < 4096, f"live bytes of step {n}: {live}", told)
        equal(steps, told["rows"][0][1] + n, f"steps so far in step {n}", told)
        check(0 <= peak - live - (1 << 22) - (n << 16) < 4096, f"the peak of step {n}: {peak}", told)


def test_forked():
    told = recorded("forked")
    equal(told["status"], 0, "exit status of the child")
    equal(told["after"], told["before"], "bytes of the parent")


def test_without_helper():
    told = recorded("without_helper")
    equal(told["missing"], {}, "metrics when the helper has died")
    equal(sorted(told["after"]), sorted(told["before"]), "metrics of the next helper")


def test_slow_helper():
    """metrics() waits for it once, and then for a moment at a time; the helper is not replaced."""
    told = recorded("slow_helper")
    equal(told["missing"], [{}, {}, {}], "metrics while the helper does not answer")
    check(told["live"] >= told["kept"], "metrics when it answers again", told)
    equal(told["same"], True, "the helper is the same one")


def test_hung_helper():
    told = recorded("hung_helper")
    equal(told["missing"], {}, "metrics while the helper hangs")
    equal((told["same"], told["ended"]), (False, True), "the helper is replaced, and has ended", told)
    check((told["live"] or 0) >= told["kept"], "metrics of the next helper", told)


def test_started():
    need_torch()
    done = plain(PYTHON, PROGRAM, "started", env=os.environ | {"PYTHONPATH": PACKAGE})
    equal(done.returncode, 0, "exit code", done.stderr)
    told = said(done.stdout, done.stderr)
    check_values(told)
    equal([told["before"], told["after"]], [{}, {}], "metrics without a recording")


def check_rows(rows, count):
    equal(len(rows), count, "logged rows", rows)
    check(rows[-1]["memledger/cpu/peak_bytes"] > 0, "the peak", rows[-1])
    check(rows[-1]["memledger/category/parameter_bytes"] > 0, "parameters", rows[-1])


def test_lightning():
    rows = recorded("lightning", environment("lightning"))["rows"]
    check_rows(rows, 2)
    equal([row["step"] for row in rows], [2, 4], "steps of the rows")


def test_hugging_face():
    env = environment("transformers")
    if plain(PYTHON, "-c", "import accelerate", env=env).returncode:
        raise harness.Skip("the Trainer of transformers needs accelerate", machine=True)
    told = recorded("hugging_face", env)
    check_rows(told["rows"], len(told["history"]))
    check(len(told["history"]) >= 12, "rows of the history", told["history"])


if __name__ == "__main__":
    harness.main(globals())
