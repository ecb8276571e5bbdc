# keeps_outputs.py: trains for eight steps, then evaluates and keeps every output with its graph.
#
# SPDX-License-Identifier: Apache-2.0
import time

import torch
from torch import nn

torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for step in range(8):
    loss = model(torch.randn(128, 64)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

outputs = []
for batch in range(100):
    outputs.append(model(torch.randn(128, 64)))
    time.sleep(0.005)  # reading the next batch
print(torch.cat(outputs).mean().item())
