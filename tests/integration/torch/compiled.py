# compiled.py: trains models with torch.compile, in the ways in which programs use it. Knows
# nothing of memledger.
#
#   compiled.py [--cuda] CASE...
#
# After each case it allocates MARKER_BYTES on the host. Its last line is JSON: for each case the
# losses, what PyTorch's compiler counted, and the bytes that each layer's own tensors have.
#
# SPDX-License-Identifier: Apache-2.0
import gc
import json
import sys
import types

import torch
import torch.nn.functional as F
from torch import nn
from torch._dynamo.utils import counters

MARKER_BYTES = 1004
STEPS = 4
DEVICE = "cuda" if "--cuda" in sys.argv[1:2] else "cpu"
COUNTED = ("stats", "graph_break", "compiled_autograd")  # a recompilation is one more graph


class Block(nn.Module):
    def __init__(self, width, heads=4):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(),
                                 nn.Linear(4 * width, width))

    def forward(self, x):
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for part in self.qkv(self.norm(x)).chunk(3, dim=-1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).flatten(-2))
        return x + self.mlp(x)


class GPT(nn.Module):
    """Computes its own loss, as such models do."""

    def __init__(self, words=512, width=64, depth=2, length=64):
        super().__init__()
        self.tokens = nn.Embedding(words, width)
        self.places = nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)
        self.register_buffer("order", torch.arange(length), persistent=False)

    def forward(self, words, targets):
        x = self.tokens(words) + self.places(self.order)
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        return F.relu(x + self.bn2(self.conv2(y)))


class ResNet(nn.Module):
    def __init__(self, channels=16):
        super().__init__()
        self.stem = nn.Conv2d(3, channels, 3, padding=1)
        self.layer1 = nn.Sequential(Residual(channels), Residual(channels))
        self.fc = nn.Linear(channels, 10)

    def forward(self, x):
        x = self.layer1(self.stem(x))
        return self.fc(x.mean((2, 3)))


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, 256), nn.Tanh(), nn.Linear(256, 256))
        self.dropout = nn.Dropout(0.1)
        self.decoder = nn.Linear(256, 8)

    def forward(self, x):
        return self.decoder(self.dropout(self.encoder(x)))


def mlp():
    return nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 256), nn.LayerNorm(256),
                         nn.GELU(), nn.Linear(256, 8))


def randn(*shape):
    return torch.randn(*shape, device=DEVICE)


def words():
    return tuple(torch.randint(512, (8, 64), device=DEVICE) for _ in range(2))


def train(model, loss_of, make=torch.optim.AdamW, step=lambda optimizer: optimizer.step,
          backward=torch.Tensor.backward):
    """A loop of a program. What it holds is measured after the last backward."""
    optimizer = make(model.parameters(), lr=1e-3)
    advance, losses = step(optimizer), []
    for number in range(STEPS):
        optimizer.zero_grad()
        loss = loss_of()
        backward(loss)
        losses.append(loss.item())
        if number < STEPS - 1:
            advance()
    return losses, model, optimizer


# ---- Cases -----------------------------------------------------------------------


def case_sequential():
    """Of torch.nn's own classes."""
    model = mlp().to(DEVICE)
    compiled = torch.compile(model)
    return train(model, lambda: compiled(randn(256, 128)).square().mean())


def case_encoder():
    layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    model = nn.TransformerEncoder(layer, 2).to(DEVICE)
    compiled = torch.compile(model)
    return train(model, lambda: compiled(randn(8, 32, 64)).square().mean())


def case_gpt():
    model = GPT().to(DEVICE)
    compiled = torch.compile(model, fullgraph=True)
    return train(model, lambda: compiled(*words()))


def case_graphs():
    """On a GPU these are CUDA graphs: their memory is in pools of their own."""
    model = GPT().to(DEVICE)
    compiled = torch.compile(model, mode="reduce-overhead")
    return train(model, lambda: compiled(*words()))


def case_resnet():
    """Batches of two sizes: the second makes the shapes dynamic."""
    model, sizes = ResNet().to(DEVICE), iter([16, 16, 24, 24])
    compiled = torch.compile(model, dynamic=True)

    def loss():
        size = next(sizes)
        targets = torch.randint(10, (size,), device=DEVICE)
        return F.cross_entropy(compiled(randn(size, 3, 16, 16)), targets)
    return train(model, loss, torch.optim.SGD)


def case_in_place():
    """model.compile(), with an evaluation between the steps."""
    model = Regressor().to(DEVICE)
    model.compile()

    def loss():
        model.eval()
        with torch.no_grad():
            model(randn(128, 64))
        model.train()
        return F.mse_loss(model(randn(256, 64)), randn(256, 8))
    return train(model, loss)


def case_function():
    """A function that calls a model which is not its own."""
    model = GPT().to(DEVICE)

    @torch.compile
    def loss(batch, targets):
        return model(batch, targets)
    return train(model, lambda: loss(*words()))


