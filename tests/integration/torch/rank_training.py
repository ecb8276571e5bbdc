# rank_training.py: training on several ranks as users of torchrun, mpirun or srun write it, without
# memledger. Arguments plant faults: a rank with longer sequences, one that keeps its outputs,
# one with another module, one that ends early.
#
# SPDX-License-Identifier: Apache-2.0
import argparse
import os
import signal

import torch
import torch.distributed as dist
from torch import nn

VOCABULARY, WIDTH, LAYERS, BATCH, LENGTH = 512, 128, 4, 4, 64


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(),
                                 nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        return x + self.mlp(self.norm(x))


class Model(nn.Module):
    def __init__(self, extra):
        super().__init__()
        self.tok = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.ModuleList(Block() for _ in range(LAYERS))
        self.extra = nn.Linear(WIDTH, WIDTH * 16) if extra else None
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, x):
        x = self.tok(x)
        for layer in self.layers:
            x = layer(x)
        if self.extra is not None:
            self.extra(x)
        return self.head(x)


def place():
    """The rank and the number of ranks, from whichever launcher started this process."""
    for rank, size in (("RANK", "WORLD_SIZE"), ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
                       ("SLURM_PROCID", "SLURM_NTASKS")):
        if rank in os.environ:
            return int(os.environ[rank]), int(os.environ[size])
    return 0, 1


def wrap(model, how):
    if how == "ddp":
        return nn.parallel.DistributedDataParallel(model)
    if how == "fsdp1":
        from torch.distributed.fsdp import FullyShardedDataParallel
        return FullyShardedDataParallel(model, device_id=torch.device("cpu"))
    if how == "fsdp2":
        from torch.distributed.fsdp import fully_shard
        for layer in model.layers:
            fully_shard(layer)
        fully_shard(model)
    return model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wrap", default="ddp", choices=("ddp", "fsdp1", "fsdp2", "none"))
    parser.add_argument("--steps", type=int, default=10)
    for fault in ("long", "leak", "extra", "kill"):
        parser.add_argument(f"--{fault}", type=int, default=-1, metavar="RANK")
    arguments = parser.parse_args()
    rank, size = place()
    torch.manual_seed(rank)
    torch.set_num_threads(1)
    if arguments.wrap != "none":
        os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
        os.environ.setdefault("MASTER_PORT", "29611")
        dist.init_process_group("gloo", rank=rank, world_size=size)
    model = wrap(Model(extra=rank == arguments.extra), arguments.wrap)
    optimizer = torch.optim.AdamW(model.parameters())
    length = LENGTH * (3 if rank == arguments.long else 1)
    outputs = []
    for step in range(arguments.steps):
        if rank == arguments.kill and step == arguments.steps // 2:
            os.kill(os.getpid(), signal.SIGKILL)
        x = torch.randint(VOCABULARY, (BATCH, length))
        output = model(x)
        nn.functional.cross_entropy(output.flatten(0, 1), x.flatten()).backward()
        optimizer.step()
        optimizer.zero_grad()
        if rank == arguments.leak:
            outputs.append(output)
    if arguments.wrap != "none":
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
