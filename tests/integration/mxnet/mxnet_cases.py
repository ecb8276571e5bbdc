# mxnet_cases.py: programs that use MXNet without memledger; the first argument selects one.
# Each reports what it saw in one line of JSON, its last.
#
# SPDX-License-Identifier: Apache-2.0
import ctypes
import json
import multiprocessing
import os
import sys

import mxnet as mx
import numpy

IS_2 = mx.__version__.startswith("2")
STEPS = 3
BATCH, FEATURES, CLASSES = 8, 20, 5
# A block of a size that nobody else asks for, alone in what the engine has to do: it
# marks the end of a step in the trace and in the counter of MXNet's profiler alike.
PROBE_BYTES = 7000001


def say(**what):
    print(json.dumps(what), flush=True)


def start_profiler():
    """MXNet's own, before the first array: it counts what is born while it runs."""
    mx.profiler.set_config(profile_memory=True, profile_symbolic=False, profile_imperative=False,
                           profile_api=False, filename="profile.json", continuous_dump=True)
    mx.profiler.set_state("run")


def end_of_step(step):
    mx.nd.waitall()
    probe = mx.nd.zeros((PROBE_BYTES + step,), dtype="uint8")
    mx.nd.waitall()
    del probe
    mx.nd.waitall()


def counted():
    """Ends the profiler: the values of its counter of the host's memory, in order."""
    mx.profiler.set_state("stop")
    mx.profiler.dump(finished=True)
    with open("profile.json") as f:
        events = json.load(f)["traceEvents"]
    values = [(e["ts"], e["args"][e["name"]]) for e in events if e.get("name") == "Memory: cpu/0"]
    return [value for _, value in sorted(values, key=lambda v: v[0])]


def at_probes(values):
    """The counter right after each probe was born."""
    sizes = [PROBE_BYTES + step for step in range(STEPS)]
    return [b for a, b in zip(values, values[1:]) if b - a in sizes]


def random_batch():
    if IS_2:
        return (mx.np.random.uniform(size=(BATCH, FEATURES)),
                mx.np.random.uniform(size=(BATCH, CLASSES)))
    return (mx.nd.random.uniform(shape=(BATCH, FEATURES)),
            mx.nd.random.uniform(shape=(BATCH, CLASSES)))


def gluon(hybrid=False):
    start_profiler()
    if IS_2:
        mx.npx.set_np()
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(32, activation="relu"), mx.gluon.nn.BatchNorm(),
            mx.gluon.nn.Dense(CLASSES))
    net.initialize()
    if hybrid:
        net.hybridize()
    trainer = mx.gluon.Trainer(net.collect_params(), "adam")
    loss_of = mx.gluon.loss.L2Loss()
    for step in range(STEPS):
        data, label = random_batch()
        with mx.autograd.record():
            loss = loss_of(net(data), label)
        loss.backward()
        trainer.step(BATCH)
        end_of_step(step)
    say(at_probes=at_probes(counted()), last=float(loss.asnumpy().mean()))


def gluon_hybrid():
    gluon(hybrid=True)


def lstm():
    """An operator with a state of its own, which has blocks that are no arrays."""
    start_profiler()
    if IS_2:
        mx.npx.set_np()
    net = mx.gluon.rnn.LSTM(16, 2, input_size=8)
    net.initialize()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"momentum": 0.9})
    data = (mx.np if IS_2 else mx.nd).ones((5, BATCH, 8))
    for step in range(STEPS):
        with mx.autograd.record():
            loss = (net(data) ** 2).sum()
        loss.backward()
        trainer.step(BATCH)
        end_of_step(step)
    say(at_probes=at_probes(counted()))


def module():
    """The symbol and Module API, which 2.0 has no more."""
    start_profiler()
    x = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=32, name="fc1")
    x = mx.sym.Activation(mx.sym.BatchNorm(x, name="bn"), act_type="relu", name="relu")
    x = mx.sym.FullyConnected(x, num_hidden=CLASSES, name="fc2")
    net = mx.mod.Module(mx.sym.SoftmaxOutput(x, name="softmax"))
    net.bind(data_shapes=[("data", (BATCH, FEATURES))],
             label_shapes=[("softmax_label", (BATCH,))])
    net.init_params()
    net.init_optimizer(optimizer="adam")
    for step in range(STEPS):
        data = mx.nd.random.uniform(shape=(BATCH, FEATURES))
        batch = mx.io.DataBatch([data], [mx.nd.zeros((BATCH,))])
        net.forward_backward(batch)
        net.update()
        end_of_step(step)
    say(at_probes=at_probes(counted()))


