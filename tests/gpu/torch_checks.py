# torch_checks.py: checks of memledger's reports on PyTorch programs on a GPU: exact at each
# step, named, in agreement with MemTracker, cheap in time, disk and memory.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import sys

from lab import HERE, Missed, Skip, blocks_of, check, execute, mib, must, need_module, script, \
    segment_bytes
from torch_cost import measure, show

TRAINING = os.path.abspath(os.path.join(HERE, "..", "integration", "torch"))
sys.path.insert(0, TRAINING)
from block_story import Story, share_named  # noqa: E402, it lies beside the tests on the host
from compiled_blocks import QUERY, CompiledBlocks, layers_in, share_in_layers  # noqa: E402

ENOUGH_NAMED = 0.99
MOST_TIME = {"memledger": 0.02, "memledger --stacks python": 0.05}
MOST_BYTES = {"memledger": 4, "memledger --stacks python": 6}
MOST_MEMORY = 64 << 20
ROUNDING = 512
UNSPLIT = 1 << 20  # the caching allocator leaves as much in a block that is too large
NETWORKS = ("mlp", "cnn", "transformer", "lstm")


def training(name):
    return [sys.executable, os.path.join(TRAINING, name)]


# ---- Exact ------------------------------------------------------------------------


def at_boundaries(lab, trace):
    """[allocated, most since the boundary before, time] at each mark, from the events."""
    rows, live, total, most = [], {}, 0, 0
    kinds = "--kind=alloc,free,marker"
    for event in lab.report("events", trace, kinds)["events"]:
        kind = event["kind"]
        if kind == "marker" and event["name"].startswith("boundary "):
            rows.append([total, most, event["time_ns"]])
            most = total
        elif event.get("space") != "torch" or not event["device"].startswith("cuda:"):
            continue
        elif kind == "free":
            total -= live.pop(event["address"], 0)
        else:
            live[event["address"]] = event["bytes"]
            total += event["bytes"]
            most = max(most, total)
    return rows


@check
def torch_exact(lab):
    """Allocated, its peak and reserved after every step, to the byte"""
    need_module("torch")
    for name, setting in (("native", ""), ("expandable", "expandable_segments:True")):
        trace, done = lab.record(f"torch-exact-{name}", script("torch_boundaries.py"),
                                 env={"PYTORCH_CUDA_ALLOC_CONF": setting})
        said = json.loads(done.stdout.strip().splitlines()[-1])
        found = at_boundaries(lab, trace)
        assert len(found) == len(said), f"{name}: {len(found)} marks of {len(said)}"
        for number, (row, (allocated, peak, time_ns)) in enumerate(zip(said, found)):
            reserved = segment_bytes(lab.ledger(trace, f"{time_ns}ns")) if row["reserved"] else 0
            got = {"allocated": allocated, "peak": peak, "reserved": reserved}
            assert got == row, f"{name}, step {number}: PyTorch says {row}, the trace {got}"
        print(f"  {name}: {len(said)} boundaries, allocated up to {max(r['peak'] for r in said):,}, "
              f"reserved up to {max(r['reserved'] for r in said):,}: all equal")


# ---- Named --------------------------------------------------------------------------


