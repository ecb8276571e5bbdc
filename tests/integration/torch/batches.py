# batches.py: a program that trains with batches from two workers, as people write it, without
# memledger. It prints the bytes of its batches, and marks the moment when it has only the last one
# by a block of MARKER_BYTES.
#
# SPDX-License-Identifier: Apache-2.0
import json
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

MARKER_BYTES = 1004
BATCH, BATCHES, EPOCHS = 16, 6, 2


class Images(Dataset):
    def __len__(self):
        return BATCH * BATCHES

    def __getitem__(self, place):
        generator = torch.Generator().manual_seed(place)
        return {"image": torch.randn(3, 32, 32, generator=generator), "target": place % 10}


def main():
    torch.multiprocessing.set_sharing_strategy(sys.argv[1])
    loader = DataLoader(Images(), batch_size=BATCH, num_workers=2)
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 30 * 30, 10))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for _ in range(EPOCHS):
        for batch in loader:
            loss = nn.functional.cross_entropy(model(batch["image"]), batch["target"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    marker = torch.empty(MARKER_BYTES, dtype=torch.uint8)
    print(json.dumps({name: tensor.numel() * tensor.element_size()
                      for name, tensor in batch.items()} | {"batches": BATCHES * EPOCHS}),
          flush=True)
    del marker


if __name__ == "__main__":
    main()
