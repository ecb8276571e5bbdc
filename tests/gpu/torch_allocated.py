# torch_allocated.py: blocks of PyTorch's CUDA allocator in all sizes, from threads and streams,
# freed and allocated again, and one that is too large; then PyTorch's figures. Exits without
# freeing the live blocks.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import threading

import torch
from torch import nn

TOO_LARGE = 1 << 50


def train(steps):
    model = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 512)).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for i in range(steps):
        loss = model(torch.randn(64 + i, 512, device="cuda")).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model, optimizer


def churn(seed):
    """Many sizes, in an order of its own; a few are kept."""
    kept = []
    for i in range(500):
        size = (seed * 7919 + i * 104729) % 4_000_000 + 1
        kept.append(torch.empty(size, dtype=torch.uint8, device="cuda"))
        if len(kept) > 20:
            del kept[i % 20]
    return kept


def on_another_stream():
    """Freed while another stream still uses it."""
    stream, shared = torch.cuda.Stream(), torch.ones(1 << 20, device="cuda")
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(100):
            shared.mul_(1.0001)
    shared.record_stream(stream)


def out_of_memory():
    """Refused by PyTorch itself: the driver would first give all it has."""
    torch.cuda.set_per_process_memory_fraction(0.9)
    try:
        torch.empty(TOO_LARGE, dtype=torch.uint8, device="cuda")
    except torch.cuda.OutOfMemoryError:
        return
    raise SystemExit("there was memory for it")


def main():
    kept = [train(5)]
    threads = [threading.Thread(target=lambda i=i: kept.append(churn(i))) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    kept.append(torch.empty(3 << 30, dtype=torch.uint8, device="cuda"))
    del kept[-1]
    on_another_stream()
    torch.cuda.empty_cache()
    out_of_memory()
    kept.append(churn(5))
    torch.cuda.synchronize()
    stats = torch.cuda.memory_stats()
    print(json.dumps({
        "allocated": torch.cuda.memory_allocated(),
        "peak_allocated": torch.cuda.max_memory_allocated(),
        "reserved": torch.cuda.memory_reserved(),
        "allocations": stats["allocation.all.allocated"],
        "frees": stats["allocation.all.freed"],
        "refused": TOO_LARGE,
    }), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
