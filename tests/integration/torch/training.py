# training.py: training programs as users write them, without memledger.
#
#     training.py CASE [FILE]
#
# prints one line of JSON: what a test must find in the trace. `bare`: not under which
# name; `inlined`: modules are compiled away; `replaced`: state that comes and goes within
# a step. Into FILE goes which modules were called, found out by hooks, so in a run
# that is not recorded. Ends without tearing anything down, so that what is alive
# then is alive at the trace's end. TRAINING_DEVICE: where the four networks are
# trained, "cpu" unless it says "cuda".
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import sys
import threading

import torch
from torch import nn
from torch.utils import checkpoint

import models
import told

STEPS = 3
DEVICE = os.environ.get("TRAINING_DEVICE", "cpu")
MARKER = 251  # floats: blocks of a size that nothing else here has
KEPT = []
ROOTS = []  # modules that are called from outside of all others, in that order


def version():
    return tuple(int(part) for part in torch.__version__.split(".")[:2])


def root(module):
    ROOTS.append(module)
    return module


def outside():
    """A block made outside of all modules."""
    KEPT.append(torch.empty(MARKER))


# ---- Four networks --------------------------------------------------------------------


def trained(name, make_optimizer=torch.optim.Adam):
    model, data = models.build(name, DEVICE)
    root(model)
    optimizer = make_optimizer(model.parameters())
    loss = models.train(model, data, optimizer, STEPS, root(nn.CrossEntropyLoss()))
    KEPT.append((model, optimizer))
    return {"loss": loss, "steps": STEPS, **told.contents(model, optimizer)}


def case_mlp():
    return trained("mlp")


def case_cnn():
    return trained("cnn", lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9))


def case_transformer():
    return trained("transformer", torch.optim.AdamW)


def case_lstm():
    return trained("lstm", torch.optim.RMSprop)


# ---- Modules used in other ways ---------------------------------------------------------


