# attach_steps.py KIND: the same work again and again, with a line for each piece: its CPU time in
# ns. KIND is malloc or torch. For row_attach.py.
#
# SPDX-License-Identifier: Apache-2.0
import sys
import time


def malloc():
    kept = [None] * 1000

    def step():
        for i in range(20_000):
            kept[i * i % 1000] = bytes(600 + i % 3000)

    return step


def training():
    import torch
    torch.set_num_threads(1)
    model = torch.nn.Sequential(*[torch.nn.Linear(64, 64) for _ in range(8)])
    optimizer = torch.optim.Adam(model.parameters())

    def step():
        for _ in range(5):
            optimizer.zero_grad()
            model(torch.randn(16, 64)).pow(2).mean().backward()
            optimizer.step()

    return step


piece = {"malloc": malloc, "torch": training}[sys.argv[1]]()
while True:
    begin = time.process_time_ns()
    piece()
    print(time.process_time_ns() - begin, flush=True)
