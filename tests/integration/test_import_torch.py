#!/usr/bin/env python3
# test_import_torch.py: snapshots of PyTorch's CUDA allocator as traces: real ones against
# PyTorch's own figures, synthetic ones for cases that those lack.
#
# SPDX-License-Identifier: Apache-2.0
import copy
import json
import os
import pickle
import pickletools
import re

import harness
from harness import balanced, check, contains, equal, plain, report

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "torch")
MIB = 1 << 20
BASE = 0x7f0000000000


def load(name):
    with open(os.path.join(DATA, name + ".pickle"), "rb") as f:
        return pickle.load(f)


def truth(name):
    with open(os.path.join(DATA, name + ".truth.json")) as f:
        return json.load(f)


def write(what, name="s.pickle", protocol=4):
    with open(name, "wb") as f:
        pickle.dump(what, f, protocol)
    return name


def convert(path, trace="t.mled"):
    done = plain(harness.MEMLEDGER, "import", "-q", "-f", "-o", trace, path)
    equal(done.returncode, 0, "exit code of import", done.stderr)
    return trace


def imported(what, **options):
    return convert(write(what, **options))


def refused(data, *parts):
    """One line that says what and where; no trace."""
    with open("bad.pickle", "wb") as f:
        f.write(data)
    done = plain(harness.MEMLEDGER, "import", "-q", "-o", "bad.mled", "--format", "torch-snapshot",
                 "bad.pickle")
    check(done.returncode != 0, "a bad file was imported")
    equal(done.stderr.count("\n"), 1, "lines of the message", done.stderr)
    for part in parts:
        contains(done.stderr, part, "the message")
    check(not os.path.exists("bad.mled"), "a trace was left behind")


def levels(trace, device="cuda:0"):
    for entry in report("summary", trace)["by_device"]:
        if entry["device"] == device:
            return {level["level"]: level for level in entry["levels"]}
    raise harness.Failure(f"no {device} in {trace}")


def events(trace, *options):
    return report("events", trace, *options)["events"]


def unknown(trace):
    return report("summary", trace)["health"]["unknown"]


def in_books(trace):
    balanced(report("summary", trace)["health"] | {"kinds": trace}, trace)


# ---- Real ones -------------------------------------------------------------------


def compare(name, trace):
    known, found = truth(name)["memory_stats"], levels(trace)
    for level, key in (("block", "allocated_bytes"), ("driver", "reserved_bytes")):
        for mine, theirs in (("live_bytes", "current"), ("peak_bytes", "peak"),
                             ("allocated_bytes", "allocated")):
            equal(found[level][mine], known[f"{key}.all.{theirs}"], f"{name}: {level} {mine}")
    equal(found["block"]["allocations"], known["allocation.all.allocated"], "allocations")
    equal(found["block"]["live_blocks"], known["allocation.all.current"], "blocks at the end")
    in_books(trace)


def test_what_pytorch_said():
    for name in ("tinygpt", "oom_fragmented"):
        trace = convert(os.path.join(DATA, name + ".pickle"))
        compare(name, trace)
        equal(unknown(trace), [], "what is not known")


def test_every_protocol():
    snapshot = load("tinygpt")
    wanted = events(imported(snapshot))
    for protocol in (2, 3, 4, 5):
        equal(events(imported(snapshot, protocol=protocol)) == wanted, True,
              f"events by protocol {protocol}")
    with open("s.pickle", "wb") as f:
        f.write(pickletools.optimize(pickle.dumps(snapshot, 4)))
    equal(events(convert("s.pickle")) == wanted, True, "events of an optimized pickle")
    plain("gzip", "s.pickle")
    equal(events(convert("s.pickle.gz")) == wanted, True, "events of a gzipped pickle")


def one_by_one(value):
    """A pickle as another writer might make it: no memo, each item on its own."""
    if isinstance(value, dict):
        return b"}" + b"".join(one_by_one(k) + one_by_one(v) + b"s" for k, v in value.items())
    if isinstance(value, list):
        return b"]" + b"".join(one_by_one(v) + b"a" for v in value)
    if isinstance(value, tuple):
        return b"(" + b"".join(map(one_by_one, value)) + b"t"
    return pickle.dumps(value, 2)[2:-1].replace(b"q\x00", b"")


