# lightning_loops.py: Lightning's trainer with automatic and manual optimization, accumulated
# gradients and validation, without memledger. Prints one line of JSON.
#
# SPDX-License-Identifier: Apache-2.0
import json
import logging
import os
import warnings

import lightning as L
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

KEPT = []


class LitClassifier(L.LightningModule):
    def __init__(self, automatic):
        super().__init__()
        self.automatic_optimization = automatic
        self.encoder = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU())
        self.head = nn.Linear(512, 10)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self.head(self.encoder(x)), y)
        if not self.automatic_optimization:
            optimizer = self.optimizers()
            optimizer.zero_grad()
            self.manual_backward(loss)
            optimizer.step()
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val_loss", F.cross_entropy(self.head(self.encoder(x)), y))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)

    def _register_sharded_tensor_state_dict_hooks_if_available(self):
        """Imports a part of PyTorch 1.13 that does not work with Python 3.11, and does nothing with
        newer ones."""


def fit(automatic, accumulate):
    data = TensorDataset(torch.randn(2048, 64), torch.randint(0, 10, (2048,)))
    trainer = L.Trainer(accelerator="cpu", max_epochs=2, accumulate_grad_batches=accumulate,
                        logger=False, enable_checkpointing=False, enable_progress_bar=False,
                        enable_model_summary=False)
    trainer.fit(LitClassifier(automatic), DataLoader(data, batch_size=512),
                DataLoader(data, batch_size=1024))
    KEPT.append(trainer)
    return trainer.global_step


def main():
    warnings.filterwarnings("ignore")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    steps = [fit(True, 1), fit(False, 1), fit(True, 2)]
    print(json.dumps({"global_steps": steps}), flush=True)
    os._exit(0)


main()
