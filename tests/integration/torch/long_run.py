# long_run.py STEPS [DEVICE]: trains a small network for a long time. Prints the host memory of
# the process at the end, as RSS and as PSS without files, and how much of it came after the
# first tenth. The pages of a library that other programs use too count less in PSS, so that it
# depends on what else runs; memory that is shared with the collector counts half.
#
# SPDX-License-Identifier: Apache-2.0
import json
import sys

import torch
from torch import nn


def memory():
    """{"rss": bytes, "pss": bytes} of this process."""
    kinds = {"Rss": "rss", "Pss_Anon": "pss", "Pss_Shmem": "pss"}
    found = {"rss": 0, "pss": 0}
    with open("/proc/self/smaps_rollup") as f:
        for line in f:
            word, _, rest = line.partition(":")
            if word in kinds:
                found[kinds[word]] += int(rest.split()[0]) << 10
    return found


def main():
    steps, device = int(sys.argv[1]), (sys.argv + ["cpu"])[2]
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4)).to(device)
    optimizer = torch.optim.Adam(model.parameters())
    early = None
    for step in range(steps):
        optimizer.zero_grad()
        model(torch.randn(8, 16, device=device)).square().mean().backward()
        optimizer.step()
        if step == steps // 10:
            early = memory()
    late = memory()
    print(json.dumps({**late, "grown": late["rss"] - early["rss"]}))


main()
