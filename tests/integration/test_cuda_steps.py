# test_cuda_steps.py: the scripted CUDA program and the stand-in it runs on, without memledger:
# three ways to the driver, one behaviour.
#
# SPDX-License-Identifier: Apache-2.0
import ctypes
import json
import os
import subprocess

import harness
from harness import equal

WAYS = ("linked", "dlsym", "proc")
PER_THREAD = ([], ["per-thread"])
MIB = 1 << 20

# Right and wrong uses of every family.
SCRIPT = """
alloc:1M init alloc:1M retain stream
alloc:100M free:2 free:2 free-at:0xdead000 alloc:900G pitch:1000:1000 free:3
host:1M free-host:4 free-host:4 register:1M unregister:5 unregister:5
async:10M:1 free-async:6:1 sync:1 free-async:6:1
pool from-pool:50M:7 free-async:8 sync-all pool-trim:7 pool-end:7
create:20M reserve:40M map:10:9:2M unmap:10:20M:2M unmap:10:20M:2M drop:9 drop:9 unreserve:10
array:64:64 array-end:11 mipmap:64:64:3 mipmap-end:12
graph:10M graph-launch:13 free:13 graph-trim graph-end:13
module:5M launch:14 module-end:14 library:5M launch:15 library-end:15
managed:10M prefetch:16 fill:16 copy:16 free:16 alloc:1M ipc-open:17 ipc-close:18 ipc-close:18
capture:1 async:10M:1 free-async:19:1 capture-end:1 graph-launch:20 graph-launch:20 graph-end:20
free:19 free:2 context:1 context-end:21 limit:0:2048 info release alloc:1M
""".split()


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


def steps(way, *script, **settings):
    done = harness.plain(harness.program("cuda_steps_" + way), *script,
                         env=harness.with_standin(**settings))
    equal(done.returncode, 0, "exit code", done.stderr)
    return lines(done.stdout)


def results(said):
    return [(line["step"], line["result"]) for line in said]


def test_three_ways():
    runs = [steps(way, *first, *SCRIPT) for way in WAYS for first in PER_THREAD]
    wrong = {"3", "201", "1", "2", "713", "709"}
    equal({str(code) for _, code in results(runs[0])} - {"0"}, wrong, "errors")
    for run in runs[1:]:
        equal(results(run), results(runs[0]), "results")
        equal(run[-3]["bytes"], runs[0][-3]["bytes"], "free memory at the end")


def nvml_used(index):
    """What NVML says in this process of what others use."""
    nvml = ctypes.CDLL(os.path.join(harness.STANDIN, "libnvidia-ml.so.1"))
    os.environ["STANDIN_STATE"] = harness.with_standin()["STANDIN_STATE"]
    device, memory = ctypes.c_void_p(), (ctypes.c_ulonglong * 3)()
    equal(nvml.nvmlInit_v2(), 0, "nvmlInit")
    equal(nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(device)), 0, "handle")
    equal(nvml.nvmlDeviceGetMemoryInfo(device, memory), 0, "memory")
    return memory[2]


def test_seen_from_outside():
    # CUDA's device 0 is NVML's 1.
    process = subprocess.Popen(
        [harness.program("cuda_steps_linked"), "init", "retain", "alloc:100M", "wait", "kill"],
        env=harness.with_standin(CUDA_VISIBLE_DEVICES="1,0"), text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for _ in range(3):
        process.stdout.readline()
    equal(nvml_used(0), 644939776 + 3407872, "the device that is not used")
    equal(nvml_used(1), 644939776 + 3407872 + 548995072 + 100 * MIB, "the device in use")
    process.communicate("go on\n")
    equal(process.returncode, -9, "exit code")
    equal(nvml_used(1), 644939776, "after the end")


def test_settings():
    equal(steps("dlsym", "init", STANDIN_DEVICES=0), [{"step": "init", "result": 100}], "no device")
    said = steps("dlsym", "init", "retain:3", "alloc:500M", "alloc:500M",
                 STANDIN_DEVICES=4, STANDIN_TOTAL_MIB=2048)
    equal(results(said)[1:], [("retain:3", 0), ("alloc:500M", 0), ("alloc:500M", 2)], "small device")


harness.main(globals())
