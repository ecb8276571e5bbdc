# loops.py: training loops as users write them beyond the plain one, without memledger.
#
#     loops.py CASE
#
# prints one line of JSON: what a test must find in the trace. Ends without tearing anything down.
# LOOPS_DEVICE: where it trains, "cpu" unless it says "cuda".
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import resource
import sys
import threading

import torch
from torch import nn
from torch.nn import functional as F

import told

KEPT = []
DEVICE = os.environ.get("LOOPS_DEVICE", "cpu")
EPOCHS, BATCHES = 3, 3
CLASSES = 10


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        gate = torch.sigmoid(x)
        ctx.save_for_backward(x, gate)
        return x * gate

    @staticmethod
    def backward(ctx, grad):
        x, gate = ctx.saved_tensors
        return grad * (gate + x * gate * (1 - gate))


class Classifier(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.body, self.head = nn.Linear(64, width), nn.Linear(width, CLASSES)
        self.to(DEVICE)

    def forward(self, x):
        return self.head(Swish.apply(self.body(x)))


def batch(size=512):
    return torch.randn(size, 64, device=DEVICE), torch.randint(0, CLASSES, (size,), device=DEVICE)


# ---- Backward that fails ------------------------------------------------------------------


class Refuse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        raise ValueError("refused")


def fail(grad):
    raise RuntimeError("failed in a hook")


def limit_memory(grad):
    with open("/proc/self/statm") as f:
        used = int(f.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (2 << 20), resource.RLIM_INFINITY))


def failing(layers, how):
    """Two layers have their gradients when backward fails."""
    x = torch.randn(1024, 1024)
    for number, layer in enumerate(layers):
        x = layer(x)
        if number == 1 and how == "function":
            x = Refuse.apply(x)
        elif number == 1:
            x.register_hook(fail if how == "hook" else limit_memory)
    try:
        x.sum().backward()
    except (ValueError, RuntimeError, MemoryError) as error:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
        return type(error).__name__
    return None


def case_failing_backward():
    errors, gradients = [], []
    for number, how in enumerate(("hook", "function", "limit")):
        layers = nn.Sequential(*(nn.Linear(1024, 1024) for _ in range(4)))
        errors.append(failing(layers, how))
        contents = told.contents(layers)
        if number:
            contents = told.of_another(f"Sequential#{number + 1}", contents)
        gradients += contents["gradient"]
        KEPT.append(layers)
    return {"errors": errors, "gradient": gradients}


# ---- Closures -------------------------------------------------------------------------------


def with_closure(model, optimizer, steps=5):
    for _ in range(steps):
        x, y = batch()

        def closure():
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            return loss

        optimizer.step(closure)
    KEPT.append((model, optimizer))
    return {"steps": steps, "optimizer": type(optimizer).__name__}


def case_closure_sgd():
    model = Classifier()
    return with_closure(model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9))


def case_closure_lbfgs():
    model = Classifier()
    return with_closure(model, torch.optim.LBFGS(model.parameters(), lr=0.1, max_iter=4))


# ---- Epochs ---------------------------------------------------------------------------------


def train_epoch(model, optimizer):
    model.train()
    for _ in range(BATCHES):
        x, y = batch()
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y) + 1e-4 * model.body.weight.square().mean()
        loss.backward()
        optimizer.step()


@torch.no_grad()
def evaluate(model):
    model.eval()
    return sum(float(F.cross_entropy(model(x), y)) for x, y in (batch(8192) for _ in range(2)))


def evaluate_in_inference_mode(model):
    """Forgets model.eval()."""
    with torch.inference_mode():
        return [model(batch(8192)[0]).argmax(1).sum() for _ in range(2)]


def case_epochs():
    model = Classifier()
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(EPOCHS):
        train_epoch(model, optimizer)
        if epoch < EPOCHS - 1:
            (evaluate_in_inference_mode if epoch else evaluate)(model)
    KEPT.append((model, optimizer))
    return {"steps": EPOCHS * BATCHES, "evaluations": EPOCHS - 1}


def case_first_calls():
    """Tries its model out before it makes the optimizer."""
    model = Classifier()
    for size in (1, 2):
        model(batch(size)[0])
    with torch.no_grad():
        model(batch()[0])
    train_epoch(model, torch.optim.Adam(model.parameters()))
    return {"steps": BATCHES}


