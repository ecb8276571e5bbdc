# batch_objects.py: a program whose models take objects with tensors, without memledger: a batch that
# can be moved, a dataclass, a named tuple. It marks the moment when all are there by a block of
# MARKER_BYTES, and prints the bytes of the tensors by name.
#
# SPDX-License-Identifier: Apache-2.0
import collections
import dataclasses
import json

import torch
from torch import nn

MARKER_BYTES = 1004


class Store:
    def __init__(self, **tensors):
        self.mapping = tensors

    def to(self, device):
        return Store(**{name: tensor.to(device) for name, tensor in self.mapping.items()})


class Graphs:
    """As torch-geometric does it: the tensors are in a store of its own."""

    def __init__(self, store):
        self.store = store

    def to(self, device):
        return Graphs(self.store.to(device))


@dataclasses.dataclass
class Words:
    ids: torch.Tensor
    weights: dict


Pair = collections.namedtuple("Pair", "left right")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, graphs, words, pair, other):
        assert other is self.linear  # a module is no batch
        sum_of_words = words.ids.sum() + words.weights["of_words"].sum()
        return self.linear(graphs.store.mapping["nodes"]).sum() + sum_of_words + pair.left.sum()


def main():
    net = Net()
    graphs = Graphs(Store(nodes=torch.ones(100, 8))).to("cpu")
    words = Words(torch.ones(300), {"of_words": torch.ones(400)})
    pair = Pair(torch.ones(500), torch.ones(600))
    net(graphs, words, pair, net.linear).backward()
    marker = torch.empty(MARKER_BYTES, dtype=torch.uint8)
    print(json.dumps({"nodes": 3200, "ids": 1200, "of_words": 1600, "input.2.0": 2000,
                      "input.2.1": 2400}), flush=True)
    del marker


if __name__ == "__main__":
    main()
