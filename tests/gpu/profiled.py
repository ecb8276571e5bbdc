# profiled.py: a step under torch.profiler, which uses CUPTI; prints what it saw.
#
# SPDX-License-Identifier: Apache-2.0
import json

import torch
from torch.profiler import ProfilerActivity, profile


def main():
    a = torch.randn(2048, 2048, device="cuda", requires_grad=True)
    (a @ a).sum().backward()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], profile_memory=True) as p:
        for _ in range(3):
            (a @ a).relu().sum().backward()
        torch.cuda.synchronize()
    kernels = [e for e in p.events() if e.device_type == torch.autograd.DeviceType.CUDA]
    print(json.dumps({"kernels": len(kernels), "names": sorted({e.name for e in kernels})}))


main()
