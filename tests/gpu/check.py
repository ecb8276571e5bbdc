# check.py: the checks that need a machine with an NVIDIA GPU. `make test-gpu` runs it;
# docs/gpu-results.md keeps its last output.
#
# Each check records real programs and compares memledger's book with the figures of the driver,
# the framework or the program without memledger. A check that cannot run here (a framework is
# missing) is reported as skipped, with the reason.
#
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import os
import re
import subprocess
import sys
import time
import traceback

import attach_checks  # noqa: F401, its checks are found when it is imported
import serving_checks  # noqa: F401, likewise
import torch_checks  # noqa: F401, likewise
import torch_kind_checks  # noqa: F401, likewise
import torch_loop_checks  # noqa: F401, likewise
from lab import CHECKS, HERE, Lab, Missed, Skip, blocks_of, check, execute, mib, must, \
    need_module, need_program, script, segment_bytes

MOST_UNEXPLAINED = 0.01
CUPTI_BYTES = 32 << 20
MOST_SAMPLING = 0.01


def show_book(lab, name, trace, known_gap=0, must_balance=("peak", "end")):
    """Prints used and unexplained at the peak and at the end; the latter must be small."""
    worst = 0.0
    for instant in ("peak", "end"):
        book = lab.ledger(trace, instant)
        gap = max(0, abs(book["unexplained_bytes"]) - known_gap)
        share = gap / max(1, book["used_bytes"])
        if instant in must_balance:
            worst = max(worst, share)
        parts = ", ".join(f"{e['name']} {mib(e['bytes'])}" for e in book["entries"])
        print(f"  {name:28} {instant:4} used {mib(book['used_bytes']):>14}  unexplained "
              f"{mib(book['unexplained_bytes']):>10} ({share:.2%}): {parts}")
    assert worst <= MOST_UNEXPLAINED, f"{name}: {worst:.2%} of what NVML says is unexplained"


# ---- Balanced books -----------------------------------------------------------


@check
def killed_process(lab):
    """Two processes share the GPU and one is killed: the books balance whenever the run ends"""
    need_module("torch")
    wrong = []
    ends_s = [0.0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.3] * 3
    for after_s in ends_s:
        trace, _ = lab.record("killed", [*script("killed_process.py"), str(after_s)])
        for instant in ("peak", "end"):
            book = lab.ledger(trace, instant)
            if abs(book["unexplained_bytes"]) > MOST_UNEXPLAINED * max(1, book["used_bytes"]):
                wrong.append(f"{after_s} s, {instant}: {mib(book['unexplained_bytes'])}")
    print(f"  {len(ends_s)} runs, at the peak and at the end: "
          f"unexplained beyond {MOST_UNEXPLAINED:.0%} in {len(wrong)}: {'; '.join(wrong)}")
    assert not wrong


@check
def torch_books(lab):
    """PyTorch: a training step with the three allocator backends"""
    need_module("torch")
    for name, setting in (("torch", ""), ("torch expandable", "expandable_segments:True"),
                          ("torch cudaMallocAsync", "backend:cudaMallocAsync")):
        trace, done = lab.record(name.replace(" ", "-"), script("torch_step.py"),
                                 env={"PYTORCH_CUDA_ALLOC_CONF": setting})
        print(f"  {name}: {done.stdout.strip().splitlines()[-1]}")
        show_book(lab, name, trace)


@check
def torch_allocated(lab):
    """PyTorch's own figures, now and at most, equal the trace's to the byte"""
    need_module("torch")
    for name, setting in (("native", ""), ("expandable", "expandable_segments:True")):
        trace, done = lab.record(f"torch-allocated-{name}", script("torch_allocated.py"),
                                 env={"PYTORCH_CUDA_ALLOC_CONF": setting})
        said = json.loads(done.stdout.strip().splitlines()[-1])
        blocks = blocks_of(lab, trace)
        found = {"allocated": blocks["live_bytes"], "peak_allocated": blocks["peak_bytes"],
                 "allocations": blocks["allocations"], "frees": blocks["frees"],
                 "reserved": segment_bytes(lab.ledger(trace, "end"))}
        refused = [e["bytes"] for e in lab.report("events", trace, "--kind=oom")["events"]
                   if e["space"] == "torch"]
        print(f"  {name}: {len(refused)} refused, " +
              ", ".join(f"{k} {said[k]:,} and {found[k]:,}" for k in found))
        assert all(said[k] == found[k] for k in found), f"{name}: said {said}, recorded {found}"
        assert refused and min(refused) >= said["refused"], f"{name}: out of memory: {refused}"


@check
def jax_books(lab):
    """JAX with and without preallocation"""
    need_module("jax")
    for name, value in (("jax preallocated", "true"), ("jax on demand", "false")):
        trace, _ = lab.record(name.replace(" ", "-"), script("jax_step.py"),
                              env={"XLA_PYTHON_CLIENT_PREALLOCATE": value})
        show_book(lab, name, trace)


