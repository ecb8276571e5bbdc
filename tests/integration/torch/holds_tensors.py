# holds_tensors.py: holds tensors as standard input says, one line after the other: "hold NAME
# FLOATS", "train NAME" (a layer with gradients), "steps N" (of an optimizer), "number N" (the
# program marks step N), "drop NAME", "rest" (in one system call, until a FIFO of that name is
# opened), "count". Answers each with the bytes that memledger.live() counts, or 0.
# With an argument, the first import of that module makes a file "waits" and waits for a file "go".
# For test_torch_attach*.py.
#
# SPDX-License-Identifier: Apache-2.0
import os
import sys
import time

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from line_reader import Lines

held = {}
counts = False


class Waits:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            open("waits", "w").close()
            while not os.path.exists("go"):
                time.sleep(0.005)
        return None


def counted():
    import memledger
    return memledger.live("cpu")


def make_steps(count):
    if "layer" not in held:
        held["layer"] = torch.nn.Linear(100, 10)
        held["optimizer"] = torch.optim.SGD(held["layer"].parameters(), lr=0.1)
    for _ in range(count):
        held["optimizer"].zero_grad()
        held["layer"](torch.zeros(1, 100)).sum().backward()
        held["optimizer"].step()


if sys.argv[1:]:
    sys.meta_path.insert(0, Waits())
lines = Lines()
while words := lines.next().split():
    if words[0] == "hold":
        held[words[1]] = torch.zeros(int(words[2]))
    elif words[0] == "train":
        held[words[1]] = torch.nn.Linear(100, 10)
        held[words[1]](torch.zeros(1, 100)).sum().backward()
    elif words[0] == "steps":
        make_steps(int(words[1]))
    elif words[0] == "number":
        import memledger
        memledger.step(int(words[1]))
    elif words[0] == "drop":
        del held[words[1]]
    elif words[0] == "rest":
        with open("rest"):
            pass
    counts = counts or words[0] == "count"
    print(counted() if counts else 0, flush=True)