def test_another_writer():
    snapshot = load("oom_fragmented")
    wanted = events(imported(snapshot))
    with open("s.pickle", "wb") as f:
        f.write(b"\x80\x02" + one_by_one(snapshot) + b".")
    equal(events(convert("s.pickle")) == wanted, True, "events")


def holes(trace, until_ns):
    """(allocated, reserved, the largest hole) when the event of that time comes."""
    blocks, segments = {}, {}
    for event in events(trace, "--kind", "alloc,free"):
        if event["time_ns"] > until_ns:
            break
        book = segments if event["level"] == "driver" else blocks
        if event["kind"].startswith("alloc"):
            book[int(event["address"], 16)] = event["bytes"]
        else:
            del book[int(event["address"], 16)]
    largest = 0
    for start, size in segments.items():
        at = start
        for block in sorted(b for b in blocks if start <= b < start + size) + [start + size]:
            largest = max(largest, block - at)
            at = block + blocks.get(block, 0)
    return sum(blocks.values()), sum(segments.values()), largest


def test_refusals_of_memory():
    trace = convert(os.path.join(DATA, "oom_fragmented.pickle"))
    first, second = events(trace, "--kind", "oom")
    equal((first["bytes"], second["bytes"]), (6 * MIB, 400 * MIB), "what was asked for")
    equal(first["stack"][0]["file"], "train.py", "who asked")
    allocated, reserved, hole = holes(trace, first["time_ns"])
    equal((allocated, reserved), (1278 * MIB, 1420 * MIB), "at the first refusal")
    check(hole < first["bytes"], "at the first refusal there is room", hole)
    allocated, reserved, hole = holes(trace, second["time_ns"])
    equal((allocated, reserved), (636 * MIB, 1420 * MIB), "at the second refusal")
    check(hole < second["bytes"] <= reserved - allocated,
          "the second refusal is for want of a hole, not of memory", hole)
    free = [e for e in events(trace, "--kind", "sample")]
    equal(len(free), 2, "samples of what was free")
    curves = report("plot", trace, "--width=300")["reserved"]
    equal([(c["device"], c["peak_bytes"]) for c in curves], [("cuda:0", 1420 * MIB)], "the curve of segments")


def said_bytes(message, pattern):
    """A size in a message of PyTorch's, and how much it may be rounded."""
    number, unit = re.search(pattern.format(r"([0-9.]+) ([MG]iB)"), message).groups()
    unit = {"MiB": MIB, "GiB": MIB << 10}[unit]
    return float(number) * unit, unit / 100


def agrees(bytes_, message, pattern):
    said, slack = said_bytes(message, pattern)
    check(abs(bytes_ - said) <= slack, f"'{pattern}' in PyTorch's message", bytes_, message)


def test_verdicts_on_refusals():
    """Shortage and fragmentation, with the figures of PyTorch's own messages."""
    known = truth("oom_fragmented")
    found = report("oom", convert(os.path.join(DATA, "oom_fragmented.pickle")))
    equal(found["refused"], 2, "refusals")
    first, second = found["verdicts"]
    equal((first["verdict"], first["rule"]), ("shortage", "too_much"), "the first")
    equal((second["verdict"], second["rule"]), ("fragmentation", "fits_afresh"), "the second")
    for verdict, message in ((first, known["oom_message"]),
                             (second, known["oom_message_fragmented"])):
        segments = verdict["segments"]
        agrees(verdict["driver_asked_bytes"], message, "Tried to allocate {}")
        agrees(segments["live_bytes"], message, "{} is allocated by PyTorch")
        agrees(segments["hole_bytes"], message, "{} is reserved by PyTorch but unallocated")
        agrees(verdict["free_bytes"], message, "of which {} is free")
        equal(verdict["free_bytes"], known["mem_get_info"][0], "free on the device")
        equal(segments["bytes"], known["peak_reserved"], "reserved")
        allowed = known["mem_get_info"][1] // 100  # the cap it ran under, which nobody recorded
        check(segments["limited"], "the limit was not seen")
        check(segments["least_capacity_bytes"] <= allowed <= segments["most_capacity_bytes"],
              "the limit", allowed, segments)
        check(segments["largest_request_bytes"] < verdict["asked_bytes"], "it would have fitted")
        contains(verdict["line"], "train.py:", "who asked")
        equal(verdict["holders"][0]["bytes"], segments["live_bytes"], "who held it")
        contains([c["change"] for c in verdict["changes"] if c["enough"]], "expandable_segments",
                 "what would have made room")
    equal(first["segments"]["live_bytes"], known["peak_allocated"], "live at the first")
    equal(second["segments"]["hole_bytes"],
          known["memory_stats"]["inactive_split_bytes.all.current"], "free at the second")
    equal(second["segments"]["holes"],
          known["memory_stats"]["inactive_split.all.current"], "holes at the second")
    equal(first["segments"]["afresh_bytes"], 72 * 20 * MIB, "the first, laid out afresh")
    equal(second["segments"]["afresh_bytes"], 36 * 20 * MIB + 400 * MIB, "the second")