def case_blocks():
    """Each block on its own: all have the same code."""
    model = GPT(depth=3).to(DEVICE)
    for block in model.blocks:
        block.compile()
    return train(model, lambda: model(*words()))


def case_submodule():
    model = Regressor().to(DEVICE)
    model.encoder = torch.compile(model.encoder)
    return train(model, lambda: F.mse_loss(model(randn(256, 64)), randn(256, 8)))


def case_optimizer():
    model = mlp().to(DEVICE)
    return train(model, lambda: model(randn(256, 128)).square().mean(),
                 step=lambda optimizer: torch.compile(optimizer.step))


def case_train_step():
    """All of a step in one function."""
    model, losses = mlp().to(DEVICE), []
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    @torch.compile
    def step(batch):
        optimizer.zero_grad()
        loss = model(batch).square().mean()
        loss.backward()
        optimizer.step()
        return loss
    for _ in range(STEPS):
        losses.append(step(randn(256, 128)).item())
    return losses, model, optimizer


def case_nested():
    """A compiled model in a compiled function, and no optimizer, before which models are named."""
    model, losses = mlp().to(DEVICE), []
    compiled = torch.compile(model)

    @torch.compile
    def step(batch):
        loss = compiled(batch).square().mean()
        loss.backward()
        return loss
    for _ in range(STEPS):
        losses.append(step(randn(256, 128)).item())
    return losses, model, types.SimpleNamespace(state={})


def case_autograd():
    """Compiled autograd: a compiled function calls backward, which is captured when it runs. The
    setting counts where the function is compiled."""
    model = GPT().to(DEVICE)
    with torch._dynamo.config.patch(compiled_autograd=True):
        @torch.compile
        def loss_after_backward(batch, targets):
            loss = model(batch, targets)
            loss.backward()
            return loss
        return train(model, lambda: loss_after_backward(*words()), backward=lambda loss: None)


def case_captured():
    """Compiled autograd of a compiled model and a loss outside of it."""
    from torch._dynamo import compiled_autograd
    model = mlp().to(DEVICE)
    compiled = torch.compile(model)
    with compiled_autograd._enable(torch.compile(backend="inductor")):
        return train(model, lambda: compiled(randn(256, 128)).square().mean())


def case_captured_calls():
    """Compiled autograd of a model that is not compiled."""
    from torch._dynamo import compiled_autograd
    model = GPT().to(DEVICE)
    with compiled_autograd._enable(torch.compile(backend="inductor")):
        return train(model, lambda: model(*words()))


def case_captured_encoder():
    """Compiled autograd of PyTorch's own layers, called one by one."""
    from torch._dynamo import compiled_autograd
    layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    model = nn.TransformerEncoder(layer, 2).to(DEVICE)
    with compiled_autograd._enable(torch.compile(backend="inductor")):
        return train(model, lambda: model(randn(8, 32, 64)).square().mean())


def case_gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel
    config = GPT2Config(vocab_size=512, n_positions=64, n_embd=64, n_layer=2, n_head=4)
    model = GPT2LMHeadModel(config).to(DEVICE)
    compiled = torch.compile(model)

    def loss():
        batch, _ = words()
        return compiled(input_ids=batch, labels=batch).loss
    return train(model, loss)


# ---- What they hold --------------------------------------------------------------


def layers_of(model, optimizer):
    """{path of a layer: {category: bytes}}, as PyTorch's own arithmetic has it."""
    owners = {id(tensor): path.rpartition(".")[0].replace("._orig_mod", "")
              for path, tensor in model.named_parameters()}
    held = {}

    def add(path, category, tensor):
        row = held.setdefault(path, {})
        row[category] = row.get(category, 0) + tensor.nbytes
    for tensor in model.parameters():
        path = owners[id(tensor)]
        add(path, "parameter", tensor)
        if tensor.grad is not None:
            add(path, "gradient", tensor.grad)
        for value in optimizer.state.get(tensor, {}).values():
            if torch.is_tensor(value) and value.device == tensor.device:  # not the count of steps
                add(path, "optimizer_state", value)
    for path, tensor in model.named_buffers():
        add(path.rpartition(".")[0].replace("._orig_mod", ""), "buffer", tensor)
    return held


def main(cases):
    told = {}
    for case in cases:
        torch.manual_seed(0)
        torch._dynamo.reset()
        counters.clear()
        losses, model, optimizer = globals()[f"case_{case}"]()
        torch.empty(MARKER_BYTES, dtype=torch.uint8, device="cpu")
        told[case] = {"losses": losses, "layers": layers_of(model, optimizer),
                      "class": type(model).__name__,
                      "counters": {name: dict(counters[name]) for name in COUNTED}}
        del model, optimizer
        torch._dynamo.reset()
        gc.collect()
    print(json.dumps(told))


if __name__ == "__main__":
    main([case for case in sys.argv[1:] if case != "--cuda"])
