#!/usr/bin/env python3
# test_import_pprof.py: heap profiles in pprof's format as traces.
#
# SPDX-License-Identifier: Apache-2.0
import gzip
import json
import os

import harness
from harness import check, contains, equal, plain, report

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "jax")


# ---- Protobuf, by hand ---------------------------------------------------------------


def varint(value):
    out = b""
    value &= (1 << 64) - 1
    while value >= 128:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    if isinstance(value, bytes):
        return varint(number << 3 | 2) + varint(len(value)) + value
    return varint(number << 3) + varint(value)


def message(*fields):
    return b"".join(field(n, v) for n, v in fields)


def packed(*values):
    return b"".join(map(varint, values))


class Profile:
    """Texts get their numbers as they are used; they are written last or first."""

    def __init__(self):
        self.texts, self.body = [""], b""

    def text(self, word):
        if word not in self.texts:
            self.texts.append(word)
        return self.texts.index(word)

    def add(self, number, *fields):
        self.body += field(number, message(*fields))

    def types(self, *pairs):
        for kind, unit in pairs:
            self.add(1, (1, self.text(kind)), (2, self.text(unit)))

    def function(self, number, name, file):
        self.add(5, (1, number), (2, self.text(name)), (4, self.text(file)))

    def data(self, texts_first=False):
        texts = b"".join(field(6, t.encode()) for t in self.texts)
        return texts + self.body if texts_first else self.body + texts


def read_fields(data):
    """(number, value) of a message: bytes or a number."""
    at = 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        tag = number()
        if tag & 7 == 2:
            size = number()
            yield tag >> 3, data[at:at + size]
            at += size
        else:
            yield tag >> 3, number()


def numbers(data):
    at, out = 0, []
    while at < len(data):
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        out.append(value)
    return out


# ---- Importing -----------------------------------------------------------------------


def imported(data, *options):
    with open("p.pprof", "wb") as f:
        f.write(data)
    done = plain(harness.MEMLEDGER, "import", "-q", "-f", "-o", "p.mled", *options, "p.pprof")
    equal(done.returncode, 0, "exit code of import", done.stderr)
    return "p.mled"


def refused(data, part):
    with open("p.pprof", "wb") as f:
        f.write(data)
    done = plain(harness.MEMLEDGER, "import", "-q", "-f", "-o", "no.mled", "--format", "pprof",
                 "p.pprof")
    check(done.returncode != 0, "a bad profile was imported")
    contains(done.stderr, part, "the message")
    check(not os.path.exists("no.mled"), "a trace was left behind")


def test_jax():
    with gzip.open(os.path.join(DATA, "jax_mlp.pprof")) as f:
        data = f.read()
    with open(os.path.join(DATA, "jax_mlp.truth.json")) as f:
        known = json.load(f)
    samples = [dict(read_fields(value)) for number, value in read_fields(data) if number == 2]
    total = sum(numbers(s[2])[1] for s in samples)
    trace = imported(gzip.compress(data))
    summary = report("summary", trace)
    equal(summary["live_bytes"], total, "bytes of the profile")
    check(total <= known["bytes_in_use"], "the profile has more than the device", total)
    equal(summary["allocations"], len(samples), "samples")
    equal([d["device"] for d in summary["by_device"] if d["live_bytes"]], ["cuda:0"], "devices")
    events = report("events", trace)["events"]
    equal({e["space"] for e in events}, {"buffer", "executable"}, "kinds")
    check(any(f["function"] == "init" and "jax_mlp01.py" in f["file"]
              for e in events for f in e["stack"]), "no stack leads to the program")
    equal(imported(data), trace, "the same without gzip")
    equal(report("events", trace)["events"] == events, True, "events without gzip")


def go_profile(texts_first):
    p = Profile()
    p.types(("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"),
            ("inuse_space", "bytes"))
    p.add(3, (1, 1), (2, 0x400000), (3, 0x900000), (5, p.text("/bin/server")))
    p.function(1, "main.main", "main.go")
    p.function(2, "main.load", "load.go")
    p.add(4, (1, 1), (2, 1), (3, 0x401000), (4, message((1, 1), (2, 10))))
    # load was inlined into main: the innermost line comes first.
    p.add(4, (1, 2), (2, 1), (3, 0x402000), (4, message((1, 2), (2, 77))),
          (4, message((1, 1), (2, 20))))
    p.add(2, (1, packed(2, 1)), (2, packed(9, 9000, 3, 3000)),
          (3, message((1, p.text("tenant")), (2, p.text("blue")))))
    p.add(2, (1, packed(1)), (2, packed(5, 500, 0, 0)))  # all freed
    p.body += field(9, 1700000000 * 10**9)
    return p.data(texts_first)


def test_go():
    for texts_first in (False, True):
        trace = imported(go_profile(texts_first))
        events = report("events", trace)["events"]
        equal([(e["bytes"], e["scope"]) for e in events], [(3000, "tenant=blue")], "samples")
        equal([(f["function"], f["line"]) for f in events[0]["stack"]],
              [("main.load", 77), ("main.main", 20), ("main.main", 10)], "the stack")
        equal(report("summary", trace)["start_wall_ns"], 1700000000 * 10**9, "the wall clock")


def test_addresses_without_names():
    p = Profile()
    p.types(("objects", "count"), ("space", "bytes"))
    p.add(3, (1, 7), (2, 0x10000), (3, 0x20000), (4, 0x1000), (5, p.text("/lib/libx.so")))
    p.add(4, (1, 1), (2, 7), (3, 0x11234))
    # Numbers one by one instead of packed.
    p.body += field(2, message((1, 1), (2, 1), (2, 4096)))
    trace = imported(p.data())
    events = report("events", trace)["events"]
    equal(events[0]["bytes"], 4096, "bytes")
    frame = events[0]["stack"][0]
    check("libx.so" in json.dumps(frame), "the library is not told", frame)


def test_heapprofd():
    p = Profile()
    p.types(("Total malloc count", "count"), ("Total malloc size", "bytes"),
            ("Unreleased malloc count", "count"), ("Unreleased malloc size", "bytes"))
    p.body += field(2, message((2, packed(4, 400, 1, 100))))
    equal(report("summary", imported(p.data()))["live_bytes"], 100, "what is not released")


def test_refused():
    p = Profile()
    p.types(("samples", "count"), ("cpu", "nanoseconds"))
    refused(p.data(), "only heap profiles")
    refused(go_profile(False)[:-3], "damaged")
    refused(b"\xff" * 50, "damaged")
    p = Profile()
    p.types(("space", "bytes"))
    p.body += field(2, field(2, b"\xff"))
    refused(p.data(), "a sample is damaged")


def test_sizes_that_cannot_be():
    for size, unit in (((1 << 50) + 1, "bytes"), ((1 << 30) + 1, "megabytes"), ((1 << 63) - 1, "kilobytes")):
        p = Profile()
        p.types(("space", unit))
        p.body += field(2, message((2, packed(size))))
        refused(p.data(), f"p.pprof: byte {len(p.body) - len(packed(size)) - 2}: a size that no memory has")
    p = Profile()
    p.types(("space", "megabytes"))
    p.body += field(2, message((2, packed(1 << 30))))
    equal(report("summary", imported(p.data()))["live_bytes"], 1 << 50, "the largest size that there is")


harness.main(globals())
