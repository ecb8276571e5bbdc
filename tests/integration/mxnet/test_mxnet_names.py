#!/usr/bin/env python3
# test_mxnet_names.py: parameters, gradients, states, blocks and phases of unmodified MXNet
# programs, by name.
#
# The expected values are what the programs find when they walk their models: shapes and types.
#
# SPDX-License-Identifier: Apache-2.0
import collections
import functools
import os

import harness
import mxnet_run
from harness import check, contains, equal, plain, report
from mxnet_run import IS_2, NAIVE, events, linked

MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mxnet_models.py")
STEPS = 3  # as in mxnet_models.py
ENGINES = {"threaded": {}, "naive": NAIVE}
CATEGORIES = {"in_arg": "parameter", "arg_grad": "gradient", "aux_state": "buffer",
              "optimizer_state": "optimizer_state"}
NAMED_PERCENT = {"threaded": 97, "naive": 99}

record = functools.partial(mxnet_run.record, MODELS)
alone = functools.partial(mxnet_run.alone, MODELS)
run_recorded = functools.partial(mxnet_run.run_recorded, MODELS)


class Block:
    """A block's life: from and to are numbers of events."""

    def __init__(self, at, event):
        self.begin, self.end = at, None
        self.size, self.scope, self.labels = event["size"], event["scope"], []


def blocks_of(trace):
    live, found = {}, []
    for at, e in enumerate(events(trace, "alloc", "label", "free")):
        if e["kind"] == "alloc":
            live[e["addr"]] = Block(at, e)
            found.append(live[e["addr"]])
        elif e["kind"] == "free":
            live.pop(e["addr"]).end = at
        elif e["addr"] in live:
            live[e["addr"]].labels.append((e["label"], e["category"]))
    return found


def named(kind, name):
    """The label and the category of what the old profilers call kind:name."""
    kind, _, slot = kind.partition(":")
    return f"{name}.{slot}" if slot else name, CATEGORIES[kind]


def labelled(trace):
    """How many blocks had (label, category, bytes) at any time."""
    return collections.Counter((*label, block.size) for block in blocks_of(trace)
                               for label in set(block.labels))


def named_percent(trace):
    """Of the bytes live at the peak: with a label or a scope, be it an operator's."""
    blocks = blocks_of(trace)
    changes = sorted([(b.begin, b.size) for b in blocks] + [(b.end, -b.size) for b in blocks
                                                           if b.end is not None])
    live = peak = when = 0
    for at, change in changes:
        live += change
        if live > peak:
            peak, when = live, at
    there = [b for b in blocks if b.begin <= when and (b.end is None or b.end > when)]
    return 100 * sum(b.size for b in there if b.labels or b.scope) / peak


def check_model(case, engine):
    """Each thing that the model has is a block of that name, category and size."""
    env = ENGINES[engine]
    told, result = run_recorded(case, env=env)
    trace = result.dump(events=True)
    harness.balanced(trace)
    found = labelled(trace)
    for kind, name, size in told["has"]:
        label, category = named(kind, name)
        if name is None:
            slot = kind.partition(":")[2]
            check(any(label.endswith(slot) and (c, n) == (category, size) for label, c, n in found),
                  f"{case}, {engine}: no {kind} of {size} bytes", sorted(found))
        else:
            check(found[label, category, size], f"{case}, {engine}: no {kind}:{name} of {size}",
                  sorted(found))
    check_tags(result.trace, told["has"])
    check_categories(result.trace, told["has"])
    percent = named_percent(trace)
    check(percent >= NAMED_PERCENT[engine], f"{case}, {engine}: {percent} % of the peak named")
    scopes = {e["scope"].split(" > ")[-1] for e in trace["events"] if e["kind"] == "push"}
    check(set(told["scopes"]) <= scopes, f"{case}: blocks", sorted(scopes))
    if engine == "naive":
        equal(told, alone(case, env), f"{case}: what the program said")
    return trace, result


def check_tags(trace_file, has):
    """The old profilers' names."""
    tags = {line.rsplit(",", 1)[0] for line in export(trace_file, "mxnet-csv").splitlines()}
    for kind, name, _ in has:
        check(name is None or f"{kind}:{name}" in tags, f"no tag {kind}:{name}", sorted(tags))