def test_largest_request():
    trace = convert(os.path.join(DATA, "oom_fragmented.pickle"))
    for when, largest in (("oom:1", 2 * MIB), ("oom:2", 8 * MIB)):
        device, = report("fragmentation", trace, "--at", when)["devices"]
        equal(device["largest_request_bytes"], largest, f"what would succeed at {when}")
    stats = truth("oom_fragmented")["memory_stats"]
    device, = report("fragmentation", trace, "--at=end")["devices"]
    equal(device["hole_bytes"], stats["inactive_split_bytes.all.current"], "free at the end")
    equal(device["bytes"], stats["reserved_bytes.all.current"], "reserved at the end")
    equal(device["segments"], stats["segment.all.current"], "segments at the end")
    trace = convert(os.path.join(DATA, "tinygpt.pickle"))
    stats = truth("tinygpt")["memory_stats"]
    device, = report("fragmentation", trace, "--at=end")["devices"]
    equal(device["hole_bytes"] + device["empty_bytes"],
          stats["reserved_bytes.all.current"] - stats["active_bytes.all.current"], "free in tinygpt")
    equal(device["hole_bytes"], stats["inactive_split_bytes.all.current"], "in holes")


def test_annotations():
    trace = convert(os.path.join(DATA, "tinygpt.pickle"))
    summary = report("summary", trace)
    scopes = {row["scope"] for row in summary["by_scope"]}
    check("optimizer: AdamW" in scopes, "the optimizer's step is no scope", scopes)
    steps = [e for e in events(trace, "--kind", "mark") if e["mark"] == "step"]
    equal(len(steps), 3, "steps")


# ---- Categories, from stacks -------------------------------------------------------


PARAMETERS = 3730432  # of tinygpt: PyTorch's MemTracker, tinygpt_memtracker.json


def tracked():
    with open(os.path.join(DATA, "tinygpt_memtracker.json")) as f:
        return {key.split(".")[1]: value for key, value in json.load(f)["cuda:0"].items()
                if "." in key}


def categories(trace):
    return {row["category"]: row for row in report("summary", trace)["by_category"]}


def categories_equal_the_truth(trace, what, workspaces=3):
    found, known = categories(trace), tracked()
    equal(found["parameter"]["at_peak_bytes"], known["PARAM"], f"{what}: parameters")
    equal(found["optimizer_state"]["at_peak_bytes"], known["OPT"], f"{what}: optimizer state")
    equal(found["gradient"]["peak_bytes"], known["PARAM"], f"{what}: gradients at most")
    equal(found["gradient"]["allocations"], 3 * found["parameter"]["allocations"],
          f"{what}: gradients of three steps")
    equal(found["input"]["allocations"], 3, f"{what}: batches")
    # MemTracker does not see the two workspaces of cuBLAS and calls what backward needs temporary.
    for mine, theirs in (("activation", "ACT"), ("intermediate_gradient", "TEMP")):
        check(abs(found[mine]["at_peak_bytes"] / known[theirs] - 1) < 0.02,
              f"{what}: {mine}: {found[mine]['at_peak_bytes']} of {known[theirs]}")
    equal(found["workspace"]["allocations"], workspaces, f"{what}: two of cuBLAS, one of cuBLASLt")
    equal(found.get("other", {"allocations": 0})["allocations"], 3 - workspaces, f"{what}: of unknown purpose")


def inferred(trace):
    text = plain(harness.MEMLEDGER, "summary", trace).stdout
    known = report("summary", trace)["health"]["inferred"] == ["categories"]
    equal("categories inferred from stacks" in text, known, "the note", text)
    return known


def test_categories():
    trace = convert(os.path.join(DATA, "tinygpt.pickle"))
    categories_equal_the_truth(trace, "all stacks")
    check(inferred(trace), "the categories look recorded")
    for command in ("table", "tree", "layers", "steps", "leaks", "ledger"):
        contains(plain(harness.MEMLEDGER, command, trace).stdout.replace("\n", " "),
                 "inferred from stacks", command)


