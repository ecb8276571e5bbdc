# attach_target.py: trains a model on the GPU until standard input ends, for the check attach_cuda.
# At a line it stops between two steps and prints what PyTorch has allocated, in bytes and block by
# block. While it is stopped, a number makes it run that many steps and print the time of each; an
# empty line makes it go on.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import sys
import time

import torch
from torch import nn

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))

from line_reader import Lines


def blocks():
    """Address and size of each."""
    found = []
    for segment in torch.cuda.memory_snapshot():
        address = segment["address"]
        for block in segment["blocks"]:
            if block["state"] == "active_allocated":
                found.append((address, block["size"]))
            address += block["size"]
    return found


def say(what):
    print(json.dumps(what), flush=True)


class Training:
    def __init__(self):
        layers = [nn.Sequential(nn.Linear(1024, 1024), nn.GELU()) for _ in range(12)]
        self.model = nn.Sequential(*layers).cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters())

    def step_ms(self):
        begin = time.perf_counter()
        batch = torch.randn(512, 1024, device="cuda")
        self.optimizer.zero_grad()
        self.model(batch).pow(2).mean().backward()
        self.optimizer.step()
        torch.cuda.synchronize()
        return 1000 * (time.perf_counter() - begin)


def stop(training, lines):
    """@return whether to go on"""
    say({"allocated": torch.cuda.memory_allocated(), "blocks": blocks()})
    while (line := lines.next()).strip():
        say([training.step_ms() for _ in range(int(line))])
    return line != ""


def main():
    training, lines = Training(), Lines()
    while True:
        training.step_ms()
        line = lines.poll()
        if line == "" or line and not stop(training, lines):
            return


main()
