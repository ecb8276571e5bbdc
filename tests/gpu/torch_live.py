# torch_live.py: memledger starts in a process that already uses CUDA, without `memledger run`;
# its counts and its trace against PyTorch's own figures.
#
# SPDX-License-Identifier: Apache-2.0
import contextlib
import io
import json
import sys

import torch
from torch import nn
from torch_allocated import churn, train

import memledger


def main(trace):
    kept = [train(2)]  # before memledger is there
    torch.cuda.reset_peak_memory_stats()
    memledger.start(trace, force=True)
    found = [[memledger.live(), torch.cuda.memory_allocated()]]
    memledger.peak(reset=True)
    torch.cuda.reset_peak_memory_stats()
    kept += [train(3), churn(1)]
    found.append([memledger.live(), torch.cuda.memory_allocated()])
    found.append([memledger.peak(), torch.cuda.max_memory_allocated()])
    del kept[0]
    found.append([memledger.live("cuda:0"), torch.cuda.memory_allocated()])
    end = torch.cuda.memory_allocated()
    memledger.stop()
    print(json.dumps({"found": found, "end": end, "profiler": profiler()}))


def profiler():
    """Bytes of weights, gradients, feature maps and intermediates of one iteration: on a
    batch of 1,024, a hidden layer of 8 MiB and an output of 2 MiB."""
    model = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 512)).cuda()
    watch = memledger.MemoryProfiler(model)
    model(torch.randn(1024, 512, device="cuda")).pow(2).mean().backward()
    measured = watch._measure()
    with contextlib.redirect_stdout(io.StringIO()):
        watch.record_stats()
    return {name: measured[name] for name in
            ("all weights", "all gradients", "feature maps", "intermediate", "peak", "current")}


main(sys.argv[1])