def test_categories_with_native_frames():
    """A real snapshot with stacks="all", autocast, a GradScaler and a checkpointed block."""
    trace = convert(os.path.join(DATA, "amp_all_stacks.pickle.gz"))
    compare("amp_all_stacks", trace)
    found, known = categories(trace), truth("amp_all_stacks")
    equal(found["parameter"]["at_peak_bytes"], known["parameter_bytes"], "parameters")
    equal(found["parameter"]["allocations"], 27, "parameters")
    equal(found["gradient"]["peak_bytes"], known["parameter_bytes"], "gradients at most")
    equal(found["gradient"]["allocations"], 4 * 27, "gradients of four steps")
    equal(found["optimizer_state"]["at_peak_bytes"], known["optimizer_state_bytes"], "state")
    equal(found["input"]["allocations"], 4 * 2, "batches and their targets")
    lines = {row["line"] for row in report("table", trace, "--by", "line")["groups"]}
    check(not any(line and line.startswith("??") for line in lines), "lines of no file", lines)
    check(any(line and "train.py:" in line for line in lines), "no line of the program", lines)
    rows = report("table", trace, "--at", "end", "--by", "category,label")["groups"]
    equal({row["label"]: (row["blocks"], row["bytes"]) for row in rows if row["category"] == "workspace"},
          {"cuBLAS (shared)": (2, 64 << 20), "cuBLASLt (shared)": (2, 2 << 20)}, "workspaces")
    scopes = {e["scope"] for e in events(trace, "--kind", "alloc", "--space", "block")}
    for scope in ("backward: AddmmBackward0", "train > Embedding", "train > train.LayerNorm",
                  "backward: AddmmBackward0 > recompute: train > Linear"):
        check(scope in scopes, f"no {scope}", *sorted(scopes))


def without_workspace(what, change):
    """tinygpt with another stack, or size, of the 32 MiB that its first multiplication allocates."""
    snapshot = load("tinygpt")
    entries = snapshot["device_traces"][0]
    at = next(i for i, e in enumerate(entries) if e["action"] == "alloc" and e["size"] == 32 << 20)
    change(entries, at)
    found = categories(imported(snapshot))
    equal(found["workspace"]["peak_bytes"], 33 << 20, what)
    equal(sum(row["allocations"] for row in found.values()),
          sum(row["allocations"] for row in categories(convert(os.path.join(DATA, "tinygpt.pickle"))).values()),
          f"{what}: allocations")


def test_a_block_of_that_size_is_no_workspace():
    """4096 x 4096 numbers of 16 bits have 32 MiB, too."""
    def in_forward(entries, at):
        own = next(i for i, f in enumerate(entries[at]["frames"]) if f["filename"] == "train.py")
        for e in entries[at - 2:at + 1]:
            e["frames"] = e["frames"][own:]

    def kept_result(entries, at):
        entries[at - 2]["frames"] = [dict(f, line=f["line"] - 1) for f in entries[at - 2]["frames"]]

    without_workspace("a weight that the program makes in forward", in_forward)
    without_workspace("a result that the program keeps: the first block of its call", kept_result)


def test_a_gradient_of_that_size_is_no_workspace():
    """Gradients that zero_grad(set_to_none=False) keeps, of a model from before the trace."""
    snapshot = load("tinygpt")
    for e in snapshot["device_traces"][0]:
        e["frames"] = [f for f in e["frames"] if "module.py" not in f["filename"] or "_apply" not in f["name"]]
    found = categories(imported(snapshot))
    check("parameter" not in found, "a parameter is known", found.keys())
    equal(found["workspace"]["peak_bytes"], 33 << 20, "what forward allocated")


def test_modules_by_class():
    trace = convert(os.path.join(DATA, "tinygpt.pickle"))
    scopes = {row["scope"] for row in report("summary", trace)["by_scope"]}
    for scope in ("train > transformer.MultiheadAttention", "train > transformer.LayerNorm",
                  "train > transformer.Dropout", "train > LayerNorm", "backward"):
        check(scope in scopes, f"no {scope}", *scopes)


def changed(change):
    """tinygpt with other stacks; `change` gets each entry and its allocation's stack."""
    snapshot, stacks = load("tinygpt"), {}
    for e in snapshot["device_traces"][0]:
        if e["action"] == "alloc":
            stacks[e["addr"]] = e["frames"]
        e["frames"] = change(e, stacks.get(e["addr"], []))
    return snapshot


