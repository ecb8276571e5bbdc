# torch_cases.py: programs with PyTorch, as users write them, without memledger. `torch_cases.py
# CASE` prints one line of JSON and exits without freeing anything, so that blocks live then are
# live at the trace's end.
#
# SPDX-License-Identifier: Apache-2.0
import ctypes
import gc
import json
import os
import resource
import signal
import sys
import threading

import torch
from torch import nn

KEPT = []  # alive at the end


def storage_of(tensor):
    """Address and size of its memory, in PyTorch 1.13 as in 2."""
    storage = getattr(tensor, "untyped_storage", tensor.storage)()
    return storage.data_ptr(), storage.nbytes()


def alive_bytes():
    """The memory of all tensors that Python can reach, each storage once. Those on the meta device,
    such as PyTorch 2.3 has itself, have none."""
    gc.collect()
    tensors = [o for o in gc.get_objects()
               if type(o) in (torch.Tensor, nn.Parameter) and o.device.type != "meta"]
    tensors += [t.grad for t in tensors if t.is_leaf and t.grad is not None]
    return sum(dict(map(storage_of, tensors)).values())


def model_of(width):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width))


def step(model, optimizer, width):
    loss = model(torch.randn(16, width)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def train(steps=5, width=64):
    model = model_of(width)
    optimizer = torch.optim.Adam(model.parameters())
    losses = [step(model, optimizer, width) for _ in range(steps)]
    return model, optimizer, losses


def hand_over():
    """Tensors that another thread frees than the one that made them."""
    handed = [[] for _ in range(4)]

    def work(mine, theirs):
        for i in range(300):
            handed[mine].append(torch.full((1 + i % 50, 16), 1.0))
            if handed[theirs]:
                handed[theirs].pop()
        KEPT.append(torch.zeros(mine + 1, 100))
        train(2, 16)

    threads = [threading.Thread(target=work, args=(i, (i + 1) % 4)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def case_alive():
    """All of a first training is deleted; threads keep some; a second one is kept."""
    train()
    alive = [alive_bytes()]
    hand_over()
    alive.append(alive_bytes())
    model, optimizer, _ = train()
    KEPT.append((model, optimizer))
    alive.append(alive_bytes())
    sizes = [storage_of(p)[1] for p in model.parameters()]
    # Each with a gradient and Adam's two moments, and one number that counts steps.
    trained = 4 * sum(sizes) + 4 * len(sizes)
    return {"alive": alive, "expected": [0, 4000, 4000 + trained]}


class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, i):
        return torch.full((32, 32), float(i))


def case_workers():
    """Worker processes made by fork, which give tensors back in shared memory."""
    old = torch.ones(100, 100)
    loader = torch.utils.data.DataLoader(Numbers(), batch_size=8, num_workers=2)
    total = sum(float(batch.sum()) for batch in loader)
    return {"total": total, "old": float(old.sum())}


def case_known():
    """A peak that is known beforehand: resize_ has old and new memory at once."""
    a, b = torch.empty(1 << 18), torch.empty(1 << 18)
    a.resize_(1 << 19)
    del b
    KEPT.extend([a, torch.empty(0)])
    return {"alive": storage_of(a)[1]}


def case_many():
    KEPT.extend(torch.empty(1 << 18) for _ in range(400))
    return {"alive": sum(storage_of(t)[1] for t in KEPT)}


def case_oom():
    said = []
    for count in (1 << 58, 1 << 57):
        try:
            torch.empty(count, dtype=torch.uint8)
        except RuntimeError as e:
            said.append(str(e).split(". Error code")[0].split("] ")[-1])
    try:
        torch.empty(1 << 62, dtype=torch.uint8)
    finally:
        return {"said": said, "works": float(torch.ones(10).sum())}


def case_limited():
    """Refused although the machine has as much."""
    limits = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm") as f:
        now = int(f.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + (1 << 27), limits[1]))
    try:
        torch.empty(1 << 29, dtype=torch.uint8)
    except RuntimeError:
        return {"refused": True}
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)


def reporting_functions():
    """Those that the CUDA caching allocator calls, as it finds them."""
    with open("/proc/self/maps") as f:
        path = next(line.split()[-1] for line in f if "/libc10.so" in line)
    ctypes.CDLL(path, ctypes.RTLD_GLOBAL)
    program = ctypes.CDLL(None)
    word = "m" if hasattr(program, REPORT.format("m")) else "l"
    report, oom = program[REPORT.format(word)], program[REPORT_OOM.format(word)]
    word, size = ctypes.c_int64, ctypes.c_size_t
    report.argtypes = [ctypes.c_void_p, word, size, size, ctypes.c_uint16]
    oom.argtypes = [word, size, size, ctypes.c_uint16]
    report.restype = oom.restype = None
    return report, oom


