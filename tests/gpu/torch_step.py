# torch_step.py: a few training steps with convolutions, matrix products and a
# Fourier transform, so that cuDNN, cuBLAS and cuFFT all take their part.
#
# SPDX-License-Identifier: Apache-2.0
import json

import torch
from torch import nn

STEPS = 5


class Spectrum(nn.Module):
    def forward(self, x):
        return torch.fft.rfft2(x).abs()


def main():
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 128, 3, stride=2, padding=1),
        nn.ReLU(), Spectrum(), nn.Flatten(), nn.Linear(128 * 32 * 17, 2048), nn.ReLU(),
        nn.Linear(2048, 1000)).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(STEPS):
        x = torch.randn(64, 3, 64, 64, device="cuda")
        y = torch.randint(0, 1000, (64,), device="cuda")
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    torch.cuda.synchronize()
    print(json.dumps({"allocated": torch.cuda.memory_allocated(),
                      "reserved": torch.cuda.memory_reserved(),
                      "peak_reserved": torch.cuda.max_memory_reserved(),
                      "loss": loss.item()}))


main()
