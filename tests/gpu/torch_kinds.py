# torch_kinds.py: training and serving programs of the kinds that people run, without memledger.
#
#     torch_kinds.py KIND
#
# prints one line of JSON: the storages of parameters, gradients and optimizer state that are alive
# at the end, by name. KINDS_DEVICE: "cuda" unless it says "cpu".
#
# SPDX-License-Identifier: Apache-2.0
import copy
import json
import os
import sys
import tempfile
import threading

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "integration", "torch"))
import told  # noqa: E402, it lies beside the tests on the host

DEVICE = os.environ.get("KINDS_DEVICE", "cuda")
STEPS = 4
WIDTH = 256
VOCABULARY = 1000
KEPT = []


# ---- Models ------------------------------------------------------------------------


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm(WIDTH)
        self.attention = nn.MultiheadAttention(WIDTH, 4, batch_first=True)
        self.norm2 = nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(),
                                 nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        y = self.norm1(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, layers=4, recompute=False):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(layers))
        self.head = nn.Linear(WIDTH, VOCABULARY)
        self.recompute = recompute

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.recompute else block(x)
        return self.head(x)


def perceptron():
    return nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 2048), nn.ReLU(),
                         nn.Linear(2048, 100))


def tokens(length=128):
    return torch.randint(0, VOCABULARY, (16, length), device=DEVICE)


def language_loss(model, batch):
    logits = model(batch)
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), batch[:, 1:].flatten())


def train(model, optimizer, loss_of, batches):
    for batch in batches:
        optimizer.zero_grad()
        loss_of(model, batch).backward()
        optimizer.step()
    # The last step leaves gradients, so that they are there to be counted.
    loss_of(model, batches[-1]).backward()
    KEPT.append((model, optimizer))


def trained_gpt(model, runs=None, lengths=(128,) * STEPS):
    """`runs`: what is called, if it is not the model itself."""
    optimizer = torch.optim.AdamW(model.parameters())
    train(model if runs is None else runs, optimizer, language_loss, [tokens(n) for n in lengths])
    return told.contents(model, optimizer)


# ---- Compiled ------------------------------------------------------------------------


def kind_compiled_class():
    model = GPT().to(DEVICE)
    return trained_gpt(model, torch.compile(model))


def kind_compiled_sequential():
    model = perceptron().to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters())

    def loss_of(compiled, batch):
        return F.cross_entropy(compiled(batch), torch.zeros(64, dtype=torch.long, device=DEVICE))

    train(torch.compile(model), optimizer, loss_of,
          [torch.randn(64, 512, device=DEVICE) for _ in range(STEPS)])
    return told.contents(model, optimizer)


def kind_compiled_graphs():
    model = GPT().to(DEVICE)
    return trained_gpt(model, torch.compile(model, mode="reduce-overhead"), (128,) * 8)


def kind_compiled_dynamic():
    model = GPT().to(DEVICE)
    return trained_gpt(model, torch.compile(model, dynamic=True), (64, 96, 128, 80))


def kind_compiled_in_place():
    model = GPT().to(DEVICE)
    model.compile()
    return trained_gpt(model)


# ---- Several ranks -------------------------------------------------------------------


def begin_ranks():
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29511")
    torch.distributed.init_process_group("nccl" if DEVICE == "cuda" else "gloo",
                                         rank=int(os.environ.get("RANK", 0)),
                                         world_size=int(os.environ.get("WORLD_SIZE", 1)))


def kind_ddp():
    begin_ranks()
    model = GPT().to(DEVICE)
    return trained_gpt(model, nn.parallel.DistributedDataParallel(model))


def kind_fsdp2():
    from torch.distributed.fsdp import fully_shard
    begin_ranks()
    model = GPT().to(DEVICE)
    for block in model.blocks:
        fully_shard(block)
    fully_shard(model)
    optimizer = torch.optim.AdamW(model.parameters())
    train(model, optimizer, language_loss, [tokens() for _ in range(STEPS)])
    return local_contents(model, optimizer)


def by_unit(pairs):
    """fully_shard puts the gradients of a module into one storage, which has one name."""
    units = {}
    for name, tensor in pairs:
        units.setdefault(tensor.untyped_storage().data_ptr(), []).append((name, tensor))
    for unit in units.values():
        names = [name for name, _ in unit]
        start = names[0][:len("blocks.0.")] if names[0].startswith("blocks.") else ""
        yield f"{start}({names[0][len(start):]} to {names[-1][len(start):]})", unit[0][1]


def local_contents(model, optimizer):
    """As told.contents, of what this rank has."""
    names = {p: n for n, p in model.named_parameters()}
    device = torch.device(DEVICE, 0) if DEVICE == "cuda" else torch.device(DEVICE)
    parts = {
        "parameter": ((n, p.to_local()) for n, p in model.named_parameters()),
        "gradient": by_unit((n, p.grad.to_local()) for n, p in model.named_parameters()),
        "optimizer_state": ((f"{names[p]}.{slot}", getattr(v, "_local_tensor", v))
                            for p, slots in optimizer.state.items() for slot, v in slots.items()),
    }
    return {category: told.listed(pairs, device) for category, pairs in parts.items()}


