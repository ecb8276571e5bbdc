# optimizers.py: trains a model with each of several optimizers. Knows nothing of memledger.
#
# Its last line is JSON: for each optimizer {label: bytes} of its state at the end, as PyTorch's own
# arithmetic has it.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os

import torch
from torch import nn

STEPS = 3
KEPT = []


class Momenta(torch.optim.Optimizer):
    """As people write them: lists and dicts in the state of a parameter, which each step replaces;
    a key that is no parameter, and a tensor in a group."""

    def __init__(self, params):
        super().__init__(params, {"lr": 0.1})
        self.param_groups[0]["update_buffer"] = torch.zeros(100)

    @torch.no_grad()
    def step(self):
        self.state["shared"] = {"norms": [torch.ones(50), torch.ones(60)]}
        for group in self.param_groups:
            for p in group["params"]:
                kept = self.state[p]
                kept["momenta"] = [p.grad * 0.5, p.grad * 0.9]
                kept["factors"] = {"left": [p.grad.sum(-1)], "right": p.grad.sum(0)}
                kept["itself"] = p
                p.add_(kept["momenta"][0], alpha=-group["lr"])


def of_transformers(parameters):
    from transformers.optimization import Adafactor
    return Adafactor(parameters, beta1=0.9)


def of_matrices(parameters):
    return torch.optim.Muon(p for p in parameters if p.dim() == 2)


OPTIMIZERS = {
    "adagrad": torch.optim.Adagrad,
    "rprop": torch.optim.Rprop,
    "adafactor": lambda parameters: torch.optim.Adafactor(parameters),
    "adafactor_of_transformers": of_transformers,
    "muon": of_matrices,
    "lbfgs": lambda parameters: torch.optim.LBFGS(parameters, lr=0.1, max_iter=4, history_size=5),
    "momenta": Momenta,
}


def tensors(thing):
    if isinstance(thing, torch.Tensor):
        yield thing
    elif isinstance(thing, list):
        for each in thing:
            yield from tensors(each)


def add(labels, name, held):
    for tensor in tensors(held):
        if not isinstance(tensor, nn.Parameter):
            labels[name] = labels.get(name, 0) + tensor.numel() * tensor.element_size()


def labels_of(model, optimizer, prefix):
    """LBFGS has its state in that of the first parameter."""
    labels, kind = {}, type(optimizer).__name__
    owners = {p: prefix + n for n, p in model.named_parameters()}
    for key, state in optimizer.state.items():
        owner = kind if kind == "LBFGS" else owners.get(key) or f"{kind}.{key}"
        for slot, held in state.items():
            for inner, value in held.items() if isinstance(held, dict) else [("", held)]:
                add(labels, ".".join(filter(None, (owner, slot, inner))), value)
    for slot, held in optimizer.param_groups[0].items():
        if slot != "params":
            add(labels, f"{kind}.{slot}", held)
    return labels


def train(model, optimizer):
    batch = torch.randn(32, 64)

    def closure():
        optimizer.zero_grad()
        loss = model(batch).square().mean()
        loss.backward()
        return loss
    for _ in range(STEPS):
        if isinstance(optimizer, torch.optim.LBFGS):
            optimizer.step(closure)
        else:
            closure()
            optimizer.step()


def main():
    told = {}
    torch.manual_seed(0)
    for name, make in OPTIMIZERS.items():
        model = nn.Sequential(nn.Linear(64, 96), nn.Tanh(), nn.Linear(96, 8))
        try:
            optimizer = make(model.parameters())
        except (AttributeError, ImportError):
            continue  # this PyTorch has no such optimizer
        train(model, optimizer)
        KEPT.append((model, optimizer))
        prefix = f"Sequential#{len(KEPT)}." if len(KEPT) > 1 else ""
        told[name] = labels_of(model, optimizer, prefix)
    print(json.dumps(told), flush=True)
    os._exit(0)  # what is alive now is alive at the trace's end


main()