def test_frees_with_the_stack_of_the_allocation():
    """As with context="alloc", and before PyTorch 2.1."""
    for what, change in (
            ("of the allocation", lambda e, at: at if e["action"].startswith("free") else e["frames"]),
            ("none", lambda e, at: [] if e["action"].startswith("free") else e["frames"])):
        found = categories(imported(changed(change)))
        equal(found["parameter"]["at_peak_bytes"], PARAMETERS, f"{what}: parameters")
        equal(found["gradient"]["peak_bytes"], PARAMETERS, f"{what}: gradients at most")
        equal(found["optimizer_state"]["at_peak_bytes"], 2 * PARAMETERS, f"{what}: state")


ENGINE = [{"name": name, "filename": "??", "line": 0} for name in (
    "c10::cuda::CUDACachingAllocator::Native::NativeCachingAllocator::malloc(void**, int)",
    "torch::autograd::generated::AddmmBackward0::apply(std::vector<at::Tensor>&&)",
    "torch::autograd::Node::operator()(std::vector<at::Tensor>&&)",
    "torch::autograd::Engine::thread_main(std::shared_ptr<torch::autograd::GraphTask> const&)",
    "clone")]


def native(name):
    return {"name": name, "filename": "??", "line": 0}


def test_stacks_with_native_frames():
    """As with stacks="all": frames in C++ between those in Python, and in the engine's thread."""
    def change(e, _):
        between = [f for python in e["frames"] for f in (native("PyEval_EvalFrame"), python)]
        return between + [native("Py_BytesMain")] if e["frames"] else ENGINE
    trace = imported(changed(change))
    categories_equal_the_truth(trace, "native frames", workspaces=2)  # the engine's names no library
    scopes = {row["scope"] for row in report("summary", trace)["by_scope"]}
    check("backward: AddmmBackward0" in scopes, "no node of the engine", *scopes)


def test_steps_without_annotations():
    """As in older versions: the optimizer is known by its stacks."""
    snapshot = load("tinygpt")
    del snapshot["external_annotations"]
    trace = imported(snapshot)
    categories_equal_the_truth(trace, "no annotations")
    scopes = {row["scope"] for row in report("summary", trace)["by_scope"]}
    check("optimizer: adam" in scopes, "no optimizer", *scopes)
    equal(report("summary", trace)["health"]["unknown"], [], "what is not known")
    steps = [e for e in events(trace, "--kind", "mark") if e["mark"] == "step"]
    equal(len(steps), 3, "steps")


def test_no_stacks():
    """Nothing is inferred: all that is known comes from the annotations."""
    snapshot = changed(lambda e, _: [])
    for s in snapshot["segments"]:
        s["frames"] = []
        for b in s["blocks"]:
            b["frames"] = []
    trace = imported(snapshot)
    check(not inferred(trace), "something was inferred")
    equal(set(categories(trace)), {"other", "optimizer_state", "temporary"}, "categories")
    trace = convert(os.path.join(DATA, "oom_fragmented.pickle"))
    check(not inferred(trace), "inferred from stacks that say nothing")


def test_categories_before_the_trace():
    snapshot = load("tinygpt")
    snapshot["device_traces"] = [snapshot["device_traces"][0][2500:]]
    found = categories(imported(snapshot))
    equal(found["parameter"]["live_bytes"], PARAMETERS, "parameters")
    equal(found["optimizer_state"]["live_bytes"], 2 * PARAMETERS, "optimizer state")
    snapshot["device_traces"] = []
    found = categories(imported(snapshot))
    equal(found["parameter"]["live_bytes"], PARAMETERS, "parameters without a history")
    equal(found["optimizer_state"]["live_bytes"], 2 * PARAMETERS, "state without a history")


def test_blocks_with_a_history():
    """As before PyTorch 2.1, whose entries also have no times."""
    snapshot = load("tinygpt")
    for s in snapshot["segments"]:
        for b in s["blocks"]:
            b["history"] = [{"addr": b["address"], "real_size": b["requested_size"],
                             "frames": b.pop("frames")}]
            if b["state"] == "inactive":
                del b["history"]
    for e in snapshot["device_traces"][0]:
        del e["time_us"]
    del snapshot["external_annotations"]
    trace = imported(snapshot)
    categories_equal_the_truth(trace, "no times")
    snapshot["device_traces"] = []
    equal(categories(imported(snapshot))["parameter"]["live_bytes"], PARAMETERS, "from blocks")


