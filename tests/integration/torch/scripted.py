# scripted.py: functions and models that TorchScript compiles from their sources, with contexts that
# switch gradients off. Prints the results. Knows nothing of memledger.
#
# SPDX-License-Identifier: Apache-2.0
import torch


@torch.jit.script
def doubled(x: torch.Tensor):
    with torch.no_grad():
        y = x * 2
    return y


class Head(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(4, 4)

    def forward(self, x):
        with torch.no_grad():
            y = self.inner(x)
        return y + x


@torch.no_grad()
def tripled(x):
    return x * 3


x = torch.ones(2, 4, requires_grad=True)
torch.manual_seed(1)
print(doubled(x).requires_grad, torch.jit.script(Head())(x).sum().item())
print(tripled(x).requires_grad, torch.is_grad_enabled())
with torch.inference_mode():
    print(torch.ones(2).is_inference())
