# compiled_blocks.py: the blocks that compiled.py allocated, case by case, from `memledger sql`.
#
# SPDX-License-Identifier: Apache-2.0
import re

MARKER_BYTES = 1004
KEPT = ("parameter", "buffer", "gradient", "optimizer_state")
LOSS = re.compile(r"backward: \w+Backward\d+")  # a node that no module made, of an operator
QUERY = ("SELECT time_ns, free_ns, bytes, module, category, phase, scope, label, device "
         "FROM allocations WHERE space = 'torch' AND counted ORDER BY time_ns")


class Block:
    def __init__(self, row):
        self.born, died, self.bytes, self.module, self.category, self.phase, scope, label, _ = row
        self.died = float("inf") if died is None else died
        self.scope, self.label = scope or "", label

    def has_layer(self):
        """Parameters, gradients and optimizer state belong to that of their label."""
        return (bool(self.module) or self.category in KEPT and bool(self.label)) \
            and self.category != "other"

    def __repr__(self):
        return f"{self.bytes} bytes, {self.scope}: {self.category}"


class CompiledBlocks:
    """Of one device. A marker, on the host, ends each case."""

    def __init__(self, rows, cases, device="cpu"):
        ends = [row[0] for row in rows if row[2] == MARKER_BYTES and row[8] == "cpu"]
        if len(ends) != len(cases):
            raise ValueError(f"{len(ends)} markers of {len(cases)}")
        self.blocks = [Block(row) for row in rows if row[8] == device]
        self.spans = dict(zip(cases, zip([0, *ends], ends)))

    def of(self, case):
        begin, end = self.spans[case]
        return [b for b in self.blocks if begin < b.born < end]

    def at_peak(self, case):
        """Without the batch, which belongs to no module."""
        blocks = self.of(case)
        changes = sorted([(b.born, b.bytes) for b in blocks] + [(b.died, -b.bytes) for b in blocks])
        total = most = when = 0
        for time, change in changes:
            total += change
            if total > most:
                most, when = total, time
        return [b for b in blocks if b.born <= when < b.died and b.category != "input"]

    def in_backward(self, case):
        """Without the loss that a program computes outside its model."""
        return [b for b in self.of(case) if b.phase == "backward" and not LOSS.fullmatch(b.scope)]

    def end(self, case):
        """As --at takes it."""
        return f"{self.spans[case][1]}ns"


def layers_in(rows):
    """{path: {category: bytes}} of `memledger layers --json`, without what the program computes.
    Models of the same class, one after the other, have numbers: paths are without the model."""
    found = {}
    for row in rows:
        for kind in KEPT:
            held = found.setdefault((row["module"] or "").partition(" > ")[2], {})
            if row["by_category"][kind]:
                held[kind] = held.get(kind, 0) + row["by_category"][kind]
    return {path: held for path, held in found.items() if held}


def share_in_layers(blocks):
    """Of the bytes, and the largest that are in none."""
    total = sum(b.bytes for b in blocks)
    without = sorted((b for b in blocks if not b.has_layer()), key=lambda b: -b.bytes)
    return (1 - sum(b.bytes for b in without) / total if total else 1.0), without[:5]