def python(place):
    file, name, line = place.split(":")
    return {"name": name, "filename": file, "line": int(line)}


def stack(*places):
    return [python(place) for place in places]


CALL = "lib/torch/nn/modules/module.py:_call_impl:1"


def test_inference():
    """Without backward each batch is an input, also those after the first pass."""
    outside, linear = stack("serve.py:<module>:1"), stack("lib/torch/nn/modules/linear.py:forward:1",
                                                          CALL, "serve.py:<module>:2")
    trace = []
    for i in range(0, 30, 10):
        trace += [entry("alloc", BASE, 512, i, frames=outside),
                  entry("alloc", BASE + 512, 1024, i + 1, frames=linear),
                  entry("free_requested", BASE, 512, i + 2, frames=outside),
                  entry("free_requested", BASE + 512, 1024, i + 3, frames=outside)]
    found = categories(imported(snapshot_of([], trace)))
    equal({name: row["allocations"] for name, row in found.items()}, {"input": 3, "activation": 3},
          "allocations")


def test_recomputation():
    """Activation checkpointing runs modules in the engine's thread."""
    again = stack("lib/torch/nn/modules/linear.py:forward:1", CALL, "net.py:forward:3", CALL,
                  "lib/torch/utils/checkpoint.py:unpack_hook:9")
    trace = imported(snapshot_of([], [
        entry("alloc", BASE, 512, 1, frames=stack("net.py:forward:3", CALL, "train.py:<module>:1")),
        entry("alloc", BASE + 512, 512, 2, frames=again)]))
    equal([e["scope"] for e in events(trace, "--kind", "alloc")],
          ["net", "backward: recompute: net > Linear"], "scopes")


# ---- The trace is the end of a longer one -----------------------------------------


def test_before_the_trace():
    whole = load("tinygpt")
    known = truth("tinygpt")["memory_stats"]
    for dropped in (1, 20, 700, 2500, 4001, 4002):
        snapshot = copy.copy(whole)
        snapshot["device_traces"] = [whole["device_traces"][0][dropped:]]
        trace = imported(snapshot)
        found = levels(trace)
        equal(found["block"]["live_bytes"], known["allocated_bytes.all.current"],
              f"alive at the end, {dropped} entries dropped")
        equal(found["driver"]["live_bytes"], known["reserved_bytes.all.current"],
              f"reserved at the end, {dropped} entries dropped")
        contains(str(unknown(trace)), "when some blocks were allocated", "what is not known")
        in_books(trace)


def test_no_history():
    snapshot = load("tinygpt") | {"device_traces": [], "external_annotations": []}
    trace = imported(snapshot)
    found, known = levels(trace), truth("tinygpt")["memory_stats"]
    equal(found["block"]["live_bytes"], known["allocated_bytes.all.current"], "alive")
    equal(found["driver"]["live_bytes"], known["reserved_bytes.all.current"], "reserved")
    check(all(e["time_ns"] == 0 for e in events(trace)), "a time was invented")
    check(any(e.get("stack") for e in events(trace)), "blocks lost their stacks")
    # The segments alone, as torch.cuda.memory_snapshot() gives them.
    again = imported(snapshot["segments"])
    equal(levels(again)["block"]["live_bytes"], found["block"]["live_bytes"], "of a bare list")


# ---- What the real ones do not have -------------------------------------------------


def frame(name, line=1):
    return {"name": name, "filename": "model.py", "line": line}


def entry(action, addr, size, time_us, **more):
    return {"action": action, "addr": addr, "size": size, "stream": 0, "time_us": time_us,
            "compile_context": "N/A", "user_metadata": "", "frames": [frame("f")]} | more


def segment(addr, size, blocks, **more):
    return {"device": 0, "address": addr, "total_size": size, "stream": 0,
            "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False,
            "frames": [], "blocks": blocks} | more


def block(addr, size, state="active_allocated", requested=None):
    return {"address": addr, "size": size, "requested_size": requested or size, "state": state,
            "frames": []}


def snapshot_of(segments, *traces):
    return {"segments": segments, "device_traces": list(traces)}


