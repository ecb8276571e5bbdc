# holds_arrays.py: holds arrays of MXNet as standard input says, one line after the other, and
# answers each with the bytes that its arrays have. For test_mxnet_attach.py.
#
# SPDX-License-Identifier: Apache-2.0
import ctypes
import os
import sys

import mxnet as mx
import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from line_reader import Lines

held = {}
libc = ctypes.CDLL(None)
libc.malloc.restype = libc.memset.restype = libc.free.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]


def hold(floats):
    return mx.nd.zeros(int(floats))


def hold_numpy(floats):
    return mx.np.zeros(int(floats))


def hold_foreign(floats):
    """The memory is NumPy's."""
    return mx.nd.from_numpy(numpy.zeros(int(floats), numpy.float32), zero_copy=True)


def hold_grad(floats):
    """The gradient belongs to MXNet alone."""
    array = mx.nd.zeros(int(floats))
    array.attach_grad()
    return array


def hold_views(floats):
    array = mx.nd.zeros(int(floats))
    return [array, array[1:3], array.reshape((2, -1))]


def hold_sparse(rows):
    """Data and the numbers of its rows."""
    return mx.nd.sparse.row_sparse_array((mx.nd.ones((int(rows), 10)), list(range(int(rows)))),
                                         shape=(100, 10))


def hold_pending(floats):
    """The engine has yet to compute it, which takes a while."""
    slow = mx.nd.ones((1500, 1500))
    for _ in range(20):
        slow = mx.nd.dot(slow, slow) * 1e-4
    return [slow, slow.sum() + mx.nd.zeros(int(floats))]


def hold_training(units):
    net = mx.gluon.nn.Dense(int(units), in_units=100)
    net.initialize()
    trainer = mx.gluon.Trainer(net.collect_params(), "adam", kvstore=None)
    data = (mx.np if int(mx.__version__[0]) > 1 else mx.nd).ones((4, 100))
    with mx.autograd.record():
        loss = net(data).sum()
    loss.backward()
    trainer.step(4)
    mx.nd.waitall()
    return net, trainer


def hold_module(units):
    """MXNet 1's Module, with an optimizer."""
    data = mx.sym.var("data")
    net = mx.sym.FullyConnected(data, num_hidden=int(units), name="fc")
    module = mx.mod.Module(mx.sym.SoftmaxOutput(net, name="softmax"))
    module.bind([("data", (4, 100))], [("softmax_label", (4,))])
    module.init_params()
    module.init_optimizer(kvstore=None, optimizer="sgd",
                          optimizer_params={"momentum": 0.9, "learning_rate": 0.1})
    batch = mx.io.DataBatch([mx.nd.ones((4, 100))], [mx.nd.zeros(4)])
    module.forward_backward(batch)
    module.update()
    mx.nd.waitall()
    return module


class Dying(mx.nd.NDArray):
    """Its memory is free, and others write into it, while its __del__ still runs, until the next
    line."""

    def __del__(self):
        super().__del__()
        others = [libc.memset(libc.malloc(size), 0xff, size) for size in range(16, 1024, 8)]
        print(0, flush=True)
        lines.next()
        for other in others:
            libc.free(other)


def die(floats):
    array = hold(floats)
    dying = Dying(array.handle)
    array.handle = mx.base.NDArrayHandle()  # only one of the two may free it
    del dying


def own_bytes(thing):
    if isinstance(thing, (list, tuple)) and all(isinstance(t, mx.nd.NDArray) for t in thing):
        return 0  # counted by the test
    if not isinstance(thing, mx.nd.NDArray) or thing.stype != "default":
        return 0
    size = int(numpy.prod(thing.shape)) * numpy.dtype(thing.dtype).itemsize
    return size * (2 if thing.grad is not None else 1)


KINDS = {name[5:]: function for name, function in globals().items() if name.startswith("hold_")}
KINDS["plain"] = hold

lines = Lines()
while words := lines.next().split():
    if words[0] == "drop":
        del held[words[1]]
        mx.nd.waitall()
    elif words[0] in KINDS:
        held[words[1]] = KINDS[words[0]](words[2])
        if words[0] != "pending":
            mx.nd.waitall()
    elif words[0] == "die":
        die(words[1])
    elif words[0] == "wait":
        mx.nd.waitall()
    print(sum(own_bytes(thing) for thing in held.values()), flush=True)
