# attach_rounds.py cupy|jax|torch: allocates on the GPU in rounds until standard input ends, for the
# check attach_driver. Each round makes the driver allocate and free, and computes the same result.
# For each line that it reads it stops between two rounds, prints what it has done, and goes on at
# the next line.
#
# SPDX-License-Identifier: Apache-2.0
import json
import math
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))

from line_reader import Lines

HELD = 16
MIB = 1 << 20


class Cupy:
    """The driver's allocations of its own; CuPy's pool takes no more once it is warm."""

    counted_bytes = 24 * MIB

    def __init__(self):
        import cupy
        self.cupy = cupy
        self.matrix = cupy.arange(1024 * 1024, dtype=cupy.float32).reshape(1024, 1024) % 7
        self.held = [self._allocate() for _ in range(HELD)]
        self.allocations = HELD

    def _allocate(self):
        return self.cupy.cuda.runtime.malloc(self.counted_bytes)

    def round(self):
        self.cupy.cuda.runtime.free(self.held.pop(0))
        self.held.append(self._allocate())
        self.allocations += 1
        return float((self.matrix @ self.matrix.T).sum())


class Jax:
    """Each array is an allocation of the driver: virtual memory, which the book has at its handle,
    at its address once it is mapped, and at its handle again when it is unmapped. It has no handle
    of arrays that are older than the recording."""

    counted_bytes = 28 * MIB
    events_each = 3
    older = HELD

    def __init__(self):
        os.environ["XLA_PYTHON_CLIENT_ALLOCATOR"] = "platform"
        import jax
        import numpy
        self.jax = jax
        self.host = numpy.ones(self.counted_bytes // 4, numpy.float32)
        self.total = jax.jit(lambda x: (x * 2).sum())
        self.held = [jax.device_put(self.host) for _ in range(HELD)]
        self.allocations = HELD

    def round(self):
        self.held.pop(0).delete()
        self.held.append(self.jax.device_put(self.host).block_until_ready())
        self.allocations += 1
        return float(self.total(self.held[-1]))


class Torch:
    """A step of training; the allocator gives its memory back after each."""

    counted_bytes = 0  # all

    def __init__(self):
        import torch
        from torch import nn
        self.torch = torch
        torch.manual_seed(1)
        layers = [nn.Sequential(nn.Linear(1024, 1024), nn.GELU()) for _ in range(8)]
        self.model = nn.Sequential(*layers).cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.0)
        self.batch = torch.randn(2048, 1024, device="cuda")

    @property
    def allocations(self):
        return self.torch.cuda.memory_stats()["num_device_alloc"]

    def round(self):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.model(self.batch).pow(2).mean()
        loss.backward()
        self.optimizer.step()
        result = loss.item()
        del loss
        self.torch.cuda.synchronize()
        self.torch.cuda.empty_cache()
        return result


def main():
    work = {"cupy": Cupy, "jax": Jax, "torch": Torch}[sys.argv[1]]()
    first = work.round()
    rounds = wrong = 0
    lines = Lines()
    while True:
        wrong += not math.isclose(work.round(), first, rel_tol=1e-4)
        rounds += 1
        line = lines.poll()
        if line is None:
            continue
        if not line:
            break
        print(json.dumps({"allocations": work.allocations, "counted_bytes": work.counted_bytes,
                          "events_each": getattr(work, "events_each", 1),
                          "older": getattr(work, "older", 0), "rounds": rounds, "wrong": wrong,
                          "wall_ns": time.time_ns()}), flush=True)
        if not lines.next():
            break
    sys.exit(1 if wrong else 0)


main()
