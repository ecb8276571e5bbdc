# torch_nvtx.py: a training step whose operators and ranges are NVTX's.
#
# SPDX-License-Identifier: Apache-2.0
import torch
from torch import nn


def main():
    model = nn.Sequential(nn.Conv2d(3, 16, 3), nn.ReLU()).cuda()
    x = torch.randn(8, 3, 64, 64, device="cuda")
    with torch.autograd.profiler.emit_nvtx():
        for _ in range(3):
            with torch.cuda.nvtx.range("encoder"):
                y = model(x)
            torch.cuda.nvtx.mark("forward is done")
            y.sum().backward()
    torch.cuda.synchronize()


main()
