# optimizer_again.py: an optimizer is dropped, and one of the two that follow is where it was,
# if Python wants; it says whether. They take turns, three times.
#
# SPDX-License-Identifier: Apache-2.0
import gc

import torch

model = torch.nn.Linear(4, 4)


def optimizer():
    return torch.optim.SGD(model.parameters(), lr=0.1)


def train(*optimizers):
    for each in optimizers:
        model(torch.ones(1, 4)).sum().backward()
        each.step()


first = optimizer()
train(first)
address = id(first)
del first
gc.collect()
# Nothing but optimizers is made until one of them is there.
others = [torch.optim.SGD.__new__(torch.optim.SGD) for _ in range(10000)]
generator = next((each for each in others if id(each) == address), others[0])
generator.__init__(model.parameters(), lr=0.1)
del others
discriminator = optimizer()
for _ in range(3):
    train(generator, discriminator)
print(id(generator) == address)
