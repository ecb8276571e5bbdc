# ranks.py: training on several ranks, each case as a user of torchrun writes it, without memledger.
# Rank 0 prints the shapes of the model's parameters before they are distributed. The environment
# variable TRAINING_DEVICE names a device other than the host.
#
# SPDX-License-Identifier: Apache-2.0
import functools
import json
import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, Dataset, DistributedSampler

STEPS = 3
WIDTH, CLASSES, LENGTH = 128, 512, 64
MARKER_BYTES = 1004
DEVICE = torch.device(os.environ.get("TRAINING_DEVICE", "cpu"))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(WIDTH, 4 * WIDTH)
        self.fc2 = nn.Linear(4 * WIDTH, 4 * WIDTH)
        self.fc3 = nn.Linear(4 * WIDTH, 16)

    def forward(self, x):
        return self.fc3(torch.relu(self.fc2(torch.relu(self.fc1(x)))))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.attn = nn.MultiheadAttention(WIDTH, 4, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(),
                                 nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        h = self.norm(x)
        x = x + self.attn(h, h, h, need_weights=False)[0]
        return x + self.mlp(x)


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(CLASSES, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(3))
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, x):
        x = self.tok(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x).flatten(0, 1)


class Samples(Dataset):
    def __len__(self):
        return STEPS * 2 * 256

    def __getitem__(self, i):
        return torch.full((WIDTH,), i / len(self)), i % 16


def vectors():
    data = Samples()
    yield from DataLoader(data, batch_size=256, sampler=DistributedSampler(data))


def tokens():
    for _ in range(STEPS):
        x = torch.randint(CLASSES, (16, LENGTH), device=DEVICE)
        yield x, x.flatten()


def ddp(**options):
    model = tell(Net())
    model = nn.parallel.DistributedDataParallel(model, bucket_cap_mb=1, **options)
    return model, torch.optim.AdamW(model.parameters()), vectors()


def ddp_view():
    return ddp(gradient_as_bucket_view=True)


def fsdp2():
    from torch.distributed.fsdp import fully_shard
    with torch.device("meta"):
        model = GPT()
    tell(model, "meta")
    mesh = dist.device_mesh.init_device_mesh(DEVICE.type, (dist.get_world_size(),))
    for block in model.blocks:
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)
    model.to_empty(device=DEVICE)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.02)
    return model, torch.optim.AdamW(model.parameters()), tokens()


def fsdp1(**options):
    from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import (
        CheckpointImpl, apply_activation_checkpointing, checkpoint_wrapper)
    from torch.distributed.fsdp import FullyShardedDataParallel
    from torch.distributed.fsdp.wrap import transformer_auto_wrap_policy
    policy = functools.partial(transformer_auto_wrap_policy, transformer_layer_cls={Block})
    model = FullyShardedDataParallel(tell(GPT()), auto_wrap_policy=policy,
                                     device_id=DEVICE, **options)
    apply_activation_checkpointing(
        model, check_fn=lambda module: isinstance(module, Block),
        checkpoint_wrapper_fn=functools.partial(checkpoint_wrapper,
                                                checkpoint_impl=CheckpointImpl.NO_REENTRANT))
    return model, torch.optim.SGD(model.parameters(), 0.1, momentum=0.9), tokens()


def fsdp1_original():
    return fsdp1(use_orig_params=True)


def tensor_parallel():
    from torch.distributed.tensor.parallel import (ColwiseParallel, RowwiseParallel,
                                                   parallelize_module)
    mesh = dist.device_mesh.init_device_mesh(DEVICE.type, (dist.get_world_size(),))
    model = parallelize_module(tell(Net()), mesh,
                               {"fc1": ColwiseParallel(), "fc2": RowwiseParallel()})
    return model, torch.optim.AdamW(model.parameters(), foreach=False), vectors()


def tell(model, device=DEVICE):
    if dist.get_rank() == 0:
        print(json.dumps({name: list(p.shape) for name, p in model.named_parameters()}))
    return model.to(device)


def train(model, optimizer, batches):
    loss = nn.CrossEntropyLoss()
    for x, y in batches:
        optimizer.zero_grad()
        loss(model(x.to(DEVICE)), y.to(DEVICE)).backward()
        optimizer.step()


def main(case):
    dist.init_process_group("gloo" if DEVICE.type == "cpu" else "nccl")
    torch.manual_seed(0)
    model, optimizer, batches = globals()[case]()
    train(model, optimizer, batches)
    dist.barrier()
    torch.empty(MARKER_BYTES, dtype=torch.uint8)  # all have their gradients and state
    dist.barrier()
    dist.destroy_process_group()


main(sys.argv[1])
