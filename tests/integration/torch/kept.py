# kept.py: models that keep tensors outside of PyTorch's parameters and buffers: constants, own
# caches of keys and values, weights that consist of several tensors. Knows nothing of memledger.
#
#     kept.py CASE
#
# prints one line of JSON: [label, category, bytes] of the tensors that must have names.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import sys

import torch
from torch import nn

WIDTH, HEADS, LENGTH, BATCH = 64, 4, 128, 2
KEPT = []


def size(tensor):
    return tensor.numel() * tensor.element_size()


class Attention(nn.Module):
    """As in the reference code of Llama: plain tensors, written in place."""

    def __init__(self):
        super().__init__()
        self.project = nn.Linear(WIDTH, 2 * WIDTH)
        self.cache_k = torch.zeros(BATCH, LENGTH, WIDTH)
        self.cache_v = torch.zeros(BATCH, LENGTH, WIDTH)

    def remember(self, keys, values, start):
        end = start + keys.shape[1]
        self.cache_k[:, start:end], self.cache_v[:, start:end] = keys, values
        return self.cache_k[:, :end], self.cache_v[:, :end]

    def forward(self, x, start):
        keys, values = self.remember(*self.project(x).chunk(2, -1), start)
        return torch.softmax(x @ keys.transpose(1, 2), -1) @ values


class Growing(Attention):
    """Another tensor for each token, keys and values in a tuple."""

    def __init__(self):
        super().__init__()
        del self.cache_k, self.cache_v
        self.kv_cache = None

    def remember(self, keys, values, start):
        if self.kv_cache is not None:
            keys = torch.cat((self.kv_cache[0], keys), 1)
            values = torch.cat((self.kv_cache[1], values), 1)
        self.kv_cache = (keys.contiguous(), values.contiguous())
        return self.kv_cache


class KVCache(nn.Module):
    """As in LitGPT: a module for each layer."""

    def __init__(self):
        super().__init__()
        for name in "kv":
            self.register_buffer(name, torch.zeros(BATCH, LENGTH, WIDTH), persistent=False)
        self.register_buffer("position", torch.zeros(1000))


class Registered(Attention):
    def __init__(self):
        super().__init__()
        del self.cache_k, self.cache_v
        self.store = KVCache()

    def remember(self, keys, values, start):
        end = start + keys.shape[1]
        self.store.k[:, start:end], self.store.v[:, start:end] = keys, values
        return self.store.k[:, :end], self.store.v[:, :end]


class Model(nn.Module):
    def __init__(self, attention):
        super().__init__()
        self.embed = nn.Embedding(100, WIDTH)
        self.layers = nn.ModuleList(attention() for _ in range(2))
        self.frequencies = torch.ones(LENGTH, WIDTH)
        self.same = self.embed.weight.detach()  # it has a name already

    def forward(self, tokens, start):
        x = self.embed(tokens) + self.frequencies[start:start + tokens.shape[1]]
        for layer in self.layers:
            x = x + layer(x, start)
        return x


def generate(model, tokens=8):
    with torch.no_grad():
        model(torch.zeros(BATCH, 16, dtype=torch.long), 0)
        for at in range(16, 16 + tokens):
            model(torch.zeros(BATCH, 1, dtype=torch.long), at)
    KEPT.append(model)
    return [["frequencies", "buffer", size(model.frequencies)],
            ["embed.weight", "parameter", size(model.embed.weight)]]


def case_in_place():
    model = Model(Attention)
    return generate(model) + [[f"layers.{number}.{name}", "kv_cache", size(getattr(layer, name))]
                              for number, layer in enumerate(model.layers)
                              for name in ("cache_k", "cache_v")]


def case_growing():
    model = Model(Growing)
    return generate(model) + [[f"layers.{number}.kv_cache", "kv_cache",
                               sum(map(size, layer.kv_cache))]
                              for number, layer in enumerate(model.layers)]


def case_registered():
    model = Model(Registered)
    rows = [[f"layers.{number}.store.{name}", "kv_cache", size(layer.store.k)]
            for number, layer in enumerate(model.layers) for name in "kv"]
    rows += [[f"layers.{number}.store.position", "buffer", 4000] for number in range(2)]
    return generate(model) + rows


def case_pool():
    """One allocation for all layers, as small servers make it."""
    model = Model(Attention)
    pool = torch.zeros(2, len(model.layers), BATCH, LENGTH, WIDTH)
    for number, layer in enumerate(model.layers):
        layer.cache_k, layer.cache_v = pool[0, number], pool[1, number]
    return generate(model) + [["layers.(0.cache_k to 1.cache_v)", "kv_cache", size(pool)]]


class Quantized(torch.Tensor):
    """A weight of integers and scales, as torchao has them: without memory of its own."""

    @staticmethod
    def __new__(cls, numbers, scales):
        return torch.Tensor._make_wrapper_subclass(cls, numbers.shape, dtype=scales.dtype)

    def __init__(self, numbers, scales):
        self.numbers, self.scales = numbers, scales

    def __tensor_flatten__(self):
        return ["numbers", "scales"], None

    @classmethod
    def __torch_function__(cls, function, kinds, args=(), kwargs=None):
        if function is nn.functional.linear:
            x, weight, bias = args
            return function(x, weight.numbers * weight.scales, bias)
        with torch._C.DisableTorchFunctionSubclass():
            return function(*args, **(kwargs or {}))

    @classmethod
    def __torch_dispatch__(cls, function, kinds, args=(), kwargs=None):
        if function is torch.ops.aten.detach.default:
            return cls(args[0].numbers, args[0].scales)
        raise NotImplementedError(function)


def case_quantized():
    model = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.ReLU(), nn.Linear(4 * WIDTH, WIDTH))
    rows = []
    for place in (0, 2):
        weight = model[place].weight.detach()
        scales = weight.abs().amax(1, keepdim=True) / 127
        numbers = (weight / scales).to(torch.int8)
        model[place].weight = nn.Parameter(Quantized(numbers, scales), requires_grad=False)
        rows += [[f"{place}.weight.numbers", "parameter", size(numbers)],
                 [f"{place}.weight.scales", "parameter", size(scales)]]
    model(torch.ones(8, WIDTH))
    KEPT.append(model)
    return rows


if __name__ == "__main__":
    print(json.dumps(globals()["case_" + sys.argv[1]]()), flush=True)
    os._exit(0)  # what is alive now is alive at the trace's end
