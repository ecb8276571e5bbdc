# trains_again.py: trains the same model again and again, until standard input ends, and prints a
# digest of the weights each time. For ../test_attach_moments.py.
#
# SPDX-License-Identifier: Apache-2.0
import hashlib
import sys

import torch


def train(steps):
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(steps):
        loss = torch.nn.functional.cross_entropy(model(torch.randn(32, 64)),
                                                 torch.randint(10, (32,)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    digest = hashlib.sha256()
    for parameter in model.parameters():
        digest.update(parameter.detach().numpy().tobytes())
    return digest.hexdigest()


torch.set_num_threads(2)
print(train(100), flush=True)
for line in sys.stdin:
    print(train(int(line)), flush=True)
