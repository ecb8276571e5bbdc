#!/usr/bin/env python3
# test_torch.py: every block of PyTorch's CPU allocator is recorded, from unmodified programs,
# which behave as they do without memledger.
#
# SPDX-License-Identifier: Apache-2.0
import os
import signal
import subprocess

import harness
from harness import balanced, check, equal, plain, report, run
from torch_support import PYTHON, need_torch, said

CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_cases.py")
QUIET = "-qf"


def record(case, *options):
    """What the program said, its trace, and the figures of the host's blocks."""
    need_torch()
    result = run(PYTHON, CASES, case, options=(QUIET, *options))
    equal(result.code, 0, f"exit code of {case}", result)
    trace = result.dump()
    equal(trace["lost"], 0, "lost")
    host, = [d for d in report("summary", result.trace)["by_device"] if d["device"] == "cpu"]
    blocks, = host["levels"]
    return said(result.out, result), trace, blocks


def test_alive():
    """What Python can still reach is what the trace says is alive."""
    told, trace, blocks = record("alive")
    balanced(trace)
    equal(told["alive"], told["expected"], "what Python can reach")
    equal(blocks["live_bytes"], told["alive"][-1], "live bytes")
    check(blocks["peak_bytes"] > told["alive"][-1], "there is no peak", blocks)


def test_known_peak():
    told, trace, blocks = record("known")
    balanced(trace)
    equal(told["alive"], 2 << 20, "what is kept")
    equal(blocks["live_bytes"], 2 << 20, "live bytes")
    equal(blocks["peak_bytes"], 4 << 20, "peak")
    equal([(s["device"], s["name"], s["level"]) for s in trace["spaces"]],
          [("cpu", "torch", 3)], "spaces")


def test_heap_counts_once():
    """Blocks lie in malloc's; their bytes are PyTorch's and nobody else's."""
    told, trace, blocks = record("many", "--heap")
    equal(told["alive"], 400 << 20, "what is kept")
    rest = blocks["live_bytes"] - told["alive"]
    check(0 < rest < told["alive"] / 2, "bytes counted twice, or not at all", blocks)
    equal({s["name"] for s in trace["spaces"]}, {"malloc", "torch"}, "spaces")


def workers_are_forked():
    """Before Python 3.14. Later a server forks them, and the program is not in their stacks."""
    ask = "import multiprocessing; print(multiprocessing.get_start_method())"
    return plain(PYTHON, "-c", ask).stdout.strip() == "fork"


def test_workers():
    told, trace, _ = record("workers")
    equal(told["total"], 32 * 32 * sum(range(64)), "the sum over all batches")
    balanced(trace)
    counted = [t["kinds"].get("alloc", 0) for t in trace["threads"] if t["process"]]
    check(sum(counted) >= 64, "no tensors of the workers", trace["threads"])
    check(len(trace["processes"]) >= 3, "no workers", trace["processes"])
    roles = [p["role"] for p in report("summary", "t.mled")["processes"] if "role" in p]
    helpers = [] if workers_are_forked() else ["multiprocessing forkserver",
                                               "multiprocessing resource_tracker"]
    equal(sorted(roles), ["DataLoader worker 0", "DataLoader worker 1", "main", *helpers], "roles")


def test_out_of_memory():
    told, trace, _ = record("oom")
    alone = plain(PYTHON, CASES, "oom")
    equal(told, said(alone.stdout, alone.stderr), "what the errors say")
    equal(len(told["said"]), 2, "errors")
    events = harness.dump("t.mled", events=True)["events"]
    sizes = [e["size"] for e in events if e["kind"] == "oom"]
    equal(sizes, [1 << 58, 1 << 57, 1 << 62], "sizes that were refused")
    verdicts = report("oom", "t.mled")["verdicts"]
    equal([(v["verdict"], v["rule"]) for v in verdicts], [("shortage", "addresses")] * 3,
          "why they were")


def test_limit():
    """The system has enough, and something else forbids it: the limit on addresses, if it was
    sampled while the program had it."""
    need_torch()
    result = run(PYTHON, CASES, "limited", options=[QUIET])
    equal(result.code, 0, "exit code", result)
    verdict, = report("oom", result.trace)["verdicts"]
    equal(verdict["asked_bytes"], 1 << 29, "what was asked for")
    rule = "free_enough" if verdict["address_limit_bytes"] is None else "address_limit"
    equal((verdict["verdict"], verdict["rule"]), ("limit", rule), "why it was refused")


