# precision.py: runs out of memory in the forward pass of a model whose numbers have the types that
# the argument says, and prints how many bytes of parameters and of activations are in float32.
#
# SPDX-License-Identifier: Apache-2.0
import contextlib
import json
import sys

import torch

REFUSED = 1 << 50


def bytes_in_float32(tensors):
    return sum(t.numel() * t.element_size() for t in tensors if t.dtype == torch.float32)


class Net(torch.nn.Module):
    """Of its activations some are in other types: a mask, indices, a copy in float64."""

    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(50, 300)
        self.first = torch.nn.Linear(300, 500)
        self.second = torch.nn.Linear(500, 700)

    def forward(self, words):
        embedded = self.embed(words)
        a = self.first(embedded)
        b = torch.tanh(a)
        others = [b > 0, b.argmax(1), b.double()]
        c = torch.sigmoid(self.second(b))
        print(json.dumps({"parameters": bytes_in_float32(self.parameters()),
                          "activations": bytes_in_float32([embedded, a, b, c, *others])}))
        torch.empty(REFUSED, dtype=torch.uint8)
        return c


def main():
    kind = sys.argv[1]
    model = Net()
    if kind == "bfloat16":
        model.bfloat16()
    context = (torch.autocast("cpu", torch.bfloat16) if kind == "autocast"
               else contextlib.nullcontext())
    # Some virtual machines announce bf16 instructions that they do not have, and oneDNN uses them.
    with context, torch.backends.mkldnn.flags(enabled=False):
        try:
            model(torch.arange(200) % 50)
        except RuntimeError:
            pass


main()