def check_categories(trace_file, has):
    """The peak of a category is what the model has of it, at least: a Module has copies."""
    expected = collections.Counter()
    for kind, _, size in has:
        expected[CATEGORIES[kind.split(":")[0]]] += size
    peaks = {c["category"]: c["peak_bytes"] for c in report("summary", trace_file)["by_category"]}
    for category, size in expected.items():
        check(peaks.get(category, 0) >= size, f"{category}: {peaks} of {size}", has)


def check_layers(trace_file):
    """The layers of a Sequential have numbers for names: the block's class decides."""
    run, = report("groups", trace_file, "--dictionary=layers", "--gross", "--top=1000")["runs"]
    category = {entry["tag"].partition("_oedge")[0]: group["category"]
                for group in run["dictionaries"][0]["groups"] for entry in group["entries"]}
    for block, wanted in (("0.0", "Convolution"), ("0.2", "Activation"), ("0.3", "Pooling"),
                          ("2", "Fully connected")):
        found = {category[tag] for tag in (f"data_entry:{block}", f"data_entry:{block}_backward")
                 if tag in category}
        equal(found, {wanted}, f"layer of block {block}", category)


ARGUMENTS = {"fc1_weight": 256 * 512, "fc1_bias": 256, "bn1_gamma": 256, "bn1_beta": 256,
             "fc2_weight": 64 * 256, "fc2_bias": 64}
STATES = {"bn1_moving_mean": 256, "bn1_moving_var": 256}
INPUTS = {"data": 64 * 512, "softmax_label": 64}


def labelled_percent(trace):
    """Of all bytes that were allocated."""
    blocks = blocks_of(trace)
    return 100 * sum(b.size for b in blocks if b.labels) / sum(b.size for b in blocks)


def test_bound_in_c():
    """A program in C: all that it binds to a symbol has the name of the argument. The program
    prints a list of names that it got before, which must not change."""
    program = linked(os.path.join(os.path.dirname(MODELS), "mxnet_bound.c"))
    for how in ("cached", "late", "profiled") if IS_2 else ("simple", "given"):
        result = harness.run(program, how, options=["-qf"])
        equal([result.code, result.out], [0, plain(program, how).stdout], f"{how}: the end", result)
        trace = result.dump(events=True)
        found = labelled(trace)
        wanted = collections.Counter({(name, "input", 4 * n): 1 for name, n in INPUTS.items()})
        wanted["data", "input", 4 * INPUTS["data"]] = 2 if IS_2 else 1
        wanted.update((name, category, 4 * n) for category in ("parameter", "gradient")
                      for name, n in ARGUMENTS.items())
        wanted.update((name, "buffer", 4 * n) for name, n in STATES.items())
        equal({key: found[key] for key in wanted}, dict(wanted), f"{how}: names", sorted(found))
        times = sum(block.labels.count(("fc1_weight", "parameter")) for block in blocks_of(trace))
        equal(times, 2 if how in ("late", "profiled") else 1,
              f"{how}: labels of a parameter, which a second batch does not repeat")
        percent = labelled_percent(trace)
        least = 90 if how == "profiled" else 95  # the gradient of the first batch has no name
        check(percent >= least, f"{how}: {percent} % of the bytes have a name", sorted(found))


PREDICT_ARGUMENTS = {"net_conv0_weight": 32 * 3 * 9, "net_conv0_bias": 32,
                     "net_batchnorm0_gamma": 32, "net_batchnorm0_beta": 32,
                     "net_dense0_weight": 256 * 32 * 16 * 16, "net_dense0_bias": 256,
                     "net_dense1_weight": 10 * 256, "net_dense1_bias": 10}
PREDICT_STATES = {"net_batchnorm0_running_mean": 32, "net_batchnorm0_running_var": 32}
PREDICT_INPUTS = {"data0": 8 * 3 * 32 * 32, "data1": 8 * 32 * 32}


def check_prediction_tags(how, trace_file):
    """MKL-DNN's own copy of a weight is no output of the layer."""
    tags = [(tag, float(mib)) for tag, _, mib in
            (line.rpartition(",") for line in export(trace_file, "mxnet-csv").splitlines())]
    unknown = sum(mib for tag, mib in tags if tag.startswith("unknown:"))
    check(unknown <= 0.05 * sum(mib for _, mib in tags), f"{how}: {unknown} MiB unknown", tags)
    equal({tag for tag, mib in tags if mib == 8},
          {"in_arg:net_dense0_weight", "workspace:_sg_mkldnn_fully_connected"},
          f"{how}: blocks of the size of a weight", tags)