@check
def cupy_books(lab):
    """CuPy"""
    need_module("cupy")
    trace, _ = lab.record("cupy", script("cupy_step.py"))
    show_book(lab, "cupy", trace)


@check
def thread_books(lab):
    """Eight threads that allocate at the same time: the book balances when they have ended. While they
    run, what the driver adds to fill its pages is unexplained until no call is under way"""
    program = lab.path("thread_rounds")
    must([need_program("nvcc"), "-o", program, os.path.join(HERE, "thread_rounds.cu")])
    for number in range(5):
        trace, done = lab.record(f"threads{number}", [program])
        print("  " + done.stdout.strip())
        show_book(lab, f"threads {number}", trace, must_balance=("end",))


ALGORITHMS = ("direct", "im2col", "fft", "winograd", "cudnn")


@check
def vgg19_books(lab):
    """VGG-19 by five algorithms: same result as on the host, books, peaks, one plot"""
    traces = []
    for algorithm in ALGORITHMS:
        trace, done = lab.record(f"vgg19-{algorithm}", [
            lab.vgg19, "--device", "cuda", "--algo", algorithm, "--size", "256", "--check"])
        print("  " + done.stdout.strip().replace("\n", "\n  "))
        show_book(lab, f"vgg19 {algorithm}", trace)
        traces.append(trace)
    must([lab.memledger, "plot", "-f", *traces, "-o", lab.path("vgg19.svg")])


# ---- Ways in ------------------------------------------------------------------


@check
def injection(lab):
    """CUDA_INJECTION64_PATH instead of preloading gives the same book"""
    need_module("torch")
    trace, _ = lab.record("torch-injection", script("torch_step.py"), "--cuda=injection")
    show_book(lab, "torch by injection", trace)


@check
def nvtx_scopes(lab):
    """PyTorch's emit_nvtx and torch.cuda.nvtx: operators and ranges are scopes"""
    need_module("torch")
    trace, _ = lab.record("torch-nvtx", script("torch_nvtx.py"))
    scopes = {e["scope"] for e in lab.report("events", trace, "--kind=push")["events"]}
    print(f"  {len(scopes)} scopes, such as {', '.join(sorted(scopes)[:3])}")
    # The modules are between the two.
    inside = [s for s in scopes if s.startswith("encoder > ") and " > aten::conv2d" in s]
    assert inside, f"no operator in a range: {sorted(scopes)}"
    assert any("Backward0" in s for s in scopes), "no operator of the backward pass"
    assert not any(", seq = " in s or "op_id" in s for s in scopes), "operators by their number"
    marks = {e["name"] for e in lab.report("events", trace, "--kind=marker")["events"]}
    assert "forward is done" in marks, f"no mark: {marks}"


# ---- Beside other tools ---------------------------------------------------------


@check
def beside_profiler(lab):
    """torch.profiler (CUPTI) sees the same kernels with memledger as without"""
    need_module("torch")
    alone = json.loads(must(script("profiled.py")).stdout.strip().splitlines()[-1])
    trace, done = lab.record("profiled", script("profiled.py"))
    both = json.loads(done.stdout.strip().splitlines()[-1])
    print(f"  kernels seen without memledger {alone['kernels']}, with {both['kernels']}")
    assert both == alone and alone["kernels"], "torch.profiler sees something else"
    # CUPTI takes memory behind the driver's entry points: that much is nobody's.
    show_book(lab, "under torch.profiler", trace, CUPTI_BYTES)


@check
def beside_sanitizer(lab):
    """compute-sanitizer finds the same error with memledger as without"""
    sanitizer, nvcc = need_program("compute-sanitizer"), need_program("nvcc")
    program = lab.path("out_of_bounds")
    must([nvcc, "-o", program, os.path.join(HERE, "out_of_bounds.cu")])
    command = [sanitizer, "--tool", "memcheck", program]
    alone = execute(command)
    trace, both = lab.record("sanitized", command, fails=True)
    errors = [re.findall(r"ERROR SUMMARY: \d+ errors?", t.stdout + t.stderr) for t in (alone, both)]
    print(f"  without memledger {errors[0]}, with {errors[1]}")
    assert errors[0] and errors[0] == errors[1] and alone.returncode == both.returncode, both.stdout
    summary = lab.report("summary", trace)
    print(f"  allocations recorded: {summary['allocations']}")
    assert summary["allocations"] > 0, "nothing was recorded"