def test_several_devices():
    trace = imported(snapshot_of(
        [segment(BASE, 20 * MIB, [block(BASE, 8 * MIB)]),
         segment(BASE, 2 * MIB, [block(BASE, MIB)], device=2)],
        [entry("segment_alloc", BASE, 20 * MIB, 10), entry("alloc", BASE, 8 * MIB, 30)],
        [],
        [entry("segment_alloc", BASE, 2 * MIB, 20), entry("alloc", BASE, MIB, 40)]))
    equal(levels(trace)["block"]["live_bytes"], 8 * MIB, "cuda:0")
    equal(levels(trace, "cuda:2")["block"]["live_bytes"], MIB, "cuda:2")
    equal([(e["device"], e["time_ns"]) for e in events(trace)],
          [("cuda:0", 0), ("cuda:2", 10000), ("cuda:0", 20000), ("cuda:2", 30000)],
          "events of both by time")


def test_expandable_segments():
    trace = imported(snapshot_of(
        [segment(BASE, 40 * MIB, [block(BASE, 30 * MIB)], is_expandable=True)],
        [entry("segment_map", BASE + 20 * MIB, 20 * MIB, 1),
         entry("alloc", BASE, 30 * MIB, 2),
         entry("segment_map", BASE + 40 * MIB, 40 * MIB, 3),
         entry("segment_unmap", BASE + 60 * MIB, 20 * MIB, 4),
         entry("segment_unmap", BASE + 40 * MIB, 20 * MIB, 5)]))
    found = levels(trace)
    equal(found["driver"]["live_bytes"], 40 * MIB, "mapped at the end")
    equal(found["driver"]["peak_bytes"], 80 * MIB, "mapped at most")
    first = events(trace)[0]
    equal((first["space"], first["bytes"], first["time_ns"]), ("cuda virtual", 20 * MIB, 0),
          "what was mapped before")
    in_books(trace)


def test_block_sizes():
    """As PyTorch cuts blocks: rounded up, and with a rest that is not worth splitting off."""
    steps = [(BASE, 5 * MIB + 1, 5 * MIB + 512), (BASE + 8 * MIB, 11 * MIB + 4, 12 * MIB),
             (BASE + 32 * MIB, 3 * MIB, 3 * MIB)]
    trace = [entry("segment_alloc", BASE, 20 * MIB, 1), entry("segment_alloc", BASE + 32 * MIB,
                                                              20 * MIB, 2)]
    for addr, asked, _ in steps:
        trace += [entry("alloc", addr, asked, 3)]
    for addr, asked, _ in steps:
        trace += [entry("free_requested", addr, asked, 4), entry("free_completed", addr, asked, 5)]
    found = events(imported(snapshot_of([], trace)), "--kind", "alloc", "--space", "block")
    equal([(int(e["address"], 16), e["bytes"]) for e in found],
          [(addr, size) for addr, _, size in steps], "blocks")


def test_free_while_a_stream_uses_it():
    """The bytes are free when the tensor is gone, the room only later."""
    trace = imported(snapshot_of(
        [segment(BASE, 20 * MIB, [block(BASE, 8 * MIB, "active_pending_free"),
                                  block(BASE + 8 * MIB, 12 * MIB, "inactive")])],
        [entry("segment_alloc", BASE, 20 * MIB, 1), entry("alloc", BASE, 8 * MIB, 2, stream=7),
         entry("free_requested", BASE, 8 * MIB, 3)]))
    equal(levels(trace)["block"]["live_bytes"], 0, "alive at the end")


def test_private_pools_and_words():
    trace = imported(snapshot_of(
        [segment(BASE, 2 * MIB, [block(BASE, 512)]),
         segment(BASE + 4 * MIB, 2 * MIB, [block(BASE + 4 * MIB, 1024)], segment_pool_id=(0, 3))],
        [entry("alloc", BASE, 512, 1, user_metadata="warm-up", compile_context="0/1"),
         entry("alloc", BASE + 4 * MIB, 1000, 2),
         entry("user_defined", 0, 0, 3, user_metadata="the epoch ends"),
         entry("workspace_snapshot", 0, 0, 4),
         entry("snapshot", 0, 0, 5)]))
    blocks = events(trace, "--kind", "alloc", "--space", "block")
    equal([(e["space"], e["bytes"], e["scope"]) for e in blocks],
          [("torch", 512, "0/1 > warm-up"), ("torch pool 0.3", 1024, "")], "blocks")
    names = [e["name"] for e in events(trace, "--kind", "marker")]
    equal(names, ["the epoch ends", "workspace_snapshot", "snapshot"], "markers")


