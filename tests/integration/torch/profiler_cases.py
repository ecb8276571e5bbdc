# profiler_cases.py: training loops with MemoryProfiler, as users write them. Prints what each
# found as JSON.
#
# SPDX-License-Identifier: Apache-2.0
import contextlib
import copy
import functools
import io
import json
import threading

import memledger
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint, checkpoint_sequential


def mlp():
    """Batches of 400: hidden layers 400,000 bytes each, output 200,000."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(125, 250), nn.ReLU(), nn.Linear(250, 250), nn.ReLU(),
                         nn.Linear(250, 125))


def train(model, batch, call=None, optimizer=None, steps=2, **options):
    """The figures of the last step, unrounded."""
    watch = memledger.MemoryProfiler(model, **options)
    for _ in range(steps):
        if optimizer:
            optimizer.zero_grad(set_to_none=True)
        (call or model)(batch).pow(2).mean().backward()
        if optimizer:
            optimizer.step()
        found = watch._measure()
        with contextlib.redirect_stdout(io.StringIO()):
            watch.record_stats()
    return found


def checkpoints():
    """The same model with and without checkpoints, around it and around its parts."""
    found = {}
    for name in ("none", "reentrant", "other", "sequential"):
        model = mlp()
        call = {"none": model,
                "reentrant": lambda x, m=model: checkpoint(m, x, use_reentrant=True),
                "other": lambda x, m=model: checkpoint(m, x, use_reentrant=False),
                "sequential": lambda x, m=model: checkpoint_sequential(m, 2, x)}[name]
        measured = train(model, torch.randn(400, 125, requires_grad=True), call, layers=True)
        found[name] = {key: measured[key] for key in ("feature maps", "intermediate", "layers")}
    return found


class Block(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, 4, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(),
                                 nn.Linear(4 * width, width))

    def forward(self, x):
        y = self.norm(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.mlp(x)


class Transformer(nn.Module):
    """Checkpoints each block, as gradient_checkpointing of transformers does."""

    def __init__(self, reentrant=None):
        super().__init__()
        self.embed = nn.Embedding(100, 64)
        self.blocks = nn.ModuleList(Block() for _ in range(4))
        self.run = (lambda block, x: block(x)) if reentrant is None else functools.partial(
            checkpoint, use_reentrant=reentrant)

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = self.run(block.__call__, x)
        return x


def transformers():
    tokens = torch.zeros(4, 64, dtype=torch.long)
    found = {}
    for name, reentrant in (("none", None), ("reentrant", True), ("other", False)):
        torch.manual_seed(0)
        measured = train(Transformer(reentrant), tokens)
        found[name] = [measured["feature maps"], measured["intermediate"]]
    return found


class Residual(nn.Module):
    def __init__(self, width, planes, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(width, planes, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(planes, planes, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.downsample = nn.Sequential(nn.Conv2d(width, planes, 1, stride, bias=False),
                                        nn.BatchNorm2d(planes))

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += self.downsample(x)
        return self.relu(out)


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(16)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        self.layer1 = Residual(16, 32, 2)
        self.fc = nn.Linear(32, 10)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer1(x)
        return self.fc(torch.flatten(F.adaptive_avg_pool2d(x, 1), 1))


def resnet():
    """The optimizer exists before the profiler, and another one after it."""
    torch.manual_seed(0)
    model = ResNet()
    adam = torch.optim.Adam(model.parameters())
    found = train(model, torch.randn(4, 3, 64, 64), optimizer=adam, layers=True)
    parameters = sum(p.numel() * 4 for p in model.parameters())
    torch.optim.SGD(mlp().parameters(), lr=0.1)
    later = mlp()
    momentum = torch.optim.SGD(later.parameters(), lr=0.1, momentum=0.9)
    state = train(later, torch.randn(10, 125), optimizer=momentum)["states"]
    return {"found": found, "parameters": parameters, "later": state}


class Plain(torch.optim.Optimizer):
    """Keeps a tensor for each parameter where others keep a dict."""

    def __init__(self, parameters):
        super().__init__(parameters, {})

    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p] = torch.zeros_like(p)


def optimizers():
    """One whose state is no dict, and one that is a copy together with its model."""
    model = mlp()
    plain = train(model, torch.randn(10, 125), optimizer=Plain(model.parameters()))["states"]
    model = mlp()
    momentum = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    memledger.MemoryProfiler(model)
    model, momentum = copy.deepcopy((model, momentum))
    copied = train(model, torch.randn(10, 125), optimizer=momentum)["states"]
    return {"plain": plain, "copied": copied}


class Doubles(nn.Module):
    """Says that it runs, waits for the other, and allocates."""

    def __init__(self, runs, other):
        super().__init__()
        self.runs, self.other = runs, other

    def forward(self, x):
        self.runs.set()
        self.other.wait()
        return x * 2


class TwoThreads(nn.Module):
    """The first part begins while the second runs in another thread, and ends after it."""

    def __init__(self):
        super().__init__()
        first_runs, self.second_runs, self.second_ended = (threading.Event() for _ in range(3))
        self.first = Doubles(first_runs, self.second_ended)
        self.second = Doubles(self.second_runs, first_runs)
        self.scale = nn.Parameter(torch.ones(1))

    def run_second(self, x):
        self.second(x)
        self.second_ended.set()

    def forward(self, x):
        thread = threading.Thread(target=self.run_second, args=(x,))
        thread.start()
        self.second_runs.wait()
        y = self.first(x)
        thread.join()
        return y * self.scale


def threads():
    return train(TwoThreads(), torch.randn(400, 125), steps=1, layers=True)["layers"]


if __name__ == "__main__":
    cases = checkpoints, transformers, resnet, optimizers, threads
    print(json.dumps({case.__name__: case() for case in cases}))
