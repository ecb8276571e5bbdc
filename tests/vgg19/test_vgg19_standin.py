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


def record(*arguments, device="cuda", name="cuda:0"):
    """Runs it, checks that its trace has its own numbers, and returns the result."""
    result = harness.run(VGG19, "--device", device, *arguments, options=["-f"], env=environment())
    harness.equal(result.code, 0, f"exit code with {arguments}", result)
    own = said(result)
    summary = harness.report("summary", result.trace)
    found = {d["device"]: d for d in summary["by_device"]}[name]
    blocks = {level["level"]: level for level in found["levels"]}["block"]
    harness.equal(own["device"], name, "the device", result)
    harness.equal(blocks["peak_bytes"], int(own["peak_bytes"]), f"peak with {arguments}")
    harness.equal(blocks["allocations"], int(own["buffers"]), f"buffers with {arguments}")
    harness.equal(blocks["live_bytes"], 0, f"live at the end with {arguments}")
    return result


def test_trace_has_the_programs_own_numbers():
    for batch in ("1", "3"):
        for algorithm in ("direct", "im2col", "winograd"):
            result = record("--algo", algorithm, "--size", "32", "--batch", batch)
            harness.equal(said(result)["batch"], batch, "the batch", result)


def test_a_batch_on_the_host_too():
    result = record("--algo", "im2col", "--size", "32", "--batch", "3", "--output", "three",
                    "--check", device="cpu", name="cpu")
    harness.contains(result.out, "check=agree", "the output")
    with open("three", encoding="utf-8") as file:
        harness.equal(len(file.readlines()), 3 * 1000, "logits of three images")
    first = harness.plain(VGG19, "--algo", "im2col", "--size", "32", "--output", "one")
    harness.equal(first.returncode, 0, "exit code", first.stderr)
    with open("one", encoding="utf-8") as one, open("three", encoding="utf-8") as three:
        harness.equal(one.readlines(), three.readlines()[:1000], "the first image of the batch")
    short = harness.plain(VGG19, "--size", "32", "--batch", "2", "--check", "one")
    harness.equal(short.returncode, 2, "exit code with too few logits", short.stderr)
    harness.contains(short.stderr, "--batch", "stderr")


def test_eight_images_of_256_need_what_the_readme_says():
    """Not fft: its tables are global variables of the kernels, which the stand-in has none of."""
    for algorithm, peak_bytes in (("im2col", 1_476_542_720), ("winograd", 4_647_961_856)):
        result = record("--algo", algorithm, "--size", "256", "--batch", "8")
        harness.equal(int(said(result)["peak_bytes"]), peak_bytes, f"peak with {algorithm}")
        at_peak = harness.report("table", result.trace, "--device", "cuda:0", "--by", "module")
        harness.equal(at_peak["groups"][0]["module"], "conv1_2", f"the layer with {algorithm}")


def test_samples_make_the_picture_of_the_original():
    """nvidia-smi's log, above its first sample."""
    def memledger(*arguments):
        done = harness.plain(harness.MEMLEDGER, *arguments)
        harness.equal(done.returncode, 0, f"exit code of {arguments}", done.stderr)

    result = record("--algo", "winograd", "--size", "64")
    memledger("export", "-f", "--format", "nvidia-smi", "--device", "cuda:0", "-o", "memory.txt",
              result.trace)
    memledger("import", "-q", "-f", "--format", "nvidia-smi", "-o", "log.mled", "memory.txt")
    memledger("plot", "-f", "--baseline", "first", "--unit", "MiB", "-o", "log.svg", "log.mled")
    with open("memory.txt", encoding="utf-8") as file:
        used = [int(line.split(" ")[0]) for line in file.readlines()[1:]]
    with open("log.svg", encoding="utf-8") as file:
        harness.contains(file.read(), f"peak {max(used) - used[0]}.0 MiB", "the picture")


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