def operators():
    a = mx.nd.ones((1000,))
    b = mx.nd.dot(a, a)
    mx.nd.waitall()
    say(product=float(b.asscalar()))


def contexts():
    """One block in each kind of memory of the host; emptying a cache gives none back."""
    kinds = [mx.cpu(0), mx.cpu(1), mx.cpu_pinned(), mx.Context("cpu_shared", 0)]
    kept = [mx.nd.ones((100 + i,), ctx=kind) for i, kind in enumerate(kinds)]
    mx.nd.waitall()
    mx.cpu(0).empty_cache()
    say(bytes=[a.size * 4 for a in kept])
    os._exit(0)


def pooled():
    """A block that is given back, one that takes its place, and the pool emptied."""
    small, large = mx.nd.ones((1000,)), mx.nd.ones((100000,))
    mx.nd.waitall()
    del small
    mx.nd.waitall()
    again = mx.nd.ones((900,))
    mx.nd.waitall()
    del again, large
    mx.nd.waitall()
    mx.cpu(0).empty_cache()
    say()
    os._exit(0)


def profiled():
    """MXNet's profiler, of all that the program asks MXNet for."""
    mx.profiler.set_config(profile_all=True, filename="profile.json")
    mx.profiler.set_state("run")
    mx.nd.ones((10,)).sum().wait_to_read()
    mx.profiler.set_state("stop")
    mx.profiler.dump(finished=True)
    with open("profile.json") as f:
        events = json.load(f)["traceEvents"]
    say(calls=[e["name"] for e in events if e.get("cat") == "MXNET_C_API" and e["ph"] == "b"])


def too_large():
    """1 PiB, of the thread that asks and of one of the engine's."""
    handle = ctypes.c_void_p()
    shape = (ctypes.c_uint * 2)(1 << 24, 1 << 24)
    last = [0, ctypes.byref(handle)] if IS_2 else [ctypes.byref(handle)]
    code = ctypes.CDLL(mx.base._LIB._name).MXNDArrayCreate(shape, 2, 1, 0, 0, *last)
    error = mx.base._LIB.MXGetLastError
    error.restype = ctypes.c_char_p
    said = [code, error().decode()]
    row, column = mx.nd.ones((1, 1 << 24)), mx.nd.ones((1 << 24, 1))
    try:
        mx.nd.broadcast_add(row, column).wait_to_read()
    except mx.base.MXNetError as e:
        said.append(str(e))
    say(said=said, sum=float(mx.nd.ones((10,)).sum().asscalar()))


def ends_at_once():
    kept = mx.nd.ones((1 << 20,))
    mx.nd.waitall()
    say(kept=kept.size * 4)
    os._exit(3)


def trained():
    """Two steps, seen from autograd and from the storage."""
    if IS_2:
        mx.npx.set_np()
    net = mx.gluon.nn.Dense(3, in_units=4)
    net.initialize(mx.init.One())
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5})
    data = (mx.np if IS_2 else mx.nd).ones((2, 4))
    for _ in range(2):
        with mx.autograd.record():
            loss = net(data).sum()
        loss.backward()
        trainer.step(1)
    say(loss=float(loss.asnumpy().sum()))


PARENT, BOTH_WORKERS = os.getpid(), multiprocessing.Barrier(2)


class Numbers(mx.gluon.data.Dataset):
    """Each worker hands something over: one waits in its first batch until the other has one."""

    has_waited = False

    def __len__(self):
        return 32

    def __getitem__(self, i):
        if os.getpid() != PARENT and not Numbers.has_waited:
            Numbers.has_waited = True
            BOTH_WORKERS.wait()
        return numpy.full((16, 16), i, dtype="float32")


def workers():
    """Forked processes that hand arrays over in shared memory."""
    total = 0
    loader = mx.gluon.data.DataLoader(Numbers(), batch_size=4, num_workers=2)
    for batch in loader:
        total += float(batch.asnumpy().sum())
    del batch, loader
    mx.nd.waitall()
    say(total=total)


globals()[sys.argv[1]]()
