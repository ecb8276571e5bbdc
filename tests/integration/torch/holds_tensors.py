# holds_tensors.py: holds tensors as standard input says, one line after the other: "hold NAME
# FLOATS", "train NAME" (a layer with gradients), "drop NAME", "count". Answers each with the bytes that memledger.live() counts, or 0.
# With an argument, the first import of that module makes a file "waits" and waits for a file "go".
# For test_torch_attach.py.
#
# SPDX-License-Identifier: Apache-2.0
import collections
import os
import sys
import threading
import time

import torch

lines = collections.deque()
held = {}
counts = False


def read():
    for line in sys.stdin:
        lines.append(line.split())
    lines.append(None)


def next_line():
    """Waits in Python, so that the interpreter's main thread stays reachable."""
    while not lines:
        time.sleep(0.005)
    return lines.popleft()


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


if sys.argv[1:]:
    sys.meta_path.insert(0, Waits())
threading.Thread(target=read, daemon=True).start()
while words := next_line():
    if words[0] == "hold":
        held[words[1]] = torch.zeros(int(words[2]))
    elif words[0] == "train":
        held[words[1]] = torch.nn.Linear(100, 10)
        held[words[1]](torch.zeros(1, 100)).sum().backward()
    elif words[0] == "drop":
        del held[words[1]]
    counts = counts or words[0] == "count"
    print(counted() if counts else 0, flush=True)
