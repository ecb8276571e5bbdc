# keeps_losses.py: trains for twelve steps. With "tensors" it keeps each step's loss, and with
# it the graph; with "detached" the loss alone, with "numbers" only its value. Then it evaluates.
#
# SPDX-License-Identifier: Apache-2.0
import sys

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters())
losses = []
for _ in range(12):
    x = torch.randn(32, 64)
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
    losses.append({"tensors": loss, "detached": loss.detach(), "numbers": loss.item()}[sys.argv[1]])
with torch.no_grad():
    model(torch.randn(16, 64))
