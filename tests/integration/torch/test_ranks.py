#!/usr/bin/env python3
# test_ranks.py: training on two ranks by unmodified programs (ranks.py) under torchrun. Each rank's
# parameters, gradients and optimizer state by layer are what the model's shapes say, and nearly all
# bytes have a name and a category.
#
# SPDX-License-Identifier: Apache-2.0
import collections
import functools
import json
import math
import os
import tempfile

import harness
from harness import check, equal, report, run
from torch_support import PYTHON, need_torch, version

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "ranks.py")
TORCHRUN = ["-m", "torch.distributed.run", "--nproc_per_node=2", "--standalone"]
OLDEST = {"ddp": (1, 13), "ddp_view": (1, 13), "fsdp1": (2, 4), "fsdp1_original": (2, 4),
          "fsdp2": (2, 6), "tensor_parallel": (2, 6)}  # on the host
RANKS = ("rank 0", "rank 1")
MARKER_BYTES = 1004
FLOAT_BYTES = 4
ENOUGH = 0.99
FOLDER = tempfile.TemporaryDirectory()  # traces for all of the functions below


class Record:
    def __init__(self, case):
        self.case = case
        self.trace = os.path.join(FOLDER.name, f"{case}.mled")
        starter = TORCHRUN if version() >= (2, 0) else [os.path.join(HERE, "start_ranks.py")]
        result = run(PYTHON, *starter, PROGRAM, case, trace=self.trace,
                     options=["-qf", "--sample-hz", "0"],
                     env={**os.environ, "OMP_NUM_THREADS": "1"})
        equal(result.code, 0, "exit code", result)
        [line] = [line for line in result.out.splitlines() if line.startswith("{")]
        self.shapes = json.loads(line)

    @functools.cached_property
    def blocks(self):
        found = report("sql", self.trace, "select role, time_ns, coalesce(free_ns, 1e18) as end,"
                       " bytes, scope, label, category, phase from allocations"
                       " join processes using (process) where level = 'block'")
        return [dict(zip(found["columns"], row)) for row in found["rows"]]

    def of_rank(self, rank):
        return [block for block in self.blocks if block["role"] == rank]

    @functools.cached_property
    def held(self):
        """(rank, category) -> module -> bytes, when training is over."""
        marker = max(b["time_ns"] for b in self.blocks if b["bytes"] == MARKER_BYTES)
        groups = report("table", self.trace, "--by", "process,module,category", "--at",
                        f"{marker / 1e9:.9f}s", "-n", "1000")["groups"]
        held = collections.defaultdict(dict)
        for group in groups:
            rank = group["process"].split(":")[0].split(" ", 1)[1]
            module = (group["module"] or "").split(" > ")[-1]
            held[rank, group["category"]][module] = group["bytes"]
        return held


def recorded(case):
    need_torch()
    if version() < OLDEST[case]:
        raise harness.Skip(f"PyTorch {version()} has no {case} on the host", machine=True)
    return record(case)


record = functools.cache(Record)


# ---- What the shapes say --------------------------------------------------------------


def whole(name, shape):
    return math.prod(shape)


def first_dimension_shared(name, shape):
    return math.prod([math.ceil(shape[0] / len(RANKS)), *shape[1:]])


def columns_then_rows(name, shape):
    """ColwiseParallel splits all of fc1, RowwiseParallel the weight of fc2."""
    return math.prod(shape) // (2 if name in ("fc1.weight", "fc1.bias", "fc2.weight") else 1)


def by(place, shapes, part, per_tensor=lambda numel: numel * FLOAT_BYTES):
    total = collections.Counter()
    for name, shape in shapes.items():
        total[place(name)] += per_tensor(part(name, shape))
    return dict(total)


def layer(name):
    return name.rpartition(".")[0]


def unit(name):
    """The module that FSDP shards in one piece."""
    parts = name.split(".")
    return ".".join(parts[:2]) if parts[0] == "blocks" else "GPT"


def adam(numel):
    return 2 * numel * FLOAT_BYTES + FLOAT_BYTES  # two averages, and the number of steps


def holds(case, category, wanted, place=None):
    for rank in RANKS:
        found = recorded(case).held[rank, category]
        if place:
            units = collections.Counter()
            for module, size in found.items():
                units[place(f"{module}.")] += size
            found = dict(units)
        equal(found, wanted, f"{category} of {rank} by module in {case}")


def test_ddp():
    for case in ("ddp", "ddp_view"):
        shapes = recorded(case).shapes
        plain = by(layer, shapes, whole)
        holds(case, "parameter", plain)
        holds(case, "optimizer_state", by(layer, shapes, whole, adam))
    holds("ddp", "gradient", by(layer, shapes, whole))


