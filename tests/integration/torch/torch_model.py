# torch_model.py: an ordinary training script, without memledger. It prints the memory of its
# modules by its own count.
#
# SPDX-License-Identifier: Apache-2.0
import json

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

STEPS = 3
WIDTH = 64
BATCH = 1024  # activations are most of the peak


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        return x + self.mlp(self.norm(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(WIDTH))
        self.blocks = nn.ModuleList(Block() for _ in range(3))
        self.head = nn.Linear(WIDTH, 10)

    def forward(self, x):
        x = x * self.scale
        for i, block in enumerate(self.blocks):
            x = checkpoint(block, x) if i == 1 else block(x)
        return self.head(x)


def size(tensor):
    return tensor.numel() * tensor.element_size()


def held(optimizer, module):
    """What belongs to a module itself at the end, by category."""
    own = list(module.parameters(recurse=False))
    state = [v for p in own for v in optimizer.state[p].values() if torch.is_tensor(v)]
    return {
        "parameter": sum(map(size, own)),
        "buffer": sum(map(size, module.buffers(recurse=False))),
        "gradient": sum(size(p.grad) for p in own),
        "optimizer_state": sum(map(size, state)),
    }


def main():
    net, loss = Net(), nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(net.parameters())
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss(net(torch.randn(BATCH, WIDTH)), torch.randint(0, 10, (BATCH,))).backward()
        optimizer.step()
    print(json.dumps({name: held(optimizer, module) for name, module in net.named_modules()}),
          flush=True)


main()