REPORT = "_ZN3c1027reportMemoryUsageToProfilerEPvl{0}{0}NS_6DeviceE"
REPORT_OOM = "_ZN3c1027reportOutOfMemoryToProfilerEl{0}{0}NS_6DeviceE"
CPU, CUDA, XPU = 0, 1, 12


def device(kind, index):
    return kind | (index & 255) << 8


def case_reports():
    """What the caching allocator would report on a machine with GPUs."""
    report, oom = reporting_functions()
    for i in range(10):
        report(0x7000000 + 512 * i, 512, 512 * (i + 1), 2 << 20, device(CUDA, i % 2))
    for i in range(5):
        report(0x7000000 + 512 * i, -512, 0, 2 << 20, device(CUDA, i % 2))
    oom(1 << 40, 0, 2 << 20, device(CUDA, 1))
    for unknown in (device(CPU, -1), device(XPU, 0), device(CUDA, -1), device(CUDA, 100)):
        report(0x8000000, 512, 512, 512, unknown)
        oom(1 << 40, 0, 0, unknown)
    return {}


# ---- Stacks -------------------------------------------------------------------------


def block(bytes):
    """A block of a size that nobody else asks for."""
    return torch.empty(bytes, dtype=torch.uint8)


class InWorker(Numbers):
    def __getitem__(self, i):
        return int(block(100_003).numel()) + i


class InForward(nn.Module):
    def forward(self, x):
        self.kept = block(100_005)
        return x


def in_thread():
    KEPT.append([block(100_007) for _ in range(3)])


def case_stacks():
    """Blocks of a known size from a worker process, from a module, from a thread; one that
    there is no memory for; and of a training."""
    total = sum(int(n.sum()) for n in torch.utils.data.DataLoader(InWorker(), num_workers=2))
    nn.Sequential(nn.ReLU(), InForward())(torch.ones(3))
    thread = threading.Thread(target=in_thread)
    thread.start()
    thread.join()
    try:
        block(1 << 58)
    except RuntimeError:
        pass
    train(2)
    return {"total": total}


# ---- Ends ---------------------------------------------------------------------------


class Ending(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.inner, self.how = nn.Linear(8, 8), how

    def forward(self, x):
        y = self.inner(x)
        self.how()
        return y


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
    return [None for _ in range(1000)]  # the interpreter sees it here at the latest


def fail():
    raise ValueError("on purpose")


ENDS = {
    "exception": fail,
    "exit": lambda: sys.exit(3),
    "interrupt": interrupt,
    "oom": lambda: torch.empty(1 << 58),
    "abort": os.abort,
    "killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
}


def end_in_forward(how):
    torch.set_num_threads(1)
    Ending(ENDS[how])(torch.ones(4, 8))


def case_ends():
    """Each in a child, since importing takes longest: how do they end?"""
    torch.set_num_threads(1)
    statuses = {}
    for how in ENDS:
        sys.stdout.flush()
        pid = os.fork()
        if not pid:
            try:
                os.close(2)
                end_in_forward(how)
            except SystemExit as e:
                os._exit(e.code)
            except KeyboardInterrupt:
                os._exit(130)
            except ValueError:
                os._exit(4)
            except RuntimeError:
                os._exit(5)
            os._exit(0)
        statuses[how] = os.waitpid(pid, 0)[1]
    return statuses


# ---- torch.profiler --------------------------------------------------------------------


def profiled_memory(profile):
    """The memory events of torch.profiler, without times and addresses; with the
    totals where this build of PyTorch writes them."""
    profile.export_chrome_trace("profile.json")
    with open("profile.json") as f:
        written = json.load(f)
    if isinstance(written, list):
        return [e.nbytes() for e in profile.profiler.kineto_results.events() if e.nbytes()]
    memory = [e for e in written["traceEvents"] if e.get("name") == "[memory]"]
    keys = ("Bytes", "Total Allocated", "Total Reserved", "Device Type", "Device Id")
    return [[e["args"].get(k) for k in keys] for e in sorted(memory, key=lambda e: e["ts"])]


def case_profiler():
    """Blocks older than the profile die in it, and some of its own outlive it."""
    torch.set_num_threads(1)
    model, optimizer, _ = train()
    old = [torch.ones(1000 + i) for i in range(5)]
    for _ in range(2):
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU],
                                    profile_memory=True, record_shapes=True) as p:
            old.pop()
            young = torch.ones(123, 45)
            step(model, optimizer, 64)
            old.pop()
        del young
    # As they were written down: key_averages() drops an operator inside one of its own
    # name, and whether it was inside is decided by the clock.
    names = [e.name() for e in p.profiler.kineto_results.events()]
    operators = sorted([n, names.count(n)] for n in set(names) if n != "[memory]")
    return {"memory": profiled_memory(p), "operators": operators}


def main():
    name = sys.argv[1]
    if name.startswith("end="):
        return end_in_forward(name[4:])
    print(json.dumps(globals()["case_" + name]()), flush=True)
    os._exit(0)


if __name__ == "__main__":  # a forkserver imports this file
    main()
