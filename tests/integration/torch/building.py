# building.py: programs that build, convert, copy and load models, as people write them, without
# memledger. Each prints what its models' modules hold by its own count, and marks that moment by
# a block of MARKER_BYTES.
#
# SPDX-License-Identifier: Apache-2.0
import copy
import io
import json
import os
import sys
import tempfile

import torch
from torch import nn

MARKER_BYTES = 1004


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)
        self.bn = nn.BatchNorm2d(channels)

    def forward(self, x):
        return x + self.bn(self.conv(x))


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 128, 7)
        self.layers = nn.Sequential(Block(128), Block(128), Block(128))
        self.fc = nn.Linear(128, 1000)

    def forward(self, x):
        return self.fc(self.layers(self.stem(x)).mean((2, 3)))


class Language(nn.Module):
    """Its decoder's own weight is replaced as it is built."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(256))
        self.embedding = nn.Embedding(4000, 256)
        self.decoder = nn.Linear(256, 4000)
        self.decoder.weight = self.embedding.weight
        self.register_buffer("mask", torch.ones(128, 128))


def never_called():
    return {"Language": Language()}


def converted():
    model = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.BatchNorm1d(1024),
                          nn.Linear(1024, 512))
    return {"Sequential": model.half()}


def materialised():
    model = ResNet().to("meta") if hasattr(torch, "compiler") else ResNet()
    return {"ResNet": model.to_empty(device="cpu")}


def swapped():
    """Each tensor stays what it is, and gets other contents."""
    model = ResNet()
    if hasattr(torch.__future__, "set_swap_module_params_on_conversion"):  # from 2.3 on
        torch.__future__.set_swap_module_params_on_conversion(True)
    model.double()
    return {"ResNet": model.float()}


def loaded():
    """The model that was saved is gone; the weights from the file are still there."""
    file = io.BytesIO()
    torch.save({"model": ResNet().state_dict(), "epoch": 3}, file)
    file.seek(0)
    checkpoint = torch.load(file)
    model = ResNet()
    model.load_state_dict(checkpoint["model"])
    return {"ResNet#2": model, "loading": checkpoint["model"]}


class Trained(ResNet):
    """Made the file."""


def from_mapped_file():
    """The weights stay in the file."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.pt")
        torch.save(Trained().state_dict(), path)
        with torch.device("meta"):
            model = ResNet()
        model.load_state_dict(torch.load(path, mmap=True), assign=True)
    return {"ResNet": model}


def mapped_and_used():
    """Its second copy is of another type, in ordinary memory, except the counters of batches."""
    model = from_mapped_file()["ResNet"]
    with torch.no_grad():
        model(torch.randn(2, 3, 32, 32))
    return {"ResNet": model.to(torch.bfloat16)}


def from_safetensors():
    """As from_pretrained() of transformers does it."""
    from safetensors.torch import load_file, save_file
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.safetensors")
        save_file(Trained().state_dict(), path)
        with torch.device("meta"):
            model = ResNet()
        model.load_state_dict(load_file(path), assign=True)
    return {"ResNet": model}


def table_in_file():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "table")
        torch.randn(4000 * 64).numpy().tofile(path)
        table = torch.from_file(path, size=4000 * 64).view(4000, 64)
    return {"Sequential": nn.Sequential(nn.Embedding.from_pretrained(table), nn.Linear(64, 10))}


def shared():
    """For several processes that train one model."""
    model = ResNet()
    model.share_memory()
    return {"ResNet": model}


def dropped():
    """The first model is only counted."""
    print(sum(p.numel() for p in ResNet().parameters()))
    return {"Sequential": nn.Sequential(nn.Linear(300, 500))}


def after_another():
    """The first model had names, and is gone when the second is made."""
    Trained().state_dict()
    return {"ResNet": ResNet()}


class Lazy(nn.Module):
    """Makes a part of itself when it is called, and uses the part's weight alone."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(64, 64)

    def forward(self, x):
        if not hasattr(self, "table"):
            self.table = nn.Sequential(nn.Embedding(1000, 64))
        return self.first(x) + self.table[0].weight[0]


def grown():
    model = Lazy()
    model(torch.randn(4, 64))
    return {"Lazy": model}


def averaged():
    model = ResNet()
    average = copy.deepcopy(model)
    optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9)
    for _ in range(2):
        model(torch.randn(1, 3, 16, 16)).sum().backward()
        optimizer.step()
        with torch.no_grad():
            for mean, new in zip(average.parameters(), model.parameters()):
                mean.lerp_(new, 0.1)
    return {"ResNet": model, "ResNet#2": average}


def in_method():
    """The model itself is never called, only its layers."""
    model = ResNet()
    with torch.no_grad():
        model.fc(model.layers(torch.randn(1, 128, 16, 16)).mean((2, 3)))
    return {"ResNet": model}


def size(tensors):
    return sum({t.data_ptr(): t.numel() * t.element_size() for t in tensors}.values())


def held(models):
    """{row of `layers`: {category: bytes}}; a shared tensor counts where it comes first."""
    rows, seen = {}, set()
    for title, model in models.items():
        if isinstance(model, dict):
            rows[title] = {"parameter": size(model.values()), "buffer": 0}
            continue
        for path, module in model.named_modules():
            own = {"parameter": module.parameters(recurse=False),
                   "buffer": module.buffers(recurse=False)}
            own = {kind: [t for t in all_ if id(t) not in seen] for kind, all_ in own.items()}
            seen.update(id(t) for all_ in own.values() for t in all_)
            if any(own.values()):
                rows[f"{title} > {path}" if path else title] = {
                    kind: size(all_) for kind, all_ in own.items()}
    return rows


def main():
    try:
        models = globals()[sys.argv[1]]()
    except (AttributeError, ImportError, TypeError) as missing:
        print(json.dumps({"skip": repr(missing)}), flush=True)
        return None
    marker = torch.empty(MARKER_BYTES, dtype=torch.uint8)
    print(json.dumps(held(models)), flush=True)
    del marker
    return models


if __name__ == "__main__":
    made = main()  # until the program ends
