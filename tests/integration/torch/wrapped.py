# wrapped.py: trains a model in one of the wrappers that PyTorch has, or in none, and knows nothing
# of memledger.
#
# SPDX-License-Identifier: Apache-2.0
import contextlib
import functools
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import (CheckpointImpl,
                                                                         checkpoint_wrapper)
from torch.nn.parallel import DistributedDataParallel

WIDTH = 64
STEPS = 3


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.ReLU(),
                                    nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        return x + self.layers(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Encoder(), Encoder()
        self.head = nn.Linear(WIDTH, 10)

    def forward(self, x):
        return self.head(self.second(self.first(x)))


def wrap_none(net):
    return net


def wrap_ddp(net):
    return DistributedDataParallel(net)


def wrap_part(net):
    """A child in a wrapper, and the model in no other."""
    net.first = DistributedDataParallel(net.first)
    return net


def wrap_checkpoints(net):
    wrap = functools.partial(checkpoint_wrapper, checkpoint_impl=CheckpointImpl.NO_REENTRANT)
    net.first, net.second = wrap(net.first), wrap(net.second)
    return net


def wrap_all(net):
    return DistributedDataParallel(wrap_checkpoints(net), static_graph=True)


@contextlib.contextmanager
def alone():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def main(kind):
    with alone():
        net = globals()[f"wrap_{kind}"](Net())
        optimizer = torch.optim.AdamW(net.parameters())
        for _ in range(STEPS):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(torch.randn(256, WIDTH)),
                                        torch.randint(10, (256,))).backward()
            optimizer.step()


main(sys.argv[1])