def finish(model, data, steps=STEPS, inner=None, **more):
    """Trains any network with SGD. `inner`: the one that it only stands around."""
    inner = root(inner or model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    loss = models.train(model, data, optimizer, steps, root(nn.CrossEntropyLoss()))
    outside()
    KEPT.append((model, optimizer))
    return {"loss": loss, "steps": steps, "outside": 1, **told.contents(inner, optimizer), **more}


def batch(width=64, size=512):
    return lambda: (torch.randn(size, width), torch.randint(0, models.CLASSES, (size,)))


class Shared(nn.Module):
    """One module under two names, called several times; one weight in two modules."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(64, 64)
        self.again = self.first
        self.tied = nn.Linear(64, 64, bias=False)
        self.tied.weight = self.first.weight
        self.head = nn.Linear(64, models.CLASSES)

    def forward(self, x):
        for _ in range(3):
            x = torch.relu(self.first(x))
        return self.head(self.tied(torch.relu(self.again(x))))


def case_shared():
    torch.manual_seed(0)
    return finish(Shared(), batch())


class Checkpointed(nn.Module):
    def __init__(self, reentrant):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(64, 256), nn.ReLU(),
                                                  nn.Linear(256, 64)) for _ in range(3))
        self.head, self.reentrant = nn.Linear(64, models.CLASSES), reentrant

    def forward(self, x):
        for block in self.blocks:
            x = checkpoint.checkpoint(block, x, use_reentrant=self.reentrant)
        return self.head(x)


def checkpointed(reentrant):
    torch.manual_seed(0)

    def data():
        x, y = batch()()
        return x.requires_grad_(reentrant), y

    return finish(Checkpointed(reentrant), data, recomputes=True)


def case_checkpoint():
    return checkpointed(False)


def case_checkpoint_reentrant():
    return checkpointed(True)


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, grad):
        x, = ctx.saved_tensors
        return 3 * x * x * grad


class Cubic(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.head = nn.Linear(64, 64), nn.Linear(64, models.CLASSES)

    def forward(self, x):
        return self.head(Cube.apply(self.inner(x)))


def case_function():
    torch.manual_seed(0)
    return finish(Cubic(), batch())


def case_data_parallel():
    """Without GPUs it calls the module itself; with them, replicas in threads."""
    torch.manual_seed(0)
    model = models.MLP(64, 2)
    return finish(nn.DataParallel(model), batch(), inner=model)


def case_threads():
    """Forward in two threads at once, one backward for both."""
    torch.manual_seed(0)
    model, (x, y) = root(models.MLP(64, 2)), batch()()
    criterion = root(nn.CrossEntropyLoss())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for _ in range(STEPS):
        optimizer.zero_grad(set_to_none=True)
        losses = {}

        def forward(half):
            losses[half] = criterion(model(x[half::2]), y[half::2])

        threads = [threading.Thread(target=forward, args=(i,)) for i in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        (losses[0] + losses[1]).backward()
        optimizer.step()
    outside()
    KEPT.append((model, optimizer, x, y))
    return {"outside": 1, **told.contents(model, optimizer)}


class Streaming(nn.Module):
    """Its forward is a generator, which runs when its caller asks for more."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(64, 64)

    def forward(self, x):
        for part in x.split(128):
            yield self.inner(part)


def case_generator():
    torch.manual_seed(0)
    model = root(Streaming())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for _ in range(STEPS):
        optimizer.zero_grad(set_to_none=True)
        sum(part.square().mean() for part in model(torch.randn(512, 64))).backward()
        optimizer.step()
    # One that is never asked for its second part.
    half = model(torch.randn(512, 64))
    next(half)
    outside()
    del half
    outside()
    KEPT.append((model, optimizer))
    # What is called in a generator is called by whoever asks it for more.
    return {"outside": 2, "bare": True, **told.contents(model, optimizer)}


def case_compiled():
    """torch.compile; its counters say whether it breaks a graph that it would not."""
    if version() < (2, 0):
        return {"skip": "torch.compile came with PyTorch 2.0"}
    torch.manual_seed(0)
    model = models.MLP(64, 2)
    for backend in ("inductor", "aot_eager"):
        try:
            compiled = torch.compile(model, backend=backend)
            compiled(torch.randn(8, 64)).sum().backward()
            break
        except Exception as e:  # a compiler or its headers are missing
            print(f"{backend}: {type(e).__name__}", file=sys.stderr)
            torch._dynamo.reset()
    model.zero_grad()
    counters = torch._dynamo.utils.counters
    result = finish(compiled, batch(), inner=model, backend=backend, inlined=True)
    result["compiled"] = {key: dict(counters[key]) for key in ("stats", "graph_break")}
    return result


# ---- Training in other ways -----------------------------------------------------------------


def case_gan():
    torch.manual_seed(0)
    maker = root(nn.Sequential(nn.Linear(16, 256), nn.ReLU(), nn.Linear(256, 64)))
    judge = root(nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 1)))
    criterion = root(nn.BCEWithLogitsLoss())
    optimizers = [torch.optim.Adam(m.parameters(), lr=1e-3) for m in (maker, judge)]
    true, false = torch.ones(512, 1), torch.zeros(512, 1)
    for _ in range(STEPS):
        fake = maker(torch.randn(512, 16))
        optimizers[1].zero_grad(set_to_none=True)
        found = criterion(judge(fake.detach()), false) + criterion(judge(torch.randn(512, 64)), true)
        found.backward()
        optimizers[1].step()
        optimizers[0].zero_grad(set_to_none=True)
        fooled = criterion(judge(fake), true)
        fooled.backward()
        optimizers[0].step()
    outside()
    KEPT.append((maker, judge, optimizers))
    return {"losses": [found.item(), fooled.item()], "outside": 1, "steps": STEPS,
            **told.together(told.contents(maker, optimizers[0]),
                            told.of_another("Sequential#2", told.contents(judge, optimizers[1])))}


def case_inference():
    model, data = models.build("cnn")
    root(model).eval()
    with torch.no_grad():
        sums = [float(model(data()[0]).sum()) for _ in range(STEPS)]
    outside()
    KEPT.append(model)
    return {"sums": sums, "outside": 1, "steps": STEPS, **told.contents(model)}


