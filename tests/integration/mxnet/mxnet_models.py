# mxnet_models.py: programs that train MXNet models without memledger; the first argument
# selects one. Each reports in one line of JSON, its last, what it has: [kind, name, bytes] of
# each parameter, gradient, auxiliary state and state of the optimizer, by shapes and types
# alone.
#
# SPDX-License-Identifier: Apache-2.0
import ctypes
import json
import sys

import mxnet as mx
import numpy

IS_2 = mx.__version__.startswith("2")
STEPS = 3
BATCH = 16


def say(**what):
    print(json.dumps(what), flush=True)


def arrays():
    if IS_2:
        mx.npx.set_np()
        return mx.np
    return mx.nd


def random(shape):
    return mx.np.random.uniform(size=shape) if IS_2 else mx.nd.random.uniform(shape=shape)


def bytes_of(shape, dtype):
    return int(numpy.prod(shape)) * numpy.dtype(dtype).itemsize


def has_of(net, slots, state_dtype=None):
    """What a Gluon model has, and an optimizer that keeps so many slots."""
    has = []
    for path, parameter in net.collect_params().items():
        name = path if IS_2 else parameter.name
        size = bytes_of(parameter.shape, parameter.dtype)
        if not parameter._differentiable:
            has.append(["aux_state", name, size])
            continue
        has += [["in_arg", name, size], ["arg_grad", name, size]]
        states = bytes_of(parameter.shape, state_dtype or parameter.dtype)
        has += [[f"optimizer_state:{slot}", name, states] for slot in slots]
    return has


kept = []  # what lives as long as the program


def train(net, optimizer, options, data, loss_of):
    trainer = mx.gluon.Trainer(net.collect_params(), optimizer, options)
    kept.append((net, trainer))
    for _ in range(STEPS):
        with mx.autograd.record():
            loss = loss_of(net(data))
        loss.backward()
        trainer.step(BATCH)
    mx.nd.waitall()
    return float(loss.asnumpy().sum())


def cnn(hybrid=False):
    arrays()
    nn = mx.gluon.nn
    net = nn.HybridSequential()
    features = nn.HybridSequential()
    features.add(nn.Conv2D(8, 3), nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D())
    net.add(features, nn.Flatten(), nn.Dense(10))
    net.initialize()
    if hybrid:
        net.hybridize()
    loss_of = mx.gluon.loss.L2Loss()
    target = random((BATCH, 10))
    last = train(net, "adam", {}, random((BATCH, 3, 20, 20)), lambda out: loss_of(out, target))
    say(has=has_of(net, ["mean", "variance"]), last=last, scopes=["0.0", "0.1", "2"])


def cnn_hybrid():
    cnn(hybrid=True)


class Tagger(mx.gluon.Block):
    """Blocks by attributes."""

    def __init__(self):
        super().__init__()
        self.encoder = mx.gluon.rnn.LSTM(32, 2, input_size=16)
        self.decoder = mx.gluon.nn.Dense(5, in_units=32, flatten=False)

    def forward(self, words):
        return self.decoder(self.encoder(words))


def lstm():
    np = arrays()
    net = Tagger()
    net.initialize()
    last = train(net, "sgd", {"momentum": 0.9}, np.ones((7, BATCH, 16)),
                 lambda out: (out ** 2).sum())
    say(has=has_of(net, ["momentum"]), last=last, scopes=["encoder", "decoder"])


def half():
    """Half precision: the optimizer keeps a copy of each parameter."""
    np = arrays()
    net = mx.gluon.nn.Embedding(30, 20, dtype="float16")
    net.initialize()
    last = train(net, "sgd", {"momentum": 0.9, "multi_precision": True}, np.ones((BATCH,)),
                 lambda out: (out ** 2).sum())
    say(has=has_of(net, ["momentum", "weight32"], "float32"), last=last, scopes=["Embedding"])


OPTIMIZERS = {"sgd": ["momentum"], "nag": ["momentum"], "signum": ["momentum"], "adam": ["mean", "variance"],
              "nadam": ["mean", "variance"], "adamax": ["mean", "variance"],
              "rmsprop": ["n"], "adagrad": ["history"], "ftrl": ["z", "n"],
              "adadelta": ["accumulated_g", "accumulated_delta"], "ftml": ["d_0", "v_0", "z_0"]}


def optimizers():
    """One model for each; the sizes tell them apart."""
    np = arrays()
    has = []
    for size, (name, slots) in enumerate(OPTIMIZERS.items(), 50):
        net = mx.gluon.nn.Dense(size, in_units=30, use_bias=False)
        net.initialize()
        options = {"momentum": 0.9} if slots == ["momentum"] else {}
        train(net, name, options, np.ones((BATCH, 30)), lambda out: (out ** 2).sum())
        has += [[kind, None, n] for kind, _, n in has_of(net, slots)]
    say(has=has, scopes=[])


