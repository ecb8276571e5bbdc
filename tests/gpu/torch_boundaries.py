# torch_boundaries.py: training with batches of changing size. After each step there is an NVTX
# mark, and PyTorch's figures: allocated and reserved bytes, and the most allocated since the
# last mark.
#
# SPDX-License-Identifier: Apache-2.0
import json

import torch
from torch import nn

STEPS = 30


def boundary(number):
    torch.cuda.nvtx.mark(f"boundary {number}")
    stats = torch.cuda.memory_stats()
    row = {"allocated": stats["allocated_bytes.all.current"],
           "peak": stats["allocated_bytes.all.peak"],
           "reserved": torch.cuda.memory_reserved()}
    torch.cuda.reset_peak_memory_stats()
    return row


def main():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True)
    model = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    rows = [boundary(0)]
    for step in range(1, STEPS + 1):
        x = torch.randn(8 + 5 * step % 37, 64 + step, 256, device="cuda")
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            torch.cuda.empty_cache()
        rows.append(boundary(step))
    print(json.dumps(rows), flush=True)


main()
