# test_vgg19_standin.py: vgg19 --device cuda from its command line to its trace,
# with the stand-in as the driver. Its kernels do nothing, so the numbers are
# wrong; the buffers are not. test_cuda_kernels.c has the numbers.
#
# SPDX-License-Identifier: Apache-2.0
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))
import harness

VGG19 = os.environ["TEST_VGG19"]

# "Compiles" the kernels' text to the form in which the stand-in takes code: how
# large it is, and the kernels in it.
NVCC = r"""#!/bin/sh
while [ $# -gt 1 ]; do
    [ "$1" != -o ] || result=$2
    shift
done
{
    echo STANDIN 65536
    sed -n 's/^KERNEL \(kernel_[a-z0-9_]*\).*/\1/p' "$1"
} | paste -s -d ' ' >"$result"
"""


def environment(**settings):
    """The stand-in, and an nvcc for machines without NVRTC."""
    os.makedirs("bin", exist_ok=True)
    with open("bin/nvcc", "w", encoding="utf-8") as file:
        file.write(NVCC)
    os.chmod("bin/nvcc", 0o755)
    env = os.environ | {"PATH": os.path.abspath("bin") + ":" + os.environ["PATH"]}
    return harness.with_standin(env, **settings)


def said(result):
    """The program's line as a dictionary."""
    return dict(word.split("=", 1) for word in result.out.split())


def test_trace_has_the_programs_own_numbers():
    for algorithm in ("direct", "im2col", "winograd"):
        result = harness.run(VGG19, "--device", "cuda", "--algo", algorithm, "--size", "32",
                             options=["-f"], env=environment())
        harness.equal(result.code, 0, f"exit code with {algorithm}", result)
        own = said(result)
        summary = harness.report("summary", result.trace)
        device = {d["device"]: d for d in summary["by_device"]}["cuda:0"]
        blocks = {level["level"]: level for level in device["levels"]}["block"]
        harness.equal(own["device"], "cuda:0", "the device", result)
        harness.equal(blocks["peak_bytes"], int(own["peak_bytes"]), f"peak with {algorithm}")
        harness.equal(blocks["allocations"], int(own["buffers"]), f"buffers with {algorithm}")
        harness.equal(blocks["live_bytes"], 0, f"live at the end with {algorithm}")


def test_ledger_names_every_buffer_at_the_peak():
    """Also the newest, which the program reports after the driver gave it."""
    result = harness.run(VGG19, "--device", "cuda", "--algo", "direct", "--size", "32",
                         options=["-f"], env=environment())
    harness.equal(result.code, 0, "exit code", result)
    [book] = harness.report("ledger", result.trace, "--device", "cuda:0")["devices"]
    groups = {entry["name"]: entry for entry in book["entries"]}
    harness.check("driver allocations" not in groups, "memory without a name", groups)
    harness.equal({entry["name"] for entry in groups["blocks"]["entries"]} - {"slack"},
                  {"parameter", "activation"}, "categories", groups["blocks"])
    harness.check(book["at_ns"] > book["sample_ns"], "the book is opened after the sample", book)
    harness.equal(book["unexplained_bytes"], 0, "unexplained", groups)


def test_check_sees_wrong_numbers_and_leaves_no_trace():
    arguments = ("--device", "cuda", "--size", "32")
    alone = harness.run(VGG19, *arguments, env=environment())
    checked = harness.run(VGG19, *arguments, "--check", trace="checked.mled", env=environment())
    harness.equal(checked.code, 1, "exit code", checked)
    harness.contains(checked.out, "check=DIFFERENT", "the output")
    for key in ("peak_bytes", "allocations", "allocated_bytes"):
        harness.equal(harness.report("summary", checked.trace)[key],
                      harness.report("summary", alone.trace)[key], key)


def test_out_of_memory_is_told():
    result = harness.plain(VGG19, "--device", "cuda", "--algo", "winograd", "--size", "256",
                           env=environment(STANDIN_TOTAL_MIB=3000))
    harness.equal(result.returncode, 2, "exit code", result.stderr)
    harness.contains(result.stderr, "no memory on cuda:0 for conv1_2.winograd.product", "stderr")


def test_what_is_missing_is_named():
    env = environment()
    probe = harness.plain(VGG19, "--device", "cuda", "--probe", env=env)
    harness.equal(probe.returncode, 0, "exit code of --probe", probe.stderr)
    harness.contains(probe.stdout, "device=cuda:0", "--probe")
    nothing = os.path.abspath("nothing")
    bare = harness.plain(VGG19, "--device", "cuda", "--cuda-libs", nothing,
                         env=env | {"PATH": nothing})
    harness.equal(bare.returncode, 3, "exit code without a compiler", bare.stderr)
    harness.contains(bare.stderr, "NVRTC", "stderr")
    harness.contains(bare.stderr, "nvcc", "stderr")
    hidden = harness.plain(VGG19, "--device", "cuda", env=env | {"CUDA_VISIBLE_DEVICES": ""})
    harness.equal(hidden.returncode, 3, "exit code without a device", hidden.stderr)
    harness.contains(hidden.stderr, "no CUDA device", "stderr")


harness.main(globals())