def module():
    """The symbol and Module API, which 2.0 has no more."""
    x = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=64, name="fc1")
    x = mx.sym.Activation(mx.sym.BatchNorm(x, name="bn"), act_type="relu", name="relu")
    x = mx.sym.FullyConnected(x, num_hidden=10, name="fc2")
    net = mx.mod.Module(mx.sym.SoftmaxOutput(x, name="softmax"))
    net.bind(data_shapes=[("data", (BATCH, 20))], label_shapes=[("softmax_label", (BATCH,))])
    net.init_params()
    net.init_optimizer(optimizer="sgd", optimizer_params={"momentum": 0.9})
    for _ in range(STEPS):
        data = mx.nd.random.uniform(shape=(BATCH, 20))
        net.forward_backward(mx.io.DataBatch([data], [mx.nd.zeros((BATCH,))]))
        net.update()
    mx.nd.waitall()
    arguments, states = net.get_params()
    has = []
    for name, array in arguments.items():
        size = bytes_of(array.shape, array.dtype)
        has += [["in_arg", name, size], ["arg_grad", name, size],
                ["optimizer_state:momentum", name, size]]
    has += [["aux_state", name, bytes_of(a.shape, a.dtype)] for name, a in states.items()]
    say(has=has, last=float(net.get_outputs()[0].asnumpy().sum()), scopes=["softmax"])


def nameless():
    """Arrays that nobody names, and what a key-value store keeps and adds up in."""
    a = mx.nd.ones((100, 50))  # line of _ones
    b = mx.nd.dot(a, a, transpose_b=True)
    store = mx.kv.create("local")
    store.init("w3", mx.nd.zeros((300, 10)))
    store.push("w3", [mx.nd.ones((300, 10)), mx.nd.ones((300, 10))])
    mx.nd.waitall()
    say(last=float(b.asnumpy().sum()))


def executor():
    """A symbol that is bound by hand."""
    y = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=12, name="fc")
    bind = y._simple_bind if IS_2 else y.simple_bind
    bound = bind(mx.cpu(), data=(BATCH, 9), grad_req="write")
    bound.arg_dict["fc_weight"][:] = 1
    for _ in range(STEPS):
        bound.forward(is_train=True, data=mx.nd.ones((BATCH, 9)))
        bound.backward(mx.nd.ones((BATCH, 12)))
    mx.nd.waitall()
    has = [[kind, name, size] for name, size in (("fc_weight", 12 * 9 * 4), ("fc_bias", 12 * 4))
           for kind in ("in_arg", "arg_grad")]
    say(has=has, last=float(bound.outputs[0].asnumpy().sum()), scopes=[])


def sparse():
    """An embedding whose gradient has only the rows that were used; 1.9.1 alone trains it."""
    net = mx.gluon.nn.Embedding(100, 8, sparse_grad=True)
    net.initialize()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {})
    for rows in ([1, 2], [3, 4, 5], [6]):
        with mx.autograd.record():
            loss = net(mx.nd.array(rows)).sum()
        loss.backward()
        trainer.step(1)
        mx.nd.waitall()
    say(last=float(loss.asscalar()))


def saved():
    """A key-value store updates the parameters, which are then written to a file."""
    arrays()
    net = mx.gluon.nn.Dense(7, in_units=11)
    net.initialize()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"momentum": 0.9},
                               kvstore=mx.kv.create("local"), update_on_kvstore=True)
    for _ in range(STEPS):
        with mx.autograd.record():
            loss = net(random((BATCH, 11))).sum()
        loss.backward()
        trainer.step(1)
    mx.nd.waitall()
    net.save_parameters("saved.params")
    say(has=has_of(net, ["momentum"]))


def iterator():
    """Arrays in memory, shuffled before each of two epochs."""
    batches = mx.io.NDArrayIter(numpy.ones((200, 30), "float32"), numpy.zeros(200, "float32"), 50,
                                shuffle=True)
    for _ in range(2):
        for batch in batches:
            batch.data[0].asnumpy()
        mx.nd.waitall()
        batches.reset()
    say(ends=True)


def symbols():
    """A block that is given symbols, which have handles as arrays do. Around them on the
    heap is what would be no good as a part of an array."""
    arrays()

    class Rectifier(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return F.relu(x)

    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    net = Rectifier()
    mx.nd.ones(3).wait_to_read()
    names = []
    for i in range(100):
        blocks = [ctypes.c_void_p(libc.malloc(24)) for _ in range(2000)]
        for block in blocks:
            (ctypes.c_uint64 * 3).from_address(block.value)[:] = [1, 1 << 63, 0]
        for block in blocks[::2]:
            libc.free(block)
        names.append(net(mx.sym.Variable(f"x{i}")).list_arguments()[0])
        for block in blocks[1::2]:
            libc.free(block)
    say(names=names)


def fails():
    """Exceptions in a block and in backward; a generator that records and is left alone."""
    np = arrays()

    class Broken(mx.gluon.Block):
        def forward(self, x):
            raise ValueError("broken")

    def records():
        with mx.autograd.record():
            yield 1
            yield 2

    net = mx.gluon.nn.Dense(3, in_units=4)
    net.initialize()
    for _ in range(2):
        try:
            with mx.autograd.record():
                net(np.ones((2, 4)))
                Broken()(np.ones((5,)))
        except ValueError:
            pass
    left = records()
    next(left)
    left.close()
    try:
        np.ones((3,)).backward()
    except mx.base.MXNetError:
        pass
    kept = np.ones((12345,))
    mx.nd.waitall()
    say(kept=kept.size * 4)


def strange():
    """A block is called with what is no array, though it has a handle."""
    class Strange:
        handle = ctypes.c_void_p(8)

    class Takes(mx.gluon.Block):
        def forward(self, x, what, more):
            return x + len(more)

    mx.nd.waitall()
    say(sum=float(Takes()(arrays().ones((2, 4)), Strange(), [Strange()]).sum().asnumpy()))


globals()[sys.argv[1]]()