def test_ddp_buckets():
    """They hold all gradients once more, or are the gradients."""
    wanted = sum(by(layer, recorded("ddp").shapes, whole).values())
    for case, category in (("ddp", "communication"), ("ddp_view", "gradient")):
        for rank in RANKS:
            equal(sum(recorded(case).held[rank, category].values()), wanted,
                  f"bytes of {category} on {rank} in {case}")
            labels = {b["label"] for b in recorded(case).of_rank(rank)
                      if b["category"] == category and "(" in (b["label"] or "")}
            check("(fc1.weight to fc3.bias)" in labels, f"no bucket of all in {case}", labels)
            check(len(labels) > 1, f"no smaller bucket in {case}", labels)


def test_fsdp2():
    shapes = recorded("fsdp2").shapes
    holds("fsdp2", "parameter", by(layer, shapes, first_dimension_shared))
    holds("fsdp2", "optimizer_state", by(layer, shapes, first_dimension_shared, adam))
    holds("fsdp2", "gradient", by(unit, shapes, first_dimension_shared))


def test_fsdp1():
    for case in ("fsdp1", "fsdp1_original"):
        shapes = recorded(case).shapes
        halves = {module: size // 2 for module, size in by(unit, shapes, whole).items()}
        for category in ("parameter", "gradient", "optimizer_state"):
            holds(case, category, halves, unit)


def test_tensor_parallel():
    shapes = recorded("tensor_parallel").shapes
    for category, size in (("parameter", None), ("gradient", None), ("optimizer_state", adam)):
        wanted = by(layer, shapes, columns_then_rows, *([size] if size else []))
        holds("tensor_parallel", category, wanted)


def test_gathered_weights():
    """Each unit's whole weights, which are put together for forward and again for backward."""
    for case in ("fsdp1", "fsdp1_original", "fsdp2"):
        whole_units = by(unit, recorded(case).shapes, whole)
        for rank in RANKS:
            gathered = collections.Counter()
            for block in recorded(case).of_rank(rank):
                if block["category"] == "gathered":
                    gathered[unit(block["label"].partition("(")[0] + ".")] += block["bytes"]
            for module, size in whole_units.items():
                check(gathered[module] % size == 0 and gathered[module] >= 3 * size,
                      f"{case}: {module} has {size} bytes, gathered {gathered[module]}")


def share(blocks, is_good):
    total = sum(b["bytes"] for b in blocks)
    bad = sorted(((b["bytes"], b["scope"], b["label"], b["category"]) for b in blocks
                  if not is_good(b)), key=str, reverse=True)
    return 1 - sum(size for size, *_ in bad) / total, bad[:5]


def is_told(block):
    """By a name and a category."""
    return (block["scope"] or block["label"]) and block["category"] != "other"


def at_peak(blocks):
    """The blocks that are live when most bytes are."""
    changes = sorted([(b["time_ns"], b["bytes"]) for b in blocks] +
                     [(b["end"], -b["bytes"]) for b in blocks])
    live = most = when = 0
    for time, change in changes:
        live += change
        if live > most:
            most, when = live, time
    return [b for b in blocks if b["time_ns"] <= when < b["end"]]


def each_case(look):
    failures = []
    for case in OLDEST:
        try:
            for rank in RANKS:
                look(case, recorded(case).of_rank(rank))
        except harness.Skip as reason:
            print(f"  {reason}", flush=True)
        except harness.Failure as failure:
            failures.append(str(failure))
    check(not failures, "\n".join(failures))


def is_mostly_told(case, blocks, what):
    good, bad = share(blocks, is_told)
    check(good >= ENOUGH, f"only {good:.2%} of {what} in {case} have a name and a category", bad)


def test_names_at_the_peak():
    each_case(lambda case, blocks: is_mostly_told(case, at_peak(blocks), "the peak"))


def test_names_in_backward():
    each_case(lambda case, blocks: is_mostly_told(
        case, [b for b in blocks if b["phase"] == "backward"], "backward"))


def test_no_wrappers():
    def look(case, blocks):
        for block in blocks:
            for word in ("_fsdp_wrapped", "_checkpoint_wrapped", "module.", "DataParallel", "FSDP"):
                name = f"{block['scope']} {block['label']}"
                check(word not in name, f"{case}: {name}")
    each_case(look)


def test_place():
    """As the launcher and init_process_group say it."""
    places = [process["place"].split() for process in
              report("summary", recorded("ddp").trace)["processes"] if "place" in process]
    for rank in range(len(RANKS)):
        check(any({f"rank={rank}", f"world_size={len(RANKS)}"} <= set(place) for place in places),
              f"no process says that it is rank {rank}", places)


if __name__ == "__main__":
    harness.main(globals())
