# live_cases.py: programs that start memledger themselves, in a plain Python. Each prints its
# findings as JSON on its last line.
#
# SPDX-License-Identifier: Apache-2.0
import atexit
import contextlib
import io
import json
import os
import re
import sys
import threading
import weakref

import memledger


def say(**found):
    print(json.dumps(found))


def mlp():
    import torch
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(500, 1000), torch.nn.ReLU(),
                               torch.nn.Linear(1000, 500))


def bytes_by_hand():
    """live() and peak() against sizes that are known."""
    import numpy
    import torch
    kept = torch.zeros(1000)  # before memledger counts
    gradient = torch.nn.Parameter(torch.ones(10))
    gradient.sum().backward()
    foreign = torch.from_numpy(numpy.zeros(8 << 20))  # not of PyTorch's allocator
    before = memledger.live("cpu")
    block = torch.empty(1 << 20, dtype=torch.uint8)
    view = block[10:20]
    one = memledger.live("cpu") - before
    del block
    same = memledger.live() - before
    del view
    gone = memledger.live() - before
    memledger.peak(reset=True)
    first = torch.empty(3000, dtype=torch.uint8)
    second = torch.empty(5000, dtype=torch.uint8)
    del first
    third = torch.empty(1000, dtype=torch.uint8)
    peak = memledger.peak() - before
    again = memledger.peak(reset=True) - before
    after = memledger.peak() - before
    say(before=before, one=one, same=same, gone=gone, peak=peak, again=again, after=after,
        kept=foreign.numel() + kept.numel() + second.numel() + third.numel(), unknown=memledger.live("cuda:3"))