def case_accumulation():
    """Four backward passes for each step of the optimizer."""
    torch.manual_seed(0)
    model, data = root(models.MLP(64, 2)), batch()
    criterion = root(nn.CrossEntropyLoss())
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(STEPS):
        for _ in range(4):
            x, y = data()
            (criterion(model(x), y) / 4).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
    outside()
    KEPT.append((model, optimizer))
    return {"outside": 1, "steps": STEPS, **told.contents(model, optimizer)}


def case_lbfgs():
    """An optimizer that calls the model, several times in each step."""
    torch.manual_seed(0)
    model, (x, y) = root(models.MLP(64, 2)), batch()()
    criterion = root(nn.CrossEntropyLoss())
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.1, max_iter=4)

    def closure():
        optimizer.zero_grad(set_to_none=True)
        loss = criterion(model(x), y)
        loss.backward()
        return loss

    losses = [optimizer.step(closure).item() for _ in range(STEPS)]
    outside()
    KEPT.append((model, optimizer, x, y))
    return {"losses": losses, "outside": 1, "replaced": True, **told.contents(model, optimizer)}


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 1024

    def __getitem__(self, i):
        return torch.full((64,), i / 1024), i % models.CLASSES


def case_loader():
    torch.manual_seed(0)
    loader = torch.utils.data.DataLoader(Rows(), batch_size=256, num_workers=2)
    batches = iter(loader)
    return finish(models.MLP(64, 2), lambda: next(batches))


# ---- Errors ----------------------------------------------------------------------------------


def interrupt():
    raise KeyboardInterrupt


def fail():
    raise ValueError("on purpose")


ERRORS = {"exception": fail, "interrupt": interrupt, "exit": lambda: sys.exit(3),
          "oom": lambda: torch.empty(1 << 50, dtype=torch.uint8)}


class Failing(nn.Module):
    """Fails two modules deep, when it is told to."""

    def __init__(self, how=None):
        super().__init__()
        self.inner, self.how = nn.Linear(64, 64), how

    def forward(self, x):
        x = self.inner(x)
        if self.how:
            ERRORS[self.how]()
        return x


def failing_model():
    torch.manual_seed(0)
    failing = Failing()
    model = nn.Sequential(nn.Linear(64, 64), nn.Sequential(nn.ReLU(), failing),
                          nn.Linear(64, models.CLASSES))
    return model, failing


def case_errors():
    """Each error in forward is caught; training goes on."""
    model, failing = failing_model()
    said = []
    for how in ERRORS:
        failing.how = how
        try:
            model(torch.randn(512, 64))
        except BaseException as e:
            said.append([type(e).__name__, str(e).split("] ")[-1].split(". Error")[0]])
        outside()
    failing.how = None
    result = finish(model, batch(), said=said)
    return {**result, "outside": 1 + len(ERRORS), "steps": None}


class FailsInBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        raise ValueError("on purpose, in backward")


def case_error_in_backward():
    model, _ = failing_model()
    said = []
    try:
        FailsInBackward.apply(model(torch.randn(512, 64))).sum().backward()
    except ValueError as e:
        said.append(str(e))
    outside()
    result = finish(model, batch(), said=said)
    return {**result, "outside": 2, "steps": None}


def end(how):
    """The error that nobody catches, after a step that went well."""
    model, failing = failing_model()
    models.train(model, batch(), torch.optim.Adam(model.parameters()), 1)
    print("one step went well", flush=True)
    failing.how = how
    model(torch.randn(512, 64))


def main():
    torch.set_num_threads(1)
    name = sys.argv[1]
    if name.startswith("end="):
        return end(name[4:])
    # Hooks would be compiled too.
    calls = told.Calls() if sys.argv[2:] and name != "compiled" else None
    result = globals()["case_" + name]()
    if calls:
        with open(sys.argv[2], "w") as f:
            json.dump(calls.paths(ROOTS), f)
    print(json.dumps(result), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
