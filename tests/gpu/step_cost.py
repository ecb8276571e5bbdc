# step_cost.py: the time of a training step that allocates a lot: a transformer whose layers are
# small, so that there are about 3,000 allocations per step. Prints the median in milliseconds.
#
# SPDX-License-Identifier: Apache-2.0
import json
import statistics
import sys
import time

import torch
from torch import nn

WARM_UP, STEPS = 10, 60


def main():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True)
    model = nn.TransformerEncoder(layer, 24, enable_nested_tensor=False).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), foreach=False)
    x = torch.randn(16, 256, 512, device="cuda")
    times = []
    for step in range(WARM_UP + STEPS):
        began = time.perf_counter()
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
        torch.cuda.synchronize()
        if step >= WARM_UP:
            times.append(1e3 * (time.perf_counter() - began))
    asked = torch.cuda.memory_stats().get("allocation.all.allocated", 0) if "native" in sys.argv else 0
    print(json.dumps({"median_ms": statistics.median(times), "fastest_ms": min(times),
                      "allocations_a_step": asked // (WARM_UP + STEPS)}))


main()