def test_reports():
    """Blocks on CUDA devices, by what PyTorch's functions are told."""
    need_torch()
    result = run(PYTHON, CASES, "reports", options=[QUIET])
    equal(result.code, 0, "exit code", result)
    found = {d["device"]: d["levels"][0] for d in report("summary", result.trace)["by_device"]}
    figures = {name: [d[k] for k in ("level", "allocations", "frees", "live_bytes")]
               for name, d in found.items() if name != "cpu"}
    equal(figures, {"cuda:0": ["block", 5, 3, 1024], "cuda:1": ["block", 5, 2, 1536]}, "blocks")
    refused = [(e["device"], e["space"], e["bytes"])
               for e in report("events", result.trace, "--kind=oom")["events"]]
    equal(refused, [("cuda:1", "torch", 1 << 40)], "out of memory")
    equal(plain(PYTHON, CASES, "reports").returncode, 0, "without memledger")


def lines_of(size, events):
    """The program's own lines in the stacks of the blocks of that size, innermost first."""
    with open(CASES) as f:
        text = f.read().splitlines()
    stacks = {tuple(text[f["line"] - 1].strip() for f in e.get("stack", ())
                    if f["file"] == CASES and f["function"] not in ("main", "<module>"))
              for e in events if e["bytes"] == size}
    equal(len(stacks), 1, f"stacks of blocks of {size} bytes", stacks)
    lines, = stacks
    return [line for i, line in enumerate(lines) if line not in lines[:i]]


def test_python_stacks():
    """The line of torch.empty: in a worker process, a module, a thread; refused."""
    need_torch()
    result = run(PYTHON, CASES, "stacks", options=[QUIET, "--stacks", "python"])
    equal(result.code, 0, "exit code", result)
    balanced(result.dump())
    # Batches from workers are also on a device of their own, without stacks.
    events = [e for e in report("events", result.trace, "--kind=alloc,oom")["events"]
              if e["device"] == "cpu"]
    asks = "return torch.empty(bytes, dtype=torch.uint8)"
    for size, line, caller in (
            (100_003, "return int(block(100_003).numel()) + i",
             "DataLoader(InWorker()" if workers_are_forked() else None),
            (100_005, "self.kept = block(100_005)", "InForward())(torch.ones(3))"),
            (1 << 58, "block(1 << 58)", None)):
        found = lines_of(size, events)
        equal(found[:2], [asks, line], f"lines that asked for {size} bytes")
        equal(len(found), 3 if caller else 2, f"lines of {size} bytes", found)
        check(not caller or caller in found[2], f"caller for {size} bytes", found)
    threads = {tuple(f["function"].rpartition(".")[2] for f in e["stack"][-3:])
               for e in events if e["bytes"] == 100_007}
    equal(threads, {("run", "_bootstrap_inner", "_bootstrap")}, "in a thread")
    backward = [e for e in events
                if any(f["function"].endswith("backward") for f in e["stack"])]
    check(len(backward) >= 10, "blocks of loss.backward()", len(backward))


def test_native_stacks():
    need_torch()
    result = run(PYTHON, CASES, "known", options=[QUIET, "--stacks", "native"])
    equal(result.code, 0, "exit code", result)
    for event in report("events", result.trace, "--kind=alloc")["events"]:
        libraries = [os.path.basename(f.get("library") or "") for f in event["stack"]]
        check(libraries[0].startswith("libc10"), "who asked", libraries)
        check("libtorch_cpu" in " ".join(libraries), "libraries", libraries)


def test_ends_of_children():
    told, trace, _ = record("ends")
    alone = plain(PYTHON, CASES, "ends")
    equal(told, said(alone.stdout, alone.stderr), "how they end")
    equal([told[k] for k in ("exception", "exit", "interrupt", "oom")],
          [code << 8 for code in (4, 3, 130, 5)], "exit codes")
    equal(len(trace["processes"]), 1 + len(told), "processes")
    for key in ("replaced", "unknown_frees"):
        equal(trace[key], 0, key)


def test_ends_of_program():
    """An exception, and a Control-C, that nobody catches in Python."""
    need_torch()
    for how in ("exception", "interrupt"):
        alone = subprocess.run([PYTHON, CASES, f"end={how}"], capture_output=True, text=True)
        result = run(PYTHON, CASES, f"end={how}", options=[QUIET])
        dies = how == "interrupt"
        equal(alone.returncode, -signal.SIGINT if dies else 1, f"{how} without memledger")
        equal(result.code, alone.returncode, f"exit code of {how}", result)
        equal(result.err, alone.stderr, f"what {how} says")
        balanced(result.dump())


def test_profiler():
    """torch.profiler sees the same, in the same order, with memledger and without."""
    need_torch()
    alone = plain(PYTHON, CASES, "profiler")
    equal(alone.returncode, 0, "without memledger", alone.stderr)
    wanted = said(alone.stdout, alone.stderr)
    check(len(wanted["memory"]) > 20, "torch.profiler sees no memory", wanted)
    told, _, _ = record("profiler")
    equal(told["memory"], wanted["memory"], "torch.profiler's memory events")
    equal(told["operators"], wanted["operators"], "torch.profiler's operators")


harness.main(globals())