def test_no_times():
    trace = [entry("segment_alloc", BASE, 2 * MIB, 0), entry("alloc", BASE, 512, 0)]
    for e in trace:
        del e["time_us"]
    converted = imported(snapshot_of([], trace))
    equal(len(events(converted)), 2, "events")
    equal(unknown(converted), ["times"], "what is not known")


# ---- Hostile ones ---------------------------------------------------------------------


class Runs:
    def __reduce__(self):
        return os.system, ("touch ran",)


def test_code_is_refused():
    for protocol in (2, 4):
        refused(pickle.dumps({"segments": [Runs()]}, protocol), "byte", "system",
                "only plain data is read")
    refused(b"\x80\x02cbuiltins\neval\n.", "byte 2", "builtins.eval (GLOBAL)")
    refused(b"\x80\x04\x8c\x02os\x8c\x06system\x93.", "byte 14", "os.system (STACK_GLOBAL)")
    refused(b"\x80\x04}}b.", "BUILD")
    refused(b"\x80\x04K\x01Q.", "BINPERSID")
    check(not os.path.exists("ran"), "a pickle was run")


def test_damage_is_named():
    good = pickle.dumps(load("oom_fragmented"), 4)
    refused(good[:len(good) // 2], "cut short")
    refused(b"\x80\x07.", "protocol 7")
    refused(b"\x80\x04]\x94]\x94\x8c\x01as.", "damaged")
    refused(b"\x80\x04Nr\xff\xff\xff\xff.", "no memo entry")
    refused(b"\x80\x04h\x05.", "no memo entry")
    refused(b"\x80\x04e.", "too few values")
    refused(b"\x80\x04X\xff\xff\xff\xffabc", "more than 16 MiB")
    refused(b"\x80\x04\xff.", "0xff")
    refused(pickle.dumps({"a": 1}, 4), "neither segments nor device_traces")
    refused(pickle.dumps([[]], 0), "protocol 0")
    refused(pickle.dumps(snapshot_of([segment(BASE, 1, [], device=1 << 30)]), 4), "devices")


def test_sizes_that_cannot_be():
    most = 1 << 50
    for size in (most + 1, (1 << 63) - 1, 1 << 80):
        for bad in (snapshot_of([segment(BASE, size, [])]),
                    snapshot_of([segment(BASE, 512, [block(BASE, size)])]),
                    snapshot_of([segment(BASE, 512, [block(BASE, 512, requested=size)])]),
                    snapshot_of([], [entry("alloc", BASE, size, 1)])):
            refused(pickle.dumps(bad, 4), "bad.pickle: byte", "a size that no memory has")
    trace = imported(snapshot_of([], [entry("alloc", BASE, most, 1), entry("oom", 0, most << 9, 2)]))
    equal([e["bytes"] for e in events(trace) if e["kind"] in ("alloc", "oom")][-2:], [most, most << 9],
          "the largest size that there is; what was refused may be anything")


def test_depth_does_no_harm():
    refused(b"\x80\x04" + b"]" * 200000 + b"a" * 199999 + b".", "neither segments nor")
    refused(b"\x80\x04" + b"(" * 200000, "cut short")


def test_a_stack_without_end():
    """Frames that come one by one, more than a trace can tell: the innermost are kept."""
    deep = [frame(f"f{i}") for i in range(6000)]
    with open("s.pickle", "wb") as f:
        f.write(b"\x80\x02" + one_by_one(
            snapshot_of([], [entry("alloc", BASE, 512, 1, frames=deep)])) + b".")
    names = [f["function"] for f in events(convert("s.pickle"))[-1]["stack"]]
    equal(names, [f["name"] for f in deep[:4096]], "frames")


def test_stacks_that_differ_far_out():
    """Groups by stack name the caller in which they differ; no two rows look alike."""
    trace = convert(os.path.join(DATA, "tinygpt.pickle"))
    for columns in ("80", "200"):
        text = plain(harness.MEMLEDGER, "table", "--by", "stack", "--top", "50", trace,
                     env={**os.environ, "COLUMNS": columns}).stdout
        rows = [line[28:] for line in text.splitlines() if " < " in line]
        check(len(rows) > 10, "few rows", text)
        alike = sorted({row for row in rows if rows.count(row) > 1})
        check(not alike, f"rows that look alike at {columns} columns", *alike)


harness.main(globals())