def own_kinds():
    """Tensors whose class is asked about each operation, and one without memory."""
    import warnings
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode
    asked = []

    class Asked(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            asked.append(str(function))
            return super().__torch_function__(function, types, args, kwargs or {})

    with FakeTensorMode():
        fake = torch.empty(500)
    model = torch.nn.Module()
    model.weight = torch.nn.Parameter(torch.zeros(1000).as_subclass(Asked))
    asked.clear()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        memledger.start("own.mled")
        live = memledger.live("cpu")
        memledger.stop()
    say(live=live, asked=asked, warned=[str(w.message) for w in warned], fake=len(fake))


def interrupted():
    """Ctrl-C while start() gives names: the recording goes on, and can be stopped."""
    import memledger._torch
    import torch  # noqa: F401

    def interrupt():
        raise KeyboardInterrupt
    begin, memledger._torch.begin_recording = memledger._torch.begin_recording, interrupt
    try:
        memledger.start("interrupted.mled")
    except KeyboardInterrupt:
        memledger._torch.begin_recording = begin
    stopped = memledger.stop()
    say(stopped=stopped, again=memledger.start("again.mled"), ended=memledger.stop())


def early_trouble():
    """Missing names are reported once, however often recordings began before PyTorch."""
    import memledger._torch

    def fail():
        raise RuntimeError("made to fail")
    memledger._torch.begin_recording = fail
    for i in range(3):
        memledger.start(f"{i}.mled")
        memledger.stop()
    memledger.start("last.mled")
    import torch  # noqa: F401
    say(stopped=memledger.stop())


def start_stop(torch_first):
    """One trace, then another, with blocks that live across both."""
    if torch_first == "torch-first":
        import torch
        kept = torch.zeros(2500)
    path = memledger.start("first.mled")
    import torch
    with memledger.scope("outside"):
        block = torch.empty(1 << 20, dtype=torch.uint8)
    memledger.step()
    del block
    more = torch.zeros(1000)
    live, peak = memledger.live(), memledger.peak()
    stopped = memledger.stop()
    between = torch.zeros(500)
    memledger.start("second.mled")
    del more
    live_then = memledger.live()
    torch.empty(300, dtype=torch.uint8)
    second = memledger.stop()
    say(path=path, stopped=stopped, second=second, live=live, peak=peak, live_then=live_then,
        none=memledger.stop(), between=between.numel())


def stacks():
    """Recordings with Python lines, without, and with a wrong wish."""
    import torch
    said = None
    for how in ("python", None):
        memledger.start(f"{how}.mled", stacks=how)
        torch.empty(1 << 20, dtype=torch.uint8)
        memledger.stop()
    try:
        memledger.start("wrong.mled", stacks="lines")
    except ValueError as error:
        said = str(error)
    say(refused=said, exists=os.path.exists("wrong.mled"))


def threads():
    """Threads that go on through two recordings."""
    import torch
    turn = threading.Barrier(5)

    def work():
        for _ in range(3):
            turn.wait()
            for size in range(1, 200):
                torch.empty(size, dtype=torch.uint8)
            turn.wait()

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    before = memledger.live()
    memledger.start("a.mled")
    turn.wait(), turn.wait()
    memledger.stop()
    turn.wait(), turn.wait()
    memledger.start("b.mled")
    turn.wait(), turn.wait()
    memledger.stop()
    for worker in workers:
        worker.join()
    say(left=memledger.live() - before)


def restless(rounds):
    """Recordings that begin and end while threads allocate and free, some blocks across."""
    import torch
    torch.set_num_threads(1)
    over = threading.Event()

    def work():
        kept = []
        while not over.is_set():
            kept.append(torch.empty(100, dtype=torch.uint8))
            if len(kept) > 50:
                del kept[:25]

    before = memledger.live()
    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    paths = []
    for i in range(int(rounds)):
        paths.append(memledger.start(f"r{i}.mled", sample_hz=0))
        threading.Event().wait(0.005)
        memledger.stop()
    over.set()
    for worker in workers:
        worker.join()
    say(paths=paths, left=memledger.live() - before)


class Numbers:
    def __len__(self):
        return 64

    def __getitem__(self, i):
        import torch
        return torch.full((32,), float(i))


def workers():
    """Forked ones, which Python 3.14 no longer makes by itself."""
    import torch
    memledger.start("w.mled")
    loader = torch.utils.data.DataLoader(Numbers(), batch_size=8, num_workers=2,
                                         multiprocessing_context="fork")
    total = sum(batch.sum().item() for batch in loader)
    say(total=total, path=memledger.stop())


def children():
    """A forked child counts for itself, ends nothing, and may record on its own."""
    import torch
    kept = torch.zeros(1000)
    memledger.start("parent.mled")
    before = memledger.live()
    pid = os.fork()
    if not pid:
        own = torch.zeros(100)
        ok = memledger.live() == before + own.numel() * 4 and memledger.stop() is None
        os._exit(0 if ok else 1)
    _, status = os.waitpid(pid, 0)
    inside = memledger.live() - before
    memledger.stop()
    pid = os.fork()
    if not pid:
        memledger.start("child.mled")
        torch.zeros(100)
        os._exit(0 if memledger.stop() else 1)
    _, own_status = os.waitpid(pid, 0)
    say(status=status, own_status=own_status, inside=inside, kept=kept.numel())


def nameless():
    """The work that gives names fails: the recording goes on, and ends."""
    import torch
    from memledger import _torch

    def fail(_):
        raise RuntimeError("made to fail")
    _torch._watch_optimizers = fail
    path = memledger.start("nameless.mled")
    torch.nn.Linear(4, 4)(torch.zeros(4)).sum().backward()
    say(path=path, stopped=memledger.stop(),
        is_in_front=isinstance(torch.nn.Module.__call__, memledger._native.ScopedCall))


def outlives():
    """A child that was in its parent's recording records itself after that has ended."""
    import torch
    memledger.start("ended.mled")
    (here, there), (go, gone) = os.pipe(), os.pipe()
    pid = os.fork()
    if not pid:
        kept = torch.zeros(100)
        os.write(there, b"x")
        os.read(go, 1)
        path = memledger.start("late.mled")
        own = torch.zeros(1000)
        ok = path and memledger.stop() == path and memledger.stop() is None
        del kept, own
        os._exit(0 if ok else 1)
    os.read(here, 1)
    memledger.stop()
    os.write(gone, b"x")
    say(status=os.waitpid(pid, 0)[1])


def ends(how):
    import torch
    memledger.start("e.mled")
    kept = torch.zeros(1000)
    reference = weakref.ref(kept)
    atexit.register(lambda: say(kept_bytes=0 if reference() is None else 4000))
    torch.empty(1 << 20, dtype=torch.uint8)
    if how == "exception":
        raise ZeroDivisionError(kept.numel())
    if how == "_exit":
        os._exit(7)
    if how == "kill":
        os.kill(os.getpid(), 9)
    sys.exit(3)


def twice():
    """As when a notebook's cell is run again."""
    first = memledger.start()
    second = memledger.start()
    try:
        memledger.start("other.mled")
        refused = ""
    except (RuntimeError, FileExistsError) as error:
        refused = str(error)
    stopped = memledger.stop()
    third = memledger.start()
    with contextlib.suppress(RuntimeError):
        memledger.stop()
    open("mine.mled", "w").close()
    try:
        memledger.start("mine.mled")
        exists = ""
    except (RuntimeError, FileExistsError) as error:
        exists = str(error)
    memledger.start("mine.mled", force=True)
    memledger.stop()
    for _ in range(20):
        with memledger.recording("again.mled", force=True):
            pass
    say(first=first, second=second, refused=refused, stopped=stopped, third=third, exists=exists)


def decorated():
    import torch

    @memledger.profile
    def one(size):
        """Its own words."""
        torch.empty(size, dtype=torch.uint8)
        return size

    @memledger.profile(path="two.mled")
    def two():
        one(2 << 20)
        raise KeyError("two")

    @memledger.scope("named")
    def three():
        return memledger.live()

    result = one(1 << 20), one(3 << 20)
    for _ in range(2):
        with contextlib.suppress(KeyError):
            two()
    say(result=result, name=one.__name__, doc=one.__doc__, three=three())


def under_run():
    import torch
    older = torch.zeros(500)
    before = memledger.live()
    kept = torch.zeros(1000)
    del older
    before -= 2000
    path = memledger.start("no.mled")
    memledger.start()
    say(path=path, stopped=memledger.stop(), live=memledger.live() - before,
        exists=os.path.exists("no.mled"), kept=kept.numel())


def peak_under_run():
    """What was live before the first call counts, until a reset."""
    import torch
    before = torch.zeros(1 << 20)
    del before
    kept = torch.zeros(1000)
    first = memledger.peak("cpu")
    again = memledger.peak("cpu", reset=True)
    after = memledger.peak("cpu")
    later = torch.zeros(2 << 20)
    del later
    say(first=first, again=again, after=after, last=memledger.peak("cpu"), kept=kept.numel(),
        live=memledger.live("cpu"))


def early():
    """Counts from before PyTorch is there, and looks for it before importing it."""
    import importlib.util
    memledger.start("early.mled", force=True)
    importlib.util.find_spec("torch")
    import torch
    kept = torch.zeros(1000)
    say(live=memledger.live(), kept=kept.numel())


def profiler(csv):
    """An MLP of 4 MB, batches of 1,000."""
    import torch
    from memledger.pytorch_mem_profiler import memory_profiler
    model = mlp()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    watch = memory_profiler(model, print_period=2, csv=csv == "csv")
    for _ in range(2):
        for _ in range(2):
            batch = torch.randn(1000, 500)
            optimizer.zero_grad(set_to_none=True)
            loss = model(batch).sum()
            loss.backward()
            optimizer.step()
            watch.record_stats()
        watch.epoch_end()
    del batch, loss


def profiler_bytes():
    """The same numbers, unrounded, at other places of an iteration."""
    import torch
    model = mlp()
    watch = memledger.MemoryProfiler(model)
    found = []

    def record():
        measured = watch._measure()
        found.append([measured["feature maps"], measured["all gradients"],
                      measured["intermediate"]])
        with contextlib.redirect_stdout(io.StringIO()):
            watch.record_stats()

    with torch.no_grad():
        out = model(torch.randn(100, 500))
    record()  # the output alone is alive
    del out
    loss = model(torch.randn(100, 500)).sum()
    record()  # before backward
    loss.backward()
    record()
    del loss
    for parameter in model.parameters():
        parameter.grad = None
    record()  # nothing is left
    say(found=found, copies=copies(model, watch))


def copies(model, watch):
    """A model with a profiler can be copied and pickled; the profiler can go."""
    import copy
    import pickle
    import torch
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        twin(torch.zeros(1, 500)).sum().backward()
    del watch
    return len(memledger._memory_profiler._profilers)


def two_profilers():
    """Two models in one program: each knows its own gradients, neither takes them for
    intermediates."""
    import torch
    models = [torch.nn.Linear(1000, 1000, bias=False) for _ in range(2)]
    watches = [memledger.MemoryProfiler(model) for model in models]
    batch = torch.zeros(1, 1000)
    models[1](models[0](batch)).sum().backward()
    measured = [watch._measure() for watch in watches]
    gradient, = torch.autograd.grad(models[0](batch.requires_grad_()).sum(), batch,
                                    create_graph=True)
    later = watches[0]._measure()
    say(gradients=[m["all gradients"] for m in measured],
        intermediate=[m["intermediate"] for m in measured], later=later["intermediate"],
        size=gradient.numel())


def nothing_there():
    """No recorder to be found: nothing is harmed."""
    import warnings
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = [memledger.live(), memledger.peak(), memledger.live()]
    with memledger.scope("x"):
        memledger.step(3)

    @memledger.profile
    def function():
        return 5

    try:
        memledger.start()
        failed = ""
    except OSError as error:
        failed = str(error)
    say(found=found, said=[re.sub(r"\s+", " ", str(w.message)) for w in said], result=function(),
        failed=failed, stopped=memledger.stop())


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