def test_predicted_in_c():
    """A program in C on the predict API, with an exported network: the arrays that MXNet reads
    from the file and those that it copies them to have names."""
    if IS_2:
        return  # has no such API
    here = os.path.dirname(MODELS)
    done = plain(mxnet_run.python(), os.path.join(here, "export_net.py"))
    equal(done.returncode, 0, "exit code of the export", done.stderr)
    program = linked(os.path.join(here, "mxnet_predict.c"))
    for how in ("created", "reshaped", "threads", "retried"):
        env = os.environ | (NAIVE if how == "threads" else {})
        result = harness.run(program, how, options=["-qf"], env=env)
        equal([result.code, result.out], [0, plain(program, how, env=env).stdout],
              f"{how}: the end", result)
        found = labelled(result.dump(events=True))
        wanted = {(name, "parameter", 4 * n): 2 for name, n in PREDICT_ARGUMENTS.items()}
        wanted.update({(name, "buffer", 4 * n): 2 for name, n in PREDICT_STATES.items()})
        wanted.update({(name, "input", 4 * n): 1 for name, n in PREDICT_INPUTS.items()})
        equal({key: found[key] for key in wanted}, wanted, f"{how}: names", sorted(found))
        if how != "retried":  # an array that could not be read stays without a name
            check_prediction_tags(how, result.trace)


def test_cnn():
    for engine in ENGINES:
        _, result = check_model("cnn", engine)
        check_layers(result.trace)


def test_cnn_hybrid():
    for engine in ENGINES:
        check_model("cnn_hybrid", engine)


def test_lstm():
    for engine in ENGINES:
        check_model("lstm", engine)


def test_optimizers():
    for engine in ENGINES:
        check_model("optimizers", engine)


def test_half_precision():
    check_model("half", "naive")


def test_module():
    if IS_2:
        return  # has no Module
    for engine in ENGINES:
        check_model("module", engine)


def test_executor():
    for engine in ENGINES:
        check_model("executor", engine)


def line_of(text):
    """The number of the line of mxnet_models.py that has the text."""
    with open(MODELS) as f:
        return next(i for i, line in enumerate(f, 1) if text in line)


def export(trace_file, form):
    done = plain(harness.MEMLEDGER, "export", trace_file, f"--format={form}", "--output=-")
    equal(done.returncode, 0, f"exit code of export --format {form}", done.stderr)
    return done.stdout


def test_what_stays_unknown():
    """The operator, and the line that asked for it, though it ran on another thread."""
    _, result = run_recorded("nameless", options=["--stacks=python"])
    tags = dict(line.rsplit(",", 1) for line in export(result.trace, "mxnet-csv").splitlines())
    equal(float(tags["unknown:dot"]), float(f"{100 * 100 * 4 / 2**20:.6g}"), "MiB of dot", tags)
    equal(float(tags["kvstore:w3"]), float(f"{300 * 10 * 4 / 2**20:.6g}"), "MiB of w3", tags)
    at = line_of("# line of _ones")
    groups = report("table", result.trace, "--by=scope,line", "--top=100")["groups"]
    check(any(g["scope"] == "_ones" and f"mxnet_models.py:{at} " in g["line"] for g in groups),
          f"_ones of line {at}", groups)
    check(not any("/memledger/" in (g["line"] or "") for g in groups), "our own lines", groups)
    _, _, entry = export(result.trace, "mxnet-log").partition("tag unknown:_ones\n")
    contains(entry.split("\n\n")[0], f"mxnet_models.py:{at}(nameless)", "the stack in the log")


def labels_at_peak(trace_file):
    """(label, category) of each."""
    groups = report("table", trace_file, "--by=label,category", "--top=1000")["groups"]
    return {(g["label"], g["category"]) for g in groups}


def test_best_name_wins():
    """MXNet 2 tells its own names, with a number for each parameter, until a block goes."""
    told, result = run_recorded("cnn_hybrid", env=NAIVE)
    labels = labels_at_peak(result.trace)
    for kind, name, _ in told["has"]:
        check(named(kind, name) in labels, f"{kind}:{name} has another name", labels)
    check({("x", "input"), ("label", "input")} <= labels, "inputs", labels)


