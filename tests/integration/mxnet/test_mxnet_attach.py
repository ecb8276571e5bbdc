#!/usr/bin/env python3
# test_mxnet_attach.py: memledger attach to a program with MXNet: arrays that exist already, and
# those of later recordings of the same process. The real wheels, from PyPI.
#
# SPDX-License-Identifier: Apache-2.0
import os
import random
import time

import harness
from attaching import Asked, begin, end
from harness import check, equal
from mxnet_run import IS_2, python

HERE = os.path.dirname(os.path.abspath(__file__))


class Program(Asked):
    """holds_arrays.py, without memledger. Its answers are the bytes of its arrays."""

    def __init__(self):
        super().__init__(python(), f"{HERE}/holds_arrays.py")

    def record(self, *requests):
        """@return the live bytes of MXNet at the end of a recording, and the program's own"""
        attached = begin(self.process.pid)
        own = self.ask(*requests)
        end(attached)
        equal(harness.report("summary", "t.mled")["health"]["unknown_frees"], 0, "unknown frees")
        return live_bytes(), own


def blocks():
    """The blocks of MXNet's arrays that are live at the end."""
    found = harness.report("blocks", "t.mled", "--at", "end", "--device", "cpu", "--top", "10000")
    return [b for b in found["list"] if b["space"] == "mxnet"]


def live_bytes():
    return sum(b["bytes"] for b in blocks())


def labels():
    """(label, category) -> bytes."""
    found = {}
    for block in blocks():
        key = block["label"], block["category"]
        found[key] = found.get(key, 0) + block["bytes"]
    return found


def test_again():
    """Each recording begins with the arrays of its time, whatever happened between two."""
    p = Program()
    p.ask("plain a 1000", "numpy b 2000", "plain c 10")
    equal(p.record("plain d 100", "drop a"), (8440, 8440), "the first recording")
    p.ask("drop b", "plain e 5000")
    equal(p.record("plain f 20", "drop c", "drop d"), (20080, 20080), "the second recording")
    p.ask("drop e", "drop f")
    equal(p.record("grad g 30"), (240, 240), "the third recording")
    p.end()


def test_kinds():
    """Each block counts once; memory that is not MXNet's does not count."""
    for request, wanted in (("views a 1000", 4000), ("foreign a 1000", 0), ("grad a 1000", 8000),
                            ("sparse a 5", 5 * 10 * 4 + 5 * 8)):
        p = Program()
        p.ask(request, "plain b 10")
        equal(p.record("nothing")[0], wanted + 40, request, blocks())
        equal(p.record("drop a")[0], 40, f"{request}, dropped")
        p.end()


def test_pending():
    """Arrays that the engine has yet to compute: attach does not wait, and their memory is
    recorded when they get it."""
    p = Program()
    p.ask("pending a 1000")
    attached = begin(p.process.pid)
    p.ask("wait")
    p.ask("wait")
    end(attached)
    sizes = sorted(b["bytes"] for b in blocks())
    equal(sizes, [4000, 1500 * 1500 * 4], "blocks")
    p.end()


def test_dying():
    """An array whose memory is free already, while its __del__ still runs."""
    p = Program()
    p.ask("plain a 1000", "die 100000")
    equal(p.record("nothing"), (4000, 4000), "without the dead one")
    p.end()


def test_names():
    """Parameters, gradients and the state of optimizers have their names at once."""
    p = Program()
    p.ask("training net 10")
    p.record("nothing")
    found = labels()
    kinds = {category: sum(size for (_, c), size in found.items() if c == category)
             for category in ("parameter", "gradient", "optimizer_state")}
    size = 4 * (100 * 10 + 10)
    equal(kinds, {"parameter": size, "gradient": size, "optimizer_state": 2 * size}, "bytes", found)
    names = sorted(name for name, category in found if category == "parameter")
    equal(names, ["bias", "weight"] if IS_2 else ["dense0_bias", "dense0_weight"], "parameters")
    check(any(name.endswith("weight.mean") for name, _ in found), "optimizer state", found)
    p.end()


def test_module():
    """The executors of MXNet 1's Module."""
    if IS_2:
        return
    p = Program()
    p.ask("module m 10")
    p.record("nothing")
    found = labels()
    size = 4 * 100 * 10
    equal(found["fc_weight", "gradient"], size, "gradient", found)
    equal(found["fc_weight", "parameter"], 2 * size, "of the executor and the Module's copy", found)
    equal(found["fc_weight.momentum", "optimizer_state"], size, "state", found)
    equal(found["data", "input"], 4 * 4 * 100, "input", found)
    p.end()


def test_running():
    """Attach to a training at any moment: between two steps it has only what lasts."""
    p = Asked(python(), f"{HERE}/trains_on.py", first="stop")
    for _ in range(4):
        print(file=p.process.stdin, flush=True)
        time.sleep(random.random() / 10)  # any moment will do
        attached = begin(p.process.pid)
        p.ask("stop")
        print(file=p.process.stdin, flush=True)
        own = p.ask("stop")  # after four steps, all of them in the recording
        end(attached)
        found = harness.report("summary", "t.mled")
        equal((found["live_bytes"], found["health"]["unknown_frees"]), (own, 0), "live bytes")
        equal({category for _, category in labels()},
              {"parameter", "gradient", "optimizer_state"}, "categories")
    p.end()


if __name__ == "__main__":
    harness.main(globals())
