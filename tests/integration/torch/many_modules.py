# many_modules.py: makes small modules, calls each and drops it, beside a model that stays.
#
#     many_modules.py COUNT [optimizer]
#
# With an optimizer, which makes no step. Every hundredth module is kept for a while, so that
# modules are not always in the same place. Says in one line of JSON by how many KiB it and the
# collector, if there is one, have grown between a fifth of the modules and the last.
#
# SPDX-License-Identifier: Apache-2.0
import collections
import json
import os
import sys

import torch


def resident_kib(pid):
    with open(f"/proc/{pid}/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS"))


def collectors():
    """Other processes of the one that started this."""
    with open(f"/proc/{os.getppid()}/task/{os.getppid()}/children") as f:
        return [pid for pid in f.read().split() if int(pid) != os.getpid()]


def sizes(others):
    return [resident_kib(pid) for pid in ["self", *others]]


count = int(sys.argv[1])
others = collectors() if "MEMLEDGER_SESSION" in os.environ else []
model = torch.nn.Linear(4, 4)
data = torch.ones(1, 4)
model(data)
if "optimizer" in sys.argv:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
kept = collections.deque(maxlen=50)
with torch.no_grad():
    for i in range(1, count + 1):
        module = torch.nn.Linear(4, 4)
        module(data)
        if i % 100 == 0:
            kept.append(module)
        if i == count // 5:
            before = sizes(others)
print(json.dumps([b - a for a, b in zip(before, sizes(others))]))