def rounded(rows):
    return sorted([name, (size + ROUNDING - 1) // ROUNDING * ROUNDING] for name, size in rows)


def same_labels(told, found, what):
    """The same names; sizes as the caching allocator rounds them."""
    wanted = rounded(told)
    assert [n for n, _ in wanted] == [n for n, _ in found], f"{what}: {found}, expected {wanted}"
    for (name, size), (_, got) in zip(wanted, found):
        assert size <= got <= size + UNSPLIT, f"{what} {name}: {got} bytes, expected {size}"


@check
def torch_names(lab):
    """Names of what is alive at the peak and allocated in backward; every label"""
    need_module("torch")
    env = {"TRAINING_DEVICE": "cuda"}
    for case in NETWORKS:
        modules_file = lab.path(f"{case}-modules.json")
        alone = must([*training("training.py"), case, modules_file], env)
        trace, done = lab.record(f"torch-names-{case}", [*training("training.py"), case], env=env)
        told = json.loads(alone.stdout)
        with open(modules_file) as f:
            modules = set(json.load(f))
        story = Story(lab.report("events", trace)["events"])
        device = next(b.device for b in story.blocks if b.device.startswith("cuda:"))
        at_peak, nameless = share_named(story.peak(device), modules)
        in_backward, nameless_backward = share_named(story.born_in("backward", device), modules)
        print(f"  {case}: {at_peak:.2%} of the peak, {in_backward:.2%} of backward have a name")
        assert at_peak >= ENOUGH_NAMED, f"{case}: at the peak without a name: {nameless}"
        assert in_backward >= ENOUGH_NAMED, f"{case}: in backward: {nameless_backward}"
        assert story.born_in("backward", device), f"{case}: nothing was allocated in backward"
        labelled = story.labelled(device)
        for category in ("parameter", "buffer", "gradient", "optimizer_state"):
            same_labels(told[category], labelled.get(category, []), f"{case}: {category}")
        assert json.loads(done.stdout).keys() == told.keys(), f"{case} printed something else"


RANKS = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node=1", "--standalone"]
TOLD = ("select coalesce(sum(bytes), 0), coalesce(sum(case when (scope <> '' or label is not null)"
        " and category <> 'other' then bytes end), 0) from %s and level = 'block'"
        " and device like 'cuda:%%'")
SHARES = {"the peak": "live_at_peak where true", "backward": "allocations where phase = 'backward'"}


@check
def torch_ranks(lab):
    """DDP and FSDP with NCCL: names and categories at the peak and in backward; NCCL's memory"""
    need_module("torch")
    for case in ("ddp", "ddp_view", "fsdp1", "fsdp2"):
        trace, _ = lab.record(f"torch-ranks-{case}",
                              [*RANKS, os.path.join(TRAINING, "ranks.py"), case],
                              env={"TRAINING_DEVICE": "cuda"})
        for what, table in SHARES.items():
            [[total, told]] = lab.report("sql", trace, TOLD % table)["rows"]
            print(f"  {case}: {told / max(1, total):.2%} of {mib(total)} of {what} are told")
            assert total and told >= ENOUGH_NAMED * total, f"{case}: {told} of {total} of {what}"
        asked = {entry["name"]: entry for entry in lab.ledger(trace, "peak")["entries"]}
        for entry in asked.get("driver allocations", {}).get("entries", []):
            print(f"  {case}: driver allocations of {entry['name']}: {mib(entry['bytes'])}")


@check
def torch_nccl_groups(lab):
    """NCCL's memory by communicator, with the name of its process group"""
    need_module("torch")
    trace, _ = lab.record("torch-nccl-groups", script("nccl_groups.py"))
    asked = {entry["name"]: entry for entry in lab.ledger(trace, "end")["entries"]}
    found = {entry["name"]: entry["bytes"] for entry in asked["driver allocations"]["entries"]}
    for name, size in found.items():
        print(f"  driver allocations of {name}: {mib(size)}")
    for name in ("0 default_pg", "1 tensor parallel"):
        assert found.get(f"NCCL, communicator {name} (rank 0 of 1)"), f"no communicator {name}"
    rest, whole = found.get("NCCL", 0), sum(found[n] for n in found if n.startswith("NCCL"))
    assert rest <= 0.05 * whole, f"{mib(rest)} of NCCL's {mib(whole)} are for no communicator"


@check
def torch_generate(lab):
    """Keys and values by layer and token; pinned batches are inputs"""
    need_module("torch")
    need_module("transformers")
    trace, done = lab.record("torch-generate", script("torch_generate.py"))
    told = json.loads(done.stdout.strip().splitlines()[-1])
    cache = lab.report("summary", trace)["kv_cache"]
    print(f"  {cache['peak_bytes']:,} bytes in {len(cache['layers'])} layers, "
          f"{cache['mean_growth_bytes']:,} a token; the model says {told}")
    blocks = 2 * len(cache["layers"])
    assert told["bytes"] <= cache["peak_bytes"] <= told["bytes"] * 1.5 + blocks * UNSPLIT, cache
    assert abs(cache["mean_growth_bytes"] / told["token"] - 1) < 0.05, cache
    pinned = {e["label"] for e in lab.report("events", trace, "--kind", "label")["events"]
              if e["space"] == "cuda pinned"}
    assert pinned == {"DataLoader"}, f"labels of pinned batches: {pinned}"
COMPILED = ("sequential", "encoder", "gpt", "graphs", "resnet", "in_place", "function", "blocks",
            "submodule", "optimizer")


def same_layers(case, told, found):
    """Blocks on the GPU are as large as PyTorch says, or larger."""
    assert found.keys() == told.keys(), f"{case}: layers {sorted(told)}, found {sorted(found)}"
    for layer, row in told.items():
        assert found[layer].keys() == row.keys(), f"{case}: {layer} has {found[layer]}, not {row}"
        assert all(found[layer][kind] >= size for kind, size in row.items()), \
            f"{case}: {layer} has {found[layer]}, not {row}"


@check
def torch_compiled(lab):
    """Code of torch.compile, also as CUDA graphs: layers at the peak and in backward; results"""
    need_module("torch")
    env = {"TORCHINDUCTOR_CACHE_DIR": lab.path("inductor")}
    command = [*training("compiled.py"), "--cuda", *COMPILED]
    alone = json.loads(must(command, env).stdout.strip().splitlines()[-1])
    trace, done = lab.record("torch-compiled", command, env=env)
    told = json.loads(done.stdout.strip().splitlines()[-1])
    device = lab.ledger(trace, "peak")["device"]
    blocks = CompiledBlocks(lab.report("sql", trace, QUERY)["rows"], COMPILED, device)
    for case in COMPILED:
        (peak, worst), (backward, worse) = map(share_in_layers, (blocks.at_peak(case),
                                                                 blocks.in_backward(case)))
        print(f"  {case:12} {peak:.2%} of the peak, {backward:.2%} of backward")
        assert told[case]["counters"] == alone[case]["counters"], f"{case}: compiled differently"
        assert min(peak, backward) >= ENOUGH_NAMED, f"{case}: {worst} {worse}"
        rows = lab.report("layers", trace, "--at", blocks.end(case), "--device", device)["layers"]
        if case == "graphs":  # PyTorch counts what a CUDA graph has computed as free
            for row in told[case]["layers"].values():
                row.pop("gradient", None)
        same_layers(case, told[case]["layers"], layers_in(rows))


@check
def torch_agreement(lab):
    """PyTorch's MemTracker: the same for parameters, gradients, optimizer, activations"""
    need_module("torch")
    done = execute([*training("mem_tracker.py"), "--memledger", lab.memledger, "--folder",
                    lab.folder, "--device", "cuda", "--times", "64"])
    print("  " + done.stdout.strip().replace("\n", "\n  "))
    if done.returncode == 77:
        raise Skip(done.stdout.strip())
    assert done.returncode == 0, f"MemTracker says something else\n{done.stderr[-3000:]}"


# ---- Cheap ----------------------------------------------------------------------------


@check
def torch_cost(lab):
    """A step with many small blocks: memledger beside PyTorch's own recorders"""
    need_module("torch")
    costs = measure(lab)
    show(costs)
    for name, most in MOST_TIME.items():
        over, low, high = costs[name].over_alone
        if low <= most < over:
            raise Missed(f"{name}: {over:.1%} over the step alone, {most:.0%} is allowed; by chance "
                         f"alone it lies between {low:.1%} and {high:.1%}")
        assert over <= most, f"{name}: {over:.1%} over the step alone, {most:.0%} is allowed"
        each = costs[name].file_bytes / costs[name].file_events
        assert each <= MOST_BYTES[name], f"{name}: {each:.2f} bytes an event"


MOST_SWITCHED = {"names": 0.02, "names, no samples": 0.02, "names and Python lines": 0.04}


@check
def torch_switched(lab):
    """A step with and without recording, in one process that switches it on and off"""
    need_module("torch")
    done = must(script("torch_switched.py"), {"PYTHONPATH": package_of(lab)})
    *lines, last = done.stdout.strip().splitlines()
    print("  " + "\n  ".join(lines))
    for name, found in json.loads(last).items():
        cost, most = found["cost"]["50"], MOST_SWITCHED.get(name.partition(", ")[2])
        if most is not None and cost["over"] > most:
            raise Missed(f"{name}: {cost['over']:.1%} over the step alone ({cost['low']:.1%} to "
                         f"{cost['high']:.1%}), {most:.0%} allowed")


def package_of(lab):
    package = os.path.join(os.path.dirname(lab.memledger), "..", "..", "python")
    if not os.path.exists(os.path.join(package, "memledger")):
        raise Skip("the Python package was not built")
    return package


@check
def torch_long(lab):
    """10,000 steps: the memory of the program beside that of the program alone"""
    need_module("torch")
    program = [*training("long_run.py"), "10000", "cuda"]
    alone = json.loads(must(program).stdout)
    print(f"  alone: RSS {mib(alone['rss'])}, PSS {mib(alone['pss'])}")
    for name, options in (("memledger", ()), ("memledger --stacks python", ("--stacks", "python"))):
        _, done = lab.record("torch-long", program, *options)
        found = json.loads(done.stdout)
        extra = {key: found[key] - alone[key] for key in ("rss", "pss")}
        print(f"  {name}: {mib(extra['rss'])} of RSS and {mib(extra['pss'])} of PSS more; "
              f"{mib(found['grown'])} since step 1,000, alone {mib(alone['grown'])}")
        assert max(extra.values()) <= MOST_MEMORY, f"{name} takes {mib(max(extra.values()))}"


@check
def torch_live(lab):
    """The package in a plain Python: its figures, PyTorch's and its trace's agree to the byte"""
    need_module("torch")
    trace = lab.path("torch-live.mled")
    done = must([*script("torch_live.py"), trace], {"PYTHONPATH": package_of(lab)})
    said = json.loads(done.stdout.strip().splitlines()[-1])
    print("  live and peak: " + ", ".join(f"{a:,} and {b:,}" for a, b in said["found"]))
    print(f"  profiler: {said['profiler']}")
    assert all(a == b for a, b in said["found"]), said
    assert blocks_of(lab, trace)["live_bytes"] == said["end"], blocks_of(lab, trace)
    profiler = said["profiler"]
    assert profiler["all weights"] == profiler["all gradients"], profiler
    assert profiler["feature maps"] >= 10 << 20 and profiler["intermediate"] >= 8 << 20, profiler