def same_answers(lab, name):
    """Compiles a program; it must print the same with memledger as without."""
    program = lab.path(name)
    library = re.search(r"=> (\S+/libcuda\.so\.1)", must(["ldconfig", "-p"]).stdout)
    path = library.group(1) if library else "/usr/local/nvidia/lib64/libcuda.so.1"
    must([need_program("gcc"), "-o", program, os.path.join(HERE, name + ".c"), path])
    alone = must([program]).stdout
    for options in ((), ("--cuda=injection",), ("--heap",)):
        _, done = lab.record(name, [program], *options)
        assert done.stdout == alone, f"{options}:\n{done.stdout}\nwithout memledger:\n{alone}"
    print("  " + alone.strip().replace("\n", "\n  "))


@check
def wrong_use(lab):
    """A program that uses CUDA wrongly gets the same error codes"""
    same_answers(lab, "misuse")


@check
def graph_capture(lab):
    """Capturing a stream that allocates gives the same answers"""
    same_answers(lab, "graph_capture")


# ---- Sampling --------------------------------------------------------------------


def floor_of_sampling(lab):
    """What waking takes of a core by itself, and with one reading, in the same run."""
    program = lab.path("empty_tick")
    must([need_program("gcc"), "-O2", "-D_GNU_SOURCE", "-o", program,
          os.path.join(HERE, "empty_tick.c"), "-ldl"])
    return map(float, must([program]).stdout.split())


def share_at_rest(lab):
    """Of one core, without what it takes to open the driver and to see that it rests."""
    seconds = {}
    for length in (2, 10):
        trace, _ = lab.record("resting", ["sleep", str(length)])
        seconds[length] = lab.report("summary", trace)["samples"]["cpu_seconds"]
    return (seconds[10] - seconds[2]) / 8


@check
def sampling(lab):
    """1 kHz sampling: rate and cost, beside nvidia-smi -lms 10"""
    smi = need_program("nvidia-smi")
    log = lab.path("smi.txt")
    with open(log, "w") as out:
        process = subprocess.Popen([smi, "--query-gpu=memory.used", "--format=csv", "-lms", "10"],
                                   stdout=out)
        began = time.monotonic()
        trace, _ = lab.record("sampled", ["sleep", "10"], "--sample-only")
        seconds = time.monotonic() - began
        process.terminate()
        process.wait()
    lines = sum(1 for _ in open(log)) - 1
    samples = lab.report("summary", trace)["samples"]
    print(f"  memledger: {json.dumps(samples)[:600]}")
    print(f"  nvidia-smi -lms 10: {lines} samples in {seconds:.1f} s = {lines / seconds:.1f} a second")
    assert samples["hz_achieved"] >= 0.95 * samples["hz_asked"], "too slow"
    share = samples["cpu_seconds"] * samples["hz_achieved"] / samples["taken"]
    sleeping, reading = floor_of_sampling(lab)
    at_rest = share_at_rest(lab)
    print(f"  beside a recorded program, nothing changing: {at_rest:.2%} of one core")
    assert at_rest < MOST_SAMPLING, "sampling at rest costs too much"
    figures = (f"memledger's sampler {share:.2%} of one core; a thread that only wakes as often "
               f"{sleeping:.2%}, with one reading of NVML {reading:.2%}")
    print(f"  {figures}")
    if share >= MOST_SAMPLING <= reading < share < 2 * reading:
        raise Missed(f"{MOST_SAMPLING:.0%} of a core: {figures}")
    assert share < MOST_SAMPLING, "sampling costs too much"


# ---- All of them -------------------------------------------------------------------


def machine():
    gpu = execute(["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"])
    return f"{time.strftime('%Y-%m-%d')}: {gpu.stdout.strip()}"


def run_one(function, lab):
    print(f"{function.__name__}: {function.__doc__}", flush=True)
    began = time.monotonic()
    try:
        function(lab)
        result = "ok"
    except Skip as why:
        result = f"skipped: {why}"
    except Missed as why:
        result = f"MISSED: {why}"
    except Exception as e:
        result = "FAILED"
        print("  " + "".join(traceback.format_exception_only(e)).strip().replace("\n", "\n  "))
    print(f"  {result} ({time.monotonic() - began:.1f} s)", flush=True)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memledger", required=True)
    parser.add_argument("--vgg19", required=True)
    parser.add_argument("--folder", required=True, help="for traces and plots")
    parser.add_argument("names", nargs="*", help="checks to run; default: all")
    options = parser.parse_args()
    chosen = [c for c in CHECKS if not options.names or c.__name__ in options.names]
    print(machine())
    results = [run_one(c, Lab(options)) for c in chosen]
    failed = results.count("FAILED")
    skipped = sum(r.startswith("skipped") for r in results)
    missed = sum(r.startswith("MISSED") for r in results)
    print(f"{len(results) - failed - skipped - missed} passed, {failed} failed, {skipped} skipped, "
          f"{missed} out of reach")
    return 1 if failed or not results else 0


sys.exit(main())