# ---- Libraries -----------------------------------------------------------------------


def small_gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel
    return GPT2LMHeadModel(GPT2Config(n_layer=4, n_embd=WIDTH, n_head=4, vocab_size=VOCABULARY,
                                      n_positions=256))


def kind_lora_trainer():
    from peft import LoraConfig, get_peft_model
    from transformers import Trainer, TrainingArguments
    model = get_peft_model(small_gpt2(), LoraConfig(r=8, target_modules=["c_attn"]))
    data = [{"input_ids": row, "labels": row} for row in
            torch.randint(0, VOCABULARY, (64, 128))]
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(model, TrainingArguments(
            folder, max_steps=STEPS, per_device_train_batch_size=16, report_to=[],
            save_strategy="no", disable_tqdm=True, logging_strategy="no",
            use_cpu=DEVICE == "cpu"), train_dataset=data)
        trainer.train()
    KEPT.append(trainer)
    return told.contents(model, trainer.optimizer)


def kind_lightning():
    import lightning

    class Lit(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = GPT()

        def training_step(self, batch, index):
            return language_loss(self.net, batch)

        def validation_step(self, batch, index):
            self.log("loss", language_loss(self.net, batch))

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters())

    model = Lit()
    data = torch.utils.data.DataLoader(torch.randint(0, VOCABULARY, (64, 128)), batch_size=16)
    trainer = lightning.Trainer(max_epochs=2, accelerator="gpu" if DEVICE == "cuda" else "cpu",
                                devices=1, logger=False, enable_checkpointing=False,
                                enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(model, data, data)
    KEPT.append((model, trainer))
    return {"parameter": []}  # Lightning moves the model back to the host


def kind_generate():
    """Saved, loaded, converted, and used."""
    from transformers import GPT2LMHeadModel
    with tempfile.TemporaryDirectory() as folder:
        small_gpt2().save_pretrained(folder)
        model = GPT2LMHeadModel.from_pretrained(folder).to(DEVICE)
    model = model.half() if DEVICE == "cuda" else model.bfloat16()
    out = model.generate(tokens(64), max_new_tokens=64, do_sample=False, pad_token_id=0)
    KEPT.append((model, out))
    return told.of_another("GPT2LMHeadModel#2", told.contents(model))  # the saved one was the first


def kind_graph_network():
    from torch_geometric.nn import GCNConv

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = GCNConv(256, 512)
            self.second = GCNConv(512, 40)

        def forward(self, x, edges):
            return self.second(F.relu(self.first(x, edges)), edges)

    model = Net().to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters())
    nodes = torch.randn(10000, 256, device=DEVICE)
    edges = torch.randint(0, 10000, (2, 100000), device=DEVICE)
    wanted = torch.randint(0, 40, (10000,), device=DEVICE)
    train(model, optimizer, lambda net, batch: F.cross_entropy(net(*batch), wanted),
          [(nodes, edges)] * STEPS)
    return told.contents(model, optimizer)


# ---- PyTorch alone -------------------------------------------------------------------


def kind_checkpointed():
    return trained_gpt(GPT(recompute=True).to(DEVICE))


class Images(torch.utils.data.Dataset):
    def __len__(self):
        return 128

    def __getitem__(self, index):
        return torch.randn(3, 64, 64), index % 10


def kind_amp_workers():
    """A CNN in mixed precision, with data from workers in pinned memory."""
    model = nn.Sequential(
        nn.Conv2d(3, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(64, 128, 3, padding=1), nn.BatchNorm2d(128), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 10)).to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    loader = torch.utils.data.DataLoader(Images(), batch_size=32, num_workers=2,
                                         pin_memory=DEVICE == "cuda")
    scaler = torch.amp.GradScaler(DEVICE)
    for images, labels in loader:
        optimizer.zero_grad()
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            loss = F.cross_entropy(model(images.to(DEVICE, non_blocking=True)), labels.to(DEVICE))
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    KEPT.append((model, optimizer))
    return told.contents(model, optimizer)


def kind_threads():
    models = [perceptron().to(DEVICE) for _ in range(4)]

    def work(model):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        train(model, optimizer, lambda net, batch: net(batch).square().mean(),
              [torch.randn(64, 512, device=DEVICE) for _ in range(STEPS)])

    threads = [threading.Thread(target=work, args=(m,)) for m in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return told.together(told.contents(models[0]), *(
        told.of_another(f"Sequential#{i + 2}", told.contents(m))
        for i, m in enumerate(models[1:])))


def kind_ema():
    """A copy of the model that follows it."""
    model = GPT().to(DEVICE)
    average = copy.deepcopy(model)
    truth = trained_gpt(model)
    with torch.no_grad():
        for a, p in zip(average.parameters(), model.parameters()):
            a.lerp_(p, 0.01)
    KEPT.append(average)
    return told.together(truth, told.of_another("GPT#2", told.contents(average)))


# ---- Memory outside of modules -------------------------------------------------------


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh())
        self.actor, self.critic = nn.Linear(WIDTH, 8), nn.Linear(WIDTH, 1)

    def forward(self, seen):
        hidden = self.body(seen)
        return torch.distributions.Categorical(logits=self.actor(hidden)), self.critic(hidden)[:, 0]