class Clipped(torch.optim.Adam):
    """A subclass whose step calls that of its base."""

    def step(self, closure=None):
        for group in self.param_groups:
            nn.utils.clip_grad_norm_(group["params"], 1.0)
        return super().step(closure)


def case_frozen_mode():
    """Goes on training in evaluation mode, with a subclass of an optimizer that is used too."""
    model = Classifier()
    for make in (torch.optim.Adam, Clipped):
        train_epoch(model, make(model.parameters()))
    model.eval()
    optimizer = Clipped(model.parameters())
    for _ in range(BATCHES):
        x, y = batch()
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    return {"steps": 3 * BATCHES}


def case_teacher():
    """A call without gradients in each step is part of the step."""
    student, teacher = Classifier(), Classifier(1024).eval()
    optimizer = torch.optim.Adam(student.parameters())
    for _ in range(BATCHES):
        x, _ = batch()
        with torch.no_grad():
            wanted = teacher(x)
        optimizer.zero_grad()
        F.mse_loss(student(x), wanted).backward()
        optimizer.step()
    return {"steps": BATCHES, "evaluations": 0}


@torch.no_grad()
def search(model, x, beams):
    """As a decoder's search: most of its memory is made outside of the model."""
    scores = torch.zeros(len(x), 1)
    for _ in range(BATCHES):
        scores = scores.repeat_interleave(beams, 1) + model(x).softmax(1).max(1, keepdim=True)[0]
    return scores


def case_search():
    KEPT.append(search(Classifier().eval(), batch(4096)[0], 4))
    return {"bytes": 4 * KEPT[-1].numel()}


# ---- Memory outside of modules --------------------------------------------------------------


class Replay:
    def __init__(self):
        self.frames = []

    def fill(self, count):
        self.frames += [frame for frame in (torch.rand(64, device=DEVICE) for _ in range(count))]

    def sample(self, size):
        return torch.stack(self.frames[:size])


def clusters(points, count, rounds=3):
    centers = points[:count].clone()
    for _ in range(rounds):
        near = torch.cdist(points, centers).argmin(1)
        centers = torch.stack([points[near == i].sum(0) for i in range(count)])
    return centers


def case_outside():
    """Data of the program, learning from it, and work without any module."""
    model, replay = Classifier(), Replay()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(BATCHES):
        replay.fill(512)
        with torch.no_grad():
            wanted = model(replay.sample(512)).argmax(1)
        loss = F.cross_entropy(model(replay.sample(512)), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    KEPT.append((replay, clusters(torch.rand(4096, 64, device=DEVICE), 8)))
    return {"replay": 4 * 64 * len(replay.frames)}


# ---- Threads ----------------------------------------------------------------------------------


def in_threads(*work):
    threads = [threading.Thread(target=function, args=args) for function, *args in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def train_model(width):
    model = Classifier(width)
    train_epoch(model, torch.optim.Adam(model.parameters()))


def serve(model):
    with torch.inference_mode():
        model(batch()[0])


def train_half(model, x, y):
    F.cross_entropy(model(x), y).backward()


def case_threads():
    """Four models in four threads, one model that all serve, one that two train."""
    in_threads(*((train_model, 128 * (1 + i)) for i in range(4)))
    model = Classifier().eval()
    in_threads(*((serve, model) for _ in range(4)))
    in_threads(*((train_half, model, *batch(4096)) for _ in range(2)))
    return {}


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(64, 3 * 64)

    def forward(self, x):
        q, k, v = self.project(x).view(8, 128, 3, 4, 16).permute(2, 0, 3, 1, 4)
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def case_parallel():
    """Workers of a parallel region allocate scratch memory of their own."""
    torch.set_num_threads(2)
    # Some virtual machines announce bf16 instructions that they do not have, and oneDNN uses them.
    torch.backends.mkldnn.set_flags(False)
    model = Attention()
    for _ in range(3):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            out = model(torch.randn(8, 128, 64))
        out.float().square().mean().backward()
    return {}


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    print(json.dumps(globals()["case_" + sys.argv[1]]()), flush=True)
    os._exit(0)


main()
