#!/usr/bin/env python3
# test_old_files.py: the files of the old profilers, read by their own rules; and how the
# command treats the files that it writes.
#
# SPDX-License-Identifier: Apache-2.0
import os
import stat
import sys

import harness
import old_files
from harness import MEMLEDGER, check, contains, equal, plain, program, run

TRACES = os.environ["TEST_TRACES"]
DATA = os.environ["TEST_DATA"]
TRAINING = """
import torch
net = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256))
optimizer = torch.optim.Adam(net.parameters())
for step in range(3):
    optimizer.zero_grad()
    net(torch.ones(64, 256)).sum().backward()
    optimizer.step()
"""


def trace(name):
    return os.path.join(TRACES, f"{name}.mled")


def exported(*options, env=None, code=0):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("MXNET_", "MEMLEDGER_"))}
    done = plain(MEMLEDGER, "export", *options, env=clean | (env or {}))
    equal(done.returncode, code, f"exit code of export {options}", done.stderr)
    return done


# ---- What the old tools read ---------------------------------------------------------


def test_blocks():
    for name in ("modules", "gpt", "gpu", "python"):
        check(old_files.check_all(trace(name), "--device", "cuda:0") > 0,
              f"{name} has no allocations")


def test_pools():
    """MXNet's pools: the files have what was asked of the driver."""
    old_files.check_tbd(trace("mxnet"))
    rows = old_files.old_tools.mxnet_profile(
        old_files.export(trace("mxnet"), "mxnet-pool-csv"))
    amends = [row for row in rows if row[0] == "nvml_amend"]
    taken = sum(int(row[3]) for row in rows if row[2] == "0" and row[0] != "nvml_amend")
    equal([int(row[1]) for row in amends], [(324 << 20) - taken], "what NVML saw beyond")


def test_there_and_back():
    for name in ("mxnet-csv", "mxnet-pool-csv", "mxnet-log", "tbd-log", "tbd-analysis"):
        old_files.check_round(trace("mxnet"), name)
    for name in ("mxnet-csv", "mxnet-pool-csv", "tbd-log", "tbd-analysis"):
        old_files.check_round(trace("gpt"), name)


def test_log_of_tbd():
    """A log of TBD's profiler: what its script printed and wrote."""
    log = os.path.join(DATA, "tbd", "conv_resnet_log")
    done = plain(MEMLEDGER, "import", "-qf", "-o", "log.mled", log)
    equal(done.returncode, 0, "exit code of import", done.stderr)
    with open(log + "_ANALYSIS") as file:
        equal(open(old_files.export("log.mled", "tbd-analysis")).read(), file.read(), "_ANALYSIS")
    printed = plain(MEMLEDGER, "groups", "--style", "tbd", "log.mled").stdout
    with open(os.path.join(DATA, "tbd", "conv_resnet.stdout.txt")) as file:
        wanted = file.read().replace("logs2/conv_resnet_log", "log.mled")
    equal(printed, wanted, "what TBD's script prints")
    with open(log) as file:
        memory = [line for line in file if line.startswith("[mem] ")]
    equal(open(old_files.export("log.mled", "tbd-log")).readlines(), memory, "the log's lines")


def test_logs_of_nvidia_smi():
    folder = os.path.join(DATA, "smi")
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        done = plain(MEMLEDGER, "import", "-qf", "-o", "smi.mled", path)
        equal(done.returncode, 0, f"exit code of import {name}", done.stderr)
        with open(path) as file:
            equal(open(old_files.export("smi.mled", "nvidia-smi")).read(), file.read(), name)


def test_recorded():
    """A program that reports its own blocks."""
    result = run(harness.program("trains"), "3", options=("-qf",))
    equal(result.code, 0, "exit code", result)
    check(old_files.check_all(result.trace) > 0, "no allocations", result)


def test_torch():
    """A training step of PyTorch, from a script that knows nothing."""
    if plain(sys.executable, "-c", "import torch.nn").returncode:
        raise harness.Skip("there is no PyTorch; scripts/setup.sh test installs it")
    with open("train.py", "w") as file:
        file.write(TRAINING)
    result = run(sys.executable, "train.py", options=("-qf",))
    equal(result.code, 0, "exit code", result)
    check(old_files.check_all(result.trace) > 50, "few allocations", result)
    parameters = {line.split(",")[0]: float(line.split(",")[1])
                  for line in open(old_files.export(result.trace, "mxnet-csv"))
                  if line.startswith("in_arg:")}
    equal(parameters, {"in_arg:0.weight": 0.25, "in_arg:0.bias": 0.000976562,
                       "in_arg:2.weight": 0.25, "in_arg:2.bias": 0.000976562}, "parameters")
    tags = {line.split(",")[0] for line in open(old_files.export(result.trace, "mxnet-csv"))}
    for tag in ("arg_grad:2.weight", "optimizer_state:exp_avg:0.weight", "data_entry:1_oedge0",
                "input.0"):
        check(tag in tags, f"no {tag}", sorted(tags))


# ---- Names of files -------------------------------------------------------------------


