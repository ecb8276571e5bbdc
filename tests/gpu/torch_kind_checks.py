# torch_kind_checks.py: programs of the kinds that people run (torch_kinds.py): what is alive at the
# GPU's peak and what backward allocates has names, and parameters, gradients and optimizer state are
# those that the program itself lists. KINDS_DEVICE=cpu: the same on the host.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import sqlite3

from lab import check, must, need_module, script

ENOUGH_NAMED = 0.99
ROUNDING = 512
UNSPLIT = 1 << 20  # the caching allocator leaves as much in a block that is too large
KINDS = {
    "compiled_class": "torch.compile of a class of the user's",
    "compiled_sequential": "torch.compile of nn.Sequential",
    "compiled_graphs": "torch.compile with CUDA graphs",
    "compiled_dynamic": "torch.compile with dynamic shapes",
    "compiled_in_place": "model.compile()",
    "ddp": "DistributedDataParallel",
    "fsdp2": "fully_shard",
    "lora_trainer": "LoRA with the Trainer of transformers",
    "lightning": "Lightning",
    "generate": "save, load, half, generate",
    "graph_network": "a graph network of torch-geometric",
    "checkpointed": "activation checkpoints",
    "amp_workers": "a CNN in mixed precision with data from workers",
    "threads": "four models in four threads",
    "ema": "a model and its moving average",
    "ppo": "reinforcement learning from rollouts",
    "dqn": "reinforcement learning with a replay buffer",
    "diffusion": "diffusion with a moving average by hand and sampling",
    "clustering": "clustering and neighbours without modules",
}
NEEDS = {"lora_trainer": ("transformers", "peft"), "generate": ("transformers",),
         "lightning": ("lightning",), "graph_network": ("torch_geometric",)}
DEVICE = os.environ.get("KINDS_DEVICE", "cuda")
BLOCKS = "cuda:0" if DEVICE == "cuda" else "cpu"


def has_name(row):
    return bool(row["module"] or row["label"]) and row["category"] != "other"


def share(rows):
    """Of the bytes that have a name; and the largest without."""
    total = sum(row["bytes"] for row in rows)
    nameless = sorted((r for r in rows if not has_name(r)), key=lambda r: -r["bytes"])
    named = total - sum(row["bytes"] for row in nameless)
    return named / total if total else 1.0, nameless[:5]


def allocated_in_backward(lab, trace):
    path = lab.path("kind.sqlite")
    must([lab.memledger, "export", "-f", "--format", "sqlite", "-o", path, trace])
    with sqlite3.connect(path) as database:
        rows = database.execute(
            "SELECT module, label, category, sum(bytes) FROM allocations"
            " WHERE phase = 'backward' AND space = 'torch' AND device = ? GROUP BY 1, 2, 3",
            (BLOCKS,)).fetchall()
    return [dict(zip(("module", "label", "category", "bytes"), row)) for row in rows]


def same_storages(lab, trace, truth, kind):
    """Every storage that the program lists has its label, and no other block has one."""
    rows = lab.report("table", trace, "--by", "label,category", "--at", "end", "--device", BLOCKS,
                      "--top", "1000000")["groups"]
    for category in ("parameter", "gradient", "optimizer_state"):
        if category not in truth or (kind, category) == ("compiled_graphs", "gradient"):
            continue  # PyTorch counts what a CUDA graph has computed as free
        found = {r["label"]: r["bytes"] for r in rows if r["category"] == category}
        wanted = dict(truth[category])
        assert found.keys() == wanted.keys(), \
            f"{kind}: {category}: {sorted(found.keys() ^ wanted.keys())[:8]} on one side only"
        for name, size in wanted.items():
            assert size <= found[name] <= size + ROUNDING + UNSPLIT, \
                f"{kind}: {category} {name}: {found[name]} bytes, expected {size}"


def run_kind(lab, kind):
    need_module("torch")
    for module in NEEDS.get(kind, ()):
        need_module(module)
    # Other processes that compile would outlive the program, and the end would be theirs.
    trace, done = lab.record(f"kind-{kind}", [*script("torch_kinds.py"), kind],
                             env={"TORCHINDUCTOR_COMPILE_THREADS": "1"})
    truth = json.loads(done.stdout.strip().splitlines()[-1])
    rows = lab.report("table", trace, "--by", "module,label,category", "--device", BLOCKS,
                      "--top", "1000000")["groups"]
    at_peak, nameless = share(rows)
    in_backward, nameless_backward = share(allocated_in_backward(lab, trace))
    print(f"  {kind}: {at_peak:.2%} of the peak, {in_backward:.2%} of backward have a name")
    assert at_peak >= ENOUGH_NAMED, f"at the peak without a name: {nameless}"
    assert in_backward >= ENOUGH_NAMED, f"in backward without a name: {nameless_backward}"
    same_storages(lab, trace, truth, kind)
    if kind == "compiled_graphs" and DEVICE == "cuda":
        pools_have_regions(lab, trace)


def pools_have_regions(lab, trace):
    """Memory that PyTorch keeps for CUDA graphs, by the region that was captured."""
    for entry in lab.ledger(trace, "end")["entries"]:
        if entry["name"] == "private pools":
            names = {pool["name"] for pool in entry["entries"]}
            print(f"  private pools: {entry['bytes']:,} bytes in {sorted(names)}")
            assert any(name.startswith("CUDA graphs: ") for name in names), names
            return
    raise AssertionError("the ledger has no private pools")


def add_check(kind):
    def run(lab):
        run_kind(lab, kind)

    run.__name__ = f"kind_{kind}"
    run.__doc__ = f"Names at the peak and in backward: {KINDS[kind]}"
    check(run)


for one in KINDS:
    add_check(one)
