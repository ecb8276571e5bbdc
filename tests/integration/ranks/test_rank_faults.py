#!/usr/bin/env python3
# test_rank_faults.py: `memledger ranks` finds each fault planted in a simulated job of 64 ranks,
# names its reason, and finds nothing in jobs without faults, with stages of a pipeline and without.
#
# SPDX-License-Identifier: Apache-2.0
import os
import tempfile

import harness
from harness import check, equal, plain, report, run

RANKS, STEPS, LAYERS = 64, 30, 12
CLEAN_JOBS = 20
CLEAN_COPIES, COPIES = 4, 16  # jobs from a recording, and their ranks
RECORDED_STEPS = 12

PLANTED = ["3=longer", "9=leak", "17=killed", "20=missing", "33=oom", "40=module",
           "50-51=unsharded", "60=gathered"]
# Kind, cause, ranks, category, the gravest kind first, then the larger one.
FOUND = {
    ("oom", "unknown", (33,), None),
    ("killed", "unknown", (17,), None),
    ("missing", "unknown", (20,), None),
    ("leaks", "unknown", (9,), "activation"),
    ("above", "sharding", (50, 51), "optimizer_state"),
    ("above", "gathered", (60,), "gathered"),
    ("above", "longer_input", (3,), "activation"),
    ("modules", "extra_module", (40,), None),
}


def job(*faults, ranks=RANKS, stages=1, seed=1, noise=0.003):
    """The report on a simulated job."""
    with tempfile.TemporaryDirectory() as folder:
        done = plain(os.environ["SIMULATE_RANKS"], folder, *map(str, (ranks, STEPS, LAYERS, stages,
                                                                     noise, seed)), *faults)
        check(done.returncode == 0, "simulate_ranks failed", done.stderr)
        return report("ranks", folder)


def recorded_job(recording, ranks, *faults, seed=1, noise=0.003):
    """The report on a job of copies of a recording."""
    with tempfile.TemporaryDirectory() as folder:
        done = plain(os.environ["SIMULATE_RANKS"], folder, ranks, "--from", recording, noise, seed, *faults)
        check(done.returncode == 0, "simulate_ranks failed", done.stderr)
        return report("ranks", folder)


def findings(found):
    return {(f["kind"], f["cause"], tuple(f["ranks"]), f.get("category"))
            for f in found["findings"]}


def texts(found):
    return [f["text"] for f in found["findings"]]


def test_planted():
    """All faults in one job: without stages, with stages, with stages that have no names."""
    for options in [{"stages": 1}, {"stages": 4}, {"stages": 4, "extra": ["unnamed"]}]:
        found = job(*PLANTED, *options.pop("extra", []), **options)
        equal(findings(found), FOUND, f"findings with {options}", *texts(found))
        kinds = [f["kind"] for f in found["findings"]]
        equal(kinds, ["oom", "killed", "missing", "leaks", "above", "above", "above", "modules"],
              "the gravest first")
        extra = found["findings"][-1]
        equal(extra["module"], "adapter", "the extra module", extra["text"])
        check(100 << 20 < extra["bytes"] < 250 << 20, "compared with its own stage", extra["text"])


def test_leak():
    """A leak is located, and its size is that of a step."""
    leak, = job("9=leak", stages=2)["findings"]
    equal((leak["module"], leak["bytes"]), ("layers.5.mlp", 8 << 20), "the leak", leak["text"])
    everywhere, = job("0-63=leak")["findings"]
    equal((everywhere["cause"], len(everywhere["ranks"])), ("most_ranks", 64), "a leak of all")


def test_shared():
    """Ranks with the same fault are one finding, which names what they share."""
    host, = job("8-15=longer")["findings"]
    equal((host["ranks"], host["shared"]), (list(range(8, 16)), "on host node1"), "a host")
    stopped = job("7=oom", "0-6=stopped", "8-63=stopped")
    equal([(f["kind"], len(f["ranks"])) for f in stopped["findings"]],
          [("oom", 1), ("stopped", 63)], "a failed job")


def test_uneven_stages():
    """A missing rank does not make the larger one of two unnamed stages the rule."""
    found = job("unnamed", "5=missing", stages=2)
    equal(findings(found), {("missing", "unknown", (5,), None)}, "findings", *texts(found))
    equal(sorted(g["ranks"] for g in found["groups"]), [31, 32], "groups")


def test_coordinate():
    """Ranks of several stages that share a coordinate are one finding with its name."""
    outliers, = job("4=unsharded", "20=unsharded", "36=unsharded", "52=unsharded", stages=4)["findings"]
    equal((outliers["ranks"], outliers["shared"]), ([4, 20, 36, 52], "with dp=4"), "a coordinate")


def test_recorded():
    """A job of traces, made from a recording: faults and reasons, and none in clean jobs."""
    done = run(os.environ["TRAINING_STEPS"], "--steps", RECORDED_STEPS, options=["-q", "--sample-hz", "0"])
    equal(done.code, 0, "exit code", done)
    found = recorded_job(done.trace, RANKS, "3=longer", "9=leak", "17=killed", "20=missing", "33=oom",
                         "40=module", "50-51=unsharded", "55=stopped")
    equal({f[:3] for f in findings(found)},
          {("oom", "unknown", (33,)), ("killed", "unknown", (17,)), ("stopped", "unknown", (55,)),
           ("missing", "unknown", (20,)), ("leaks", "unknown", (9,)), ("above", "sharding", (50, 51)),
           ("above", "longer_input", (3,)), ("modules", "extra_module", (40,))}, "findings", *texts(found))
    for seed in range(CLEAN_COPIES):
        found = recorded_job(done.trace, COPIES, seed=100 + seed, noise=0.005)
        equal((found["present"], found["findings"]), (COPIES, []), f"findings with seed {seed}")


def test_unlike_by_design():
    """Stages with more layers than others, a stage for each rank, experts: no finding."""
    for ranks, stages, shape in [(64, 4, ["uneven"]), (64, 8, ["uneven", "unnamed"]), (8, 8, ["unnamed"]),
                                 (64, 4, ["experts"]), (4, 1, ["named-experts"]),
                                 (64, 4, ["named-experts", "unnamed"])]:
        found = job(*shape, ranks=ranks, stages=stages, seed=300, noise=0.005)
        equal((found["present"], found["findings"]), (ranks, []), f"{ranks} ranks, {stages} stages, {shape}")


def test_clean():
    """No finding in jobs that have only noise."""
    for seed in range(CLEAN_JOBS):
        found = job(*(["unnamed"] if seed % 8 >= 4 else []), stages=(1, 2, 4, 4)[seed % 4],
                    seed=100 + seed, noise=0.005)
        equal(found["findings"], [], f"findings with seed {seed}")
        equal(found["present"], RANKS, "ranks")


if __name__ == "__main__":
    harness.main(globals())