def test_names():
    done = exported(trace("gpt"), "--format", "tbd-log")
    equal(done.stdout, "gpt.tbd.log\n", "the name of the file")
    exported(trace("gpt"), "-o", "a.tbd.log")
    exported(trace("gpt"), "-o", "b_ANALYSIS")
    equal(open("a.tbd.log").read(), open("gpt.tbd.log").read(), "the log by its suffix")
    contains(open("b_ANALYSIS").read(), '"in_arg": [', "the analysis by its suffix")
    exported(trace("mxnet"), "--format", "mxnet-pool-csv")
    check(os.path.exists("gpu_memory_profile-pid_4000.csv"), "no profile", os.listdir("."))


TWO_PROCESSES = """
import os
mine = bytearray(8 << 20)
told, tell = os.pipe()
wait, go = os.pipe()
if os.fork() == 0:
    theirs = bytearray(5 << 20)
    os.write(tell, b"x")
    os.read(wait, 1)
    os._exit(0)
os.read(told, 1)
more = bytearray(3 << 20)
os.write(go, b"x")
os.wait()
"""


def test_a_profile_of_each_process():
    """As MXNet's processes write them; with -o there is one name, and one file."""
    run(sys.executable, "-c", TWO_PROCESSES, options=["--heap"], trace="two.mled")
    done = exported("two.mled", "--format", "mxnet-pool-csv", "--at", "peak")
    files = done.stdout.split()
    pids = [process["pid"] for process in harness.dump("two.mled")["processes"]]
    equal(sorted(files), sorted(f"gpu_memory_profile-pid_{pid}.csv" for pid in pids), "files")
    exported("two.mled", "-o", "all.pool.csv", "--at", "peak")
    rows = [open(name).read().splitlines() for name in [*files, "all.pool.csv"]]
    equal({r[0] for r in rows}, {rows[0][0]}, "headers")
    equal(sorted(rows[0][1:] + rows[1][1:]), sorted(rows[2][1:]), "rows of both and of all")
    sizes = {name: sum(int(r.split('","')[3]) for r in lines[1:]) for name, lines in zip(files, rows)}
    check(sizes[f"gpu_memory_profile-pid_{pids[1]}.csv"] > 5 << 20, "what the child holds", sizes)


def test_the_process_that_holds_memory():
    """Not the one that started it, which holds none."""
    run("sh", "-c", f'{program("keeps")} forever; true', trace="child.mled")
    child = harness.dump("child.mled")["processes"][1]["pid"]
    done = exported("child.mled", "--format", "mxnet-pool-csv", "--at", "peak")
    equal(done.stdout, f"gpu_memory_profile-pid_{child}.csv\n", "the file")


def test_names_from_environment():
    for name, variables in {
            "mxnet-csv": ("MXNET_GPU_MEMORY_PROFILER_CSV_FNAME",
                          "MXNET_MEMORY_PROFILER_FOUT_FNAME"),
            "mxnet-log": ("MXNET_GPU_MEMORY_PROFILER_LOG_FNAME",
                          "MXNET_MEMORY_PROFILER_FERR_FNAME"),
    }.items():
        for number, variable in enumerate(variables):
            path = f"{name}-{number}"
            done = exported(trace("mxnet"), "--format", name, env={variable: path})
            equal(done.stdout, path + "\n", f"the name by {variable}")
            check(os.path.getsize(path) > 0, f"{path} is empty")
    # What is asked for comes first.
    exported(trace("mxnet"), "--format", "mxnet-csv", "-o", "mine",
             env={"MXNET_GPU_MEMORY_PROFILER_CSV_FNAME": "theirs"})
    check(os.path.exists("mine") and not os.path.exists("theirs"), "-o does not win")


# ---- Writing --------------------------------------------------------------------------


def test_overwriting():
    with open("a.tbd.log", "w") as file:
        file.write("precious")
    os.chmod("a.tbd.log", 0o640)
    done = exported(trace("gpt"), "-o", "a.tbd.log", code=1)
    contains(done.stderr, "a.tbd.log exists; choose another name or overwrite it with -f", "the error")
    equal(open("a.tbd.log").read(), "precious", "the old file")
    exported(trace("gpt"), "-o", "a.tbd.log", "-f")
    contains(open("a.tbd.log").read(), "[mem] Allocate", "the new file")
    equal(stat.S_IMODE(os.stat("a.tbd.log").st_mode), 0o640, "the mode of the file")


def test_failures_leave_nothing():
    exported(trace("gpt"), "-o", "a.pool.csv", "--at", "step:77", code=1)
    exported(trace("gpt"), "-o", "a.pool.csv", "--device", "cuda:7", code=1)
    equal(os.listdir("."), [], "what is left of failed exports")
    open("file", "w").close()
    done = exported(trace("gpt"), "-o", "file/a.tbd.log", code=1)
    contains(done.stderr, "file/a.tbd.log: cannot write", "the error")


def test_streams():
    done = exported(trace("gpt"), "--format", "tbd-log", "-o", "-")
    contains(done.stdout, "[mem] Allocate", "standard output")
    exported(trace("gpt"), "--format", "tbd-log", "-o", "/dev/null")
    equal(os.listdir("."), [], "files")
    done = plain(MEMLEDGER, "export", trace("gpt"), "--format", "tbd-log", "-o", "/dev/full")
    equal(done.returncode, 1, "exit code on a full disk", done.stderr)
    contains(done.stderr, "/dev/full: cannot write: No space left", "the error")


harness.main(globals())