def test_phases():
    """Forward in its blocks, backward, and one step for each of the trainer's."""
    for case in ("lstm", "cnn_hybrid"):
        _, result = run_recorded(case, env=NAIVE)
        trace = result.dump(events=True)
        pushed = collections.Counter(e["scope"] for e in trace["events"] if e["kind"] == "push")
        for phase in ("forward", "backward", "optimizer"):
            equal(pushed[phase], STEPS, f"{phase} in {case}", pushed)
        roots = {"lstm": "Tagger", "cnn_hybrid": "HybridSequential"}
        equal(pushed[f"forward > {roots[case]}"], STEPS, f"calls of the model of {case}", pushed)
        summary = report("summary", result.trace)
        equal([s["step"] for s in summary["steps"]], list(range(STEPS)), "steps")
        categories = {c["category"] for c in summary["by_category"] if c["peak_bytes"]}
        check({"activation", "intermediate_gradient", "temporary"} <= categories,
              f"categories of {case}", sorted(categories))


def test_scopes_end_however_calls_do():
    for engine in ENGINES.values():
        told, trace = record("fails", env=engine)
        pushes = sum(e["kind"] == "push" for e in trace["events"])
        equal(trace["kinds"]["pop"], pushes, "pops")
        kept = [b for b in blocks_of(trace) if b.size == told["kept"]]
        equal([b.scope.split(" > ")[0] for b in kept], ["_npi_ones" if IS_2 else "_ones"],
              "scope after all that failed")


def test_what_is_no_array():
    """Symbols have handles too, which lead to something else."""
    told, _ = record("strange")
    equal(told["sum"], 16.0, "what the block gave")


def test_sparse():
    if IS_2:
        return  # does not train them
    _, trace = record("sparse")
    labels = {(label, category) for label, category, _ in labelled(trace)}
    check({("embedding0_weight", "gradient"), ("embedding0_weight:row_sparse:idx", "gradient")}
          <= labels, "parts of a sparse gradient", sorted(labels))


def test_copies():
    """A key-value store and a file that is written each take a copy of every parameter."""
    told, result = run_recorded("saved")
    found = labelled(result.dump(events=True))
    tags = export(result.trace, "mxnet-csv")
    for key in (0, 1):  # MXNet 2 names them itself
        contains(tags, f"kvstore:push:local_{key}," if IS_2 else f"optimizer_state:kvstore:{key},",
                 "what the store keeps")
    for kind, name, size in told["has"]:
        if kind == "in_arg":
            check(found[name, "parameter", size] >= 2, f"no copy of {name}", sorted(found))


def test_iterator():
    """The arrays of an iterator are inputs, also those that a shuffle makes."""
    _, result = run_recorded("iterator")
    found = labelled(result.dump(events=True))
    for name, size in ("data", 4 * 200 * 30), ("softmax_label", 4 * 200):
        check(found[name, "input", size] >= 2, f"no {name}", sorted(found))


def test_symbols_are_no_arrays():
    if IS_2:
        return  # its blocks take none
    told, _ = record("symbols")
    equal(told, alone("symbols"), "what the program said")


def test_names_are_all_there_or_none():
    """A change that fails half-way is reported once and undone; the program goes on."""
    program = os.path.join(os.path.dirname(harness.__file__), "half_installed.py")
    whole = harness.run(mxnet_run.python(), program, "mxnet", options=("-qf",))
    contains(whole.out, "mxnet.autograd.backward", "what stands in front")
    half = harness.run(mxnet_run.python(), program, "mxnet", "_install_waits", options=("-qf",))
    equal((half.code, half.out.strip()), (0, "[]"), "what is left of it", half)
    equal(half.err.count("cannot hook mxnet: module names are off"), 1, "the number of messages", half)
    harness.balanced(half.dump())


def test_names_off():
    _, result = run_recorded("lstm", options=["--names=off"])
    labels = {label for label, _, _ in labelled(result.dump(events=True))}
    check(not any(label.endswith(".momentum") for label in labels), "names though they are off",
          sorted(labels))
    marks = {e["mark"] for e in report("events", result.trace, "--kind", "mark")["events"]}
    check(marks <= {"node"}, "marks of what only Python knows, though names are off", marks)


harness.main(globals())
