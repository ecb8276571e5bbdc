# SPDX-License-Identifier: Apache-2.0
"""Bytes at the peak by the function that called malloc, from both recorders' files.

A function without a name counts for its library: {("", "main"): 4096, ("libz.so.1", ""): 32768}
"""
import collections
import json
import os
import re

import heaptrack_data
from bench_run import run

UNNAMED = re.compile(r"(.*)\+0x[0-9a-f]+")


class _Records:
    """heaptrack's records that describe: strings, instruction pointers, traces, allocations."""

    def __init__(self):
        self.strings, self.pointers, self.traces, self.allocations = [""], [()], [(0, 0)], []

    def take(self, kind, rest):
        if kind == "s":
            self.strings.append(rest.rstrip("\n").partition(" ")[2])
        elif kind == "i":
            self.pointers.append([int(word, 16) for word in rest.split()])
        elif kind == "t":
            self.traces.append([int(word, 16) for word in rest.split()])
        elif kind == "a":
            self.allocations.append([int(word, 16) for word in rest.split()])

    def caller(self, allocation):
        """The innermost function, inlined or not: i ADDRESS LIBRARY [FUNCTION FILE LINE]..."""
        pointer = self.pointers[self.traces[self.allocations[allocation][1]][0]]
        function = self.strings[pointer[2]] if len(pointer) > 2 else ""
        library = os.path.basename(self.strings[pointer[1]]) if len(pointer) > 1 else "?"
        return ("", function) if function else (library, "")


def of_heaptrack(path, peak_bytes):
    """As heaptrack_print: where the sum first reaches the peak."""
    records, live, total = _Records(), collections.Counter(), 0
    for line in heaptrack_data.lines(path):
        kind, _, rest = line.partition(" ")
        if kind in ("+", "-"):
            number, sign = int(rest, 16), 1 if kind == "+" else -1
            live[number] += sign
            total += sign * records.allocations[number][0]
            if total == peak_bytes:
                break
        else:
            records.take(kind, rest)
    found = collections.Counter()
    for number, count in live.items():
        found[records.caller(number)] += count * records.allocations[number][0]
    return +found


def of_memledger(memledger, trace):
    text = run([memledger, "export", "--format", "speedscope", "-o", "-", trace]).text
    exported = json.loads(text)
    frames = exported["shared"]["frames"]
    graph = next(p for p in exported["profiles"] if p["name"] == "stacks")
    found = collections.Counter()
    for sample, weight in zip(graph["samples"], graph["weights"]):
        name = frames[sample[-1]]["name"]
        unnamed = UNNAMED.fullmatch(name)
        found[(unnamed.group(1), "") if unnamed else ("", name)] += weight
    return found
