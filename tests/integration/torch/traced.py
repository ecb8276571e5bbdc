# traced.py: models as people write them, under torch.compile. Knows nothing of memledger.
#
#   traced.py BACKEND [CASE...]
#
# After each case it allocates MARKER_BYTES on the host. Its last line is JSON: for each case the
# losses, and what PyTorch's compiler counted: graphs, operators in them, breaks, recompilations.
# A case whose library is missing is left out.
#
# SPDX-License-Identifier: Apache-2.0
import gc
import json
import sys

import torch
import torch.nn.functional as F
from compiled import GPT, MARKER_BYTES, Regressor, ResNet, mlp, words
from torch import nn
from torch._dynamo.utils import counters

STEPS = 3
COUNTED = ("stats", "graph_break", "compiled_autograd")  # a recompilation is one more graph
VOCABULARY, WIDTH, LENGTH = 128, 32, 16


def train(model, loss_of, optimizer=None, advance=None):
    optimizer = optimizer or torch.optim.AdamW(model.parameters(), lr=1e-3)
    advance, losses = advance or optimizer.step, []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        advance()
        losses.append(loss.item())
    return losses


def tokens():
    return torch.randint(VOCABULARY, (4, LENGTH))


def language(model, compiled):
    """A model of transformers that computes its own loss."""
    def loss():
        batch = tokens()
        return compiled(input_ids=batch, labels=batch).loss
    return train(model, loss)


def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel
    return GPT2LMHeadModel(GPT2Config(vocab_size=VOCABULARY, n_positions=LENGTH, n_embd=WIDTH,
                                      n_layer=2, n_head=2))


# ---- Models of PyTorch's own layers ----------------------------------------------


def case_sequential(backend):
    model = mlp()
    compiled = torch.compile(model, backend=backend)
    return train(model, lambda: compiled(torch.randn(16, 128)).square().mean())


def case_encoder(backend):
    layer = nn.TransformerEncoderLayer(WIDTH, 2, 64, batch_first=True)
    model = nn.TransformerEncoder(layer, 2)
    compiled = torch.compile(model, backend=backend)
    return train(model, lambda: compiled(torch.randn(4, LENGTH, WIDTH)).square().mean())


def case_fullgraph(backend):
    model = GPT(depth=3)
    compiled = torch.compile(model, backend=backend, fullgraph=True)
    return train(model, lambda: compiled(*words()))


def case_dynamic(backend):
    """Five sizes of batches, without `dynamic=True`: the second makes the shapes dynamic."""
    model, sizes = mlp(), iter([8, 12, 16, 20, 24])
    compiled = torch.compile(model, backend=backend)
    losses = []
    for size in sizes:
        loss = compiled(torch.randn(size, 128)).square().mean()
        loss.backward()
        losses.append(loss.item())
    return losses


def case_convolutions(backend):
    model = ResNet()
    compiled = torch.compile(model, backend=backend)
    return train(model, lambda: F.cross_entropy(compiled(torch.randn(4, 3, 16, 16)),
                                                torch.randint(10, (4,))), torch.optim.SGD(
                                                    model.parameters(), lr=0.1, momentum=0.9))


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.lstm = nn.LSTM(WIDTH, WIDTH, num_layers=2, batch_first=True)
        self.out = nn.Linear(WIDTH, 8)

    def forward(self, x):
        return self.out(self.lstm(self.embed(x))[0])


def case_lstm(backend):
    model = Tagger()
    compiled = torch.compile(model, backend=backend)
    return train(model, lambda: compiled(tokens()).square().mean())


def case_in_place(backend):
    model = Regressor()
    model.compile(backend=backend)
    return train(model, lambda: F.mse_loss(model(torch.randn(16, 64)), torch.randn(16, 8)))


# ---- What breaks a graph, or is wrapped around modules ---------------------------


