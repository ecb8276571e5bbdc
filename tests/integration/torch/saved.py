# saved.py MODEL: the bytes that autograd keeps for the backward pass of one step, without
# parameters and inputs, by PyTorch's hooks for saved tensors.
#
# SPDX-License-Identifier: Apache-2.0
import json
import sys

import torch
from torch import nn

import models
import told


def address(tensor):
    return getattr(tensor, "untyped_storage", tensor.storage)().data_ptr()


def main():
    model, data = models.build(sys.argv[1])
    x, y = data()
    ours = {address(t) for t in (x, y, *model.parameters(), *model.buffers())}
    saved = {}

    def keep(tensor):
        if address(tensor) not in ours:
            saved[address(tensor)] = told.storage_bytes(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        loss = nn.CrossEntropyLoss()(model(x), y)
    loss.backward()
    print(json.dumps(sum(saved.values())))


main()
