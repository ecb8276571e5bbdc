# optimizer_again.py: an optimizer is dropped, and one of the two that follow is where it was.
# They take turns, three times.
#
# SPDX-License-Identifier: Apache-2.0
import gc

import torch

model = torch.nn.Linear(4, 4)


class Wide(torch.optim.SGD):
    """Of a size that no other object has, so that none takes its place."""
    __slots__ = tuple(f"slot{i}" for i in range(40))


def optimizer():
    return Wide(model.parameters(), lr=0.1)


def train(*optimizers):
    for each in optimizers:
        model(torch.ones(1, 4)).sum().backward()
        each.step()


first = optimizer()
train(first)
address = id(first)
del first
gc.collect()
others = [Wide.__new__(Wide) for _ in range(1000)]
generator = next(each for each in others if id(each) == address)
generator.__init__(model.parameters(), lr=0.1)
del others
discriminator = optimizer()
for _ in range(3):
    train(generator, discriminator)
print(id(generator) == address)