class Prints(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        x = self.one(x).relu()
        print("first layer", file=sys.stderr)
        return self.two(x)


def case_breaks(backend):
    model = Prints()
    compiled = torch.compile(model, backend=backend)
    return train(model, lambda: compiled(torch.randn(8, WIDTH)).square().mean())


class Scaled(nn.Linear):
    def __call__(self, *args, **kwargs):
        return 2 * super().__call__(*args, **kwargs)


def case_overridden_call(backend):
    model = nn.Sequential(Scaled(WIDTH, WIDTH), nn.ReLU(), Scaled(WIDTH, WIDTH))
    compiled = torch.compile(model, backend=backend, fullgraph=True)
    return train(model, lambda: compiled(torch.randn(8, WIDTH)).square().mean())


def case_hooks(backend):
    """Hooks of the program on its layers."""
    model, seen = mlp(), []
    for layer in model:
        layer.register_forward_hook(lambda module, args, out: out * 1.0)
        layer.register_forward_pre_hook(lambda module, args: None)
    compiled = torch.compile(model, backend=backend)
    return train(model, lambda: compiled(torch.randn(16, 128)).square().mean()) + seen


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class Custom(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        return self.two(Double.apply(self.one(x)))


def case_custom_function(backend):
    model = Custom()
    compiled = torch.compile(model, backend=backend)
    return train(model, lambda: compiled(torch.randn(8, WIDTH)).square().mean())


class Checkpointed(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        x = torch.utils.checkpoint.checkpoint(self.one, x, use_reentrant=False)
        return torch.utils.checkpoint.checkpoint(self.two, x, use_reentrant=False)


def case_checkpoints(backend):
    model = Checkpointed()
    compiled = torch.compile(model, backend=backend)
    return train(model, lambda: compiled(torch.randn(8, WIDTH)).square().mean())


class Keeps(nn.Module):
    """Replaces a buffer and sets an attribute in forward."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(WIDTH, WIDTH)
        self.register_buffer("mean", torch.zeros(WIDTH))

    def forward(self, x):
        x = self.layer(x)
        self.mean = 0.9 * self.mean + 0.1 * x.detach().mean(0)
        self.last = x.detach()
        return x - self.mean


def case_replaced_buffer(backend):
    model = Keeps()
    compiled = torch.compile(model, backend=backend)
    return train(model, lambda: compiled(torch.randn(8, WIDTH)).square().mean())


def case_layers_called_from_functions(backend):
    model = mlp()

    @torch.compile(backend=backend)
    def loss(batch):
        return model[2](model[1](model[0](batch))).square().mean()
    return train(model, lambda: loss(torch.randn(16, 128)))


# ---- Steps -----------------------------------------------------------------------


def case_optimizer(backend):
    model = mlp()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    return train(model, lambda: model(torch.randn(16, 128)).square().mean(), optimizer,
                 torch.compile(optimizer.step, backend=backend))


def case_train_step(backend):
    """All of a step in one function."""
    model, losses = mlp(), []
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    @torch.compile(backend=backend)
    def step(batch):
        optimizer.zero_grad()
        loss = model(batch).square().mean()
        loss.backward()
        optimizer.step()
        return loss
    for _ in range(STEPS):
        losses.append(step(torch.randn(16, 128)).item())
    return losses


def case_nested(backend):
    """A compiled model in a compiled function, which calls backward; no optimizer."""
    model, losses = mlp(), []
    compiled = torch.compile(model, backend=backend)

    @torch.compile(backend=backend)
    def step(batch):
        loss = compiled(batch).square().mean()
        loss.backward()
        return loss
    for _ in range(STEPS):
        losses.append(step(torch.randn(16, 128)).item())
    return losses


def case_compiled_autograd(backend):
    """The graph of the backward pass is captured when it runs."""
    if not hasattr(torch._dynamo.config, "compiled_autograd"):
        raise ImportError("this PyTorch has no compiled autograd")
    with torch._dynamo.config.patch(compiled_autograd=True):
        return case_train_step(backend)


# ---- Libraries -------------------------------------------------------------------


def case_gpt2(backend):
    model = gpt2()
    return language(model, torch.compile(model, backend=backend))


def case_gpt2_checkpointed(backend):
    model = gpt2()
    model.gradient_checkpointing_enable()
    return language(model, torch.compile(model, backend=backend))


def case_gpt2_by_layer(backend):
    model = gpt2()
    for layer in model.transformer.h:
        layer.compile(backend=backend)
    return language(model, model)


def case_llama(backend):
    from transformers import LlamaConfig, LlamaForCausalLM
    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=WIDTH, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=2, max_position_embeddings=LENGTH))
    return language(model, torch.compile(model, backend=backend))


def case_bert(backend):
    from transformers import BertConfig, BertForMaskedLM
    model = BertForMaskedLM(BertConfig(
        vocab_size=VOCABULARY, hidden_size=WIDTH, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=2, max_position_embeddings=LENGTH))
    return language(model, torch.compile(model, backend=backend))


def case_t5(backend):
    from transformers import T5Config, T5ForConditionalGeneration
    model = T5ForConditionalGeneration(T5Config(
        vocab_size=VOCABULARY, d_model=WIDTH, d_kv=16, d_ff=64, num_layers=2, num_heads=2,
        decoder_start_token_id=0))
    return language(model, torch.compile(model, backend=backend))


def case_lora(backend):
    from peft import LoraConfig, get_peft_model
    model = get_peft_model(gpt2(), LoraConfig(target_modules=["c_attn"], fan_in_fan_out=True))
    return language(model, torch.compile(model, backend=backend))


def case_lightning(backend):
    import lightning

    class Lit(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net, self.losses = mlp(), []

        def training_step(self, batch, _):
            loss = self.net(batch[0]).square().mean()
            self.losses.append(loss.item())
            return loss

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), lr=1e-3)
    model = Lit()
    data = torch.utils.data.TensorDataset(torch.randn(STEPS * 8, 128))
    trainer = lightning.Trainer(accelerator="cpu", max_epochs=1, logger=False,
                                enable_checkpointing=False, enable_progress_bar=False,
                                enable_model_summary=False)
    trainer.fit(torch.compile(model, backend=backend), torch.utils.data.DataLoader(data, 8))
    return model.losses


# ----------------------------------------------------------------------------------


def main(backend, cases):
    told = {}
    for case in cases:
        torch.manual_seed(0)
        torch._dynamo.reset()
        counters.clear()
        try:
            losses = globals()[f"case_{case}"](backend)
        except ImportError as error:
            print(f"{case}: {error}", file=sys.stderr)
            continue
        torch.empty(MARKER_BYTES, dtype=torch.uint8)
        told[case] = {"losses": losses,
                      "counters": {name: dict(counters[name]) for name in COUNTED}}
        torch._dynamo.reset()
        gc.collect()
    print(json.dumps(told))


ALL = [name[len("case_"):] for name in globals() if name.startswith("case_")]
main(sys.argv[1], sys.argv[2:] or ALL)