def advantages(rewards, values):
    result, last = torch.zeros_like(rewards), torch.zeros_like(rewards[0])
    for t in reversed(range(len(rewards) - 1)):
        last = rewards[t] + 0.99 * values[t + 1] - values[t] + 0.95 * last
        result[t] = last
    return result


def rollout(policy, length=32, places=256):
    seen, rows = torch.randn(places, WIDTH, device=DEVICE), []
    for _ in range(length):
        with torch.no_grad():
            choice, value = policy(seen)
            action = choice.sample()
        rows.append((seen, action, choice.log_prob(action), value, -seen.square().mean(1)))
        seen = 0.9 * seen + 0.1 * torch.randn_like(seen)
    seen, action, log, values, rewards = (torch.stack(column) for column in zip(*rows))
    return [x.flatten(0, 1) for x in (seen, action, log, advantages(rewards, values))]


def kind_ppo():
    """Proximal policy optimization: rollouts, then several epochs of learning from them."""
    policy = Policy().to(DEVICE)
    optimizer = torch.optim.Adam(policy.parameters())
    for _ in range(3):
        data = rollout(policy)
        for chosen in torch.randperm(len(data[0]), device=DEVICE).split(2048):
            seen, action, log, gain = (x[chosen] for x in data)
            choice, value = policy(seen)
            ratio = (choice.log_prob(action) - log).exp()
            loss = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean() + \
                (value - gain).square().mean() - 0.01 * choice.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    KEPT.append((policy, optimizer, data))
    return told.contents(policy, optimizer)


def kind_dqn():
    """Deep Q-learning with a replay buffer on the device."""
    network, target = perceptron().to(DEVICE), perceptron().to(DEVICE)
    optimizer = torch.optim.Adam(network.parameters())
    memory, state = [], torch.randn(512, device=DEVICE)
    for step in range(600):
        with torch.no_grad():
            action = network(state[None]).argmax(1)
        after = 0.9 * state + 0.1 * torch.randn(512, device=DEVICE)
        memory.append((state, action, after))
        state = after
        if step < 64 or step % 16:
            continue
        before, action, after = (torch.stack(x) for x in zip(*memory[-512::8]))
        with torch.no_grad():
            wanted = after.square().mean(1) + 0.99 * target(after).max(1).values
        loss = F.smooth_l1_loss(network(before).gather(1, action)[:, 0], wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    KEPT.append((network, target, optimizer, memory))
    return told.together(told.contents(network, optimizer),
                         told.of_another("Sequential#2", told.contents(target)))


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Conv2d(4, 64, 3, padding=1), nn.Conv2d(64, 3, 3, padding=1)

    def forward(self, x, t):
        t = t[:, None, None, None].expand(-1, 1, *x.shape[2:])
        return self.last(F.silu(self.first(torch.cat((x, t), 1))))


@torch.no_grad()
def denoise(model, shape, steps=20):
    x, kept = torch.randn(shape, device=DEVICE), []
    for t in torch.linspace(1, 0, steps, device=DEVICE):
        noise = model(x, t.expand(shape[0]))
        x = (x - 0.05 * noise) / 0.99 + 0.01 * t * torch.randn_like(x)
        kept.append(x.clamp(-1, 1))
    return torch.stack(kept)


def kind_diffusion():
    """Training, a moving average of the weights by hand, and sampling without gradients."""
    model = Denoiser().to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters())
    images = torch.rand(256, 3, 32, 32, device=DEVICE)
    average = {name: value.clone() for name, value in model.state_dict().items()}
    for _ in range(STEPS):
        x, t = images[torch.randperm(256, device=DEVICE)[:64]], torch.rand(64, device=DEVICE)
        noise = torch.randn_like(x)
        loss = F.mse_loss(model(x + t[:, None, None, None] * noise, t), noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for name, value in model.state_dict().items():
                average[name].lerp_(value, 0.01)
    KEPT.append((model, optimizer, images, average, denoise(model, (64, 3, 32, 32))))
    return told.contents(model, optimizer)


def kind_clustering():
    """k-means and nearest neighbours, without modules and gradients."""
    points = torch.randn(20000, WIDTH, device=DEVICE)
    centers = points[:64].clone()
    for _ in range(8):
        near = torch.cdist(points, centers).argmin(1)
        members = F.one_hot(near, 64).to(points.dtype)
        centers = members.t() @ points / members.sum(0).clamp(min=1)[:, None]
    KEPT.append((points, centers, (points[:2000] @ points.t()).topk(10).indices))
    return {}


if __name__ == "__main__":
    torch.manual_seed(0)
    print(json.dumps(globals()["kind_" + sys.argv[1]]()), flush=True)
    os._exit(0)  # what is alive now is alive at the trace's end
