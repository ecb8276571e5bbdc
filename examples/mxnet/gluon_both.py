# SPDX-License-Identifier: Apache-2.0
"""Gluon of MXNet 1.9.1 and 2.0: lets a block be written once for both."""
import mxnet as mx
import numpy

IS_2 = mx.__version__.startswith("2")


class Operators1:
    """The operators of 1.9.1, for arrays or symbols."""

    def __init__(self, F):
        self.relu = F.relu
        self.tanh = F.tanh
        self.softmax = F.softmax
        self.batch_dot = F.batch_dot
        self.concat = lambda *arrays: F.concat(*arrays, dim=-1)
        # SequenceLast would be shorter, but writes out of bounds when others add to the
        # same gradient.
        self.last_step = lambda x: F.reshape(F.slice_axis(x, axis=1, begin=-1, end=None),
                                             shape=(0, -1))
        self.expand = lambda x: F.expand_dims(x, axis=0)
        self.zeros_like = F.zeros_like


class Operators2:
    """The same for 2.0, whose arrays follow numpy."""

    if IS_2:
        relu = staticmethod(mx.npx.relu)
        tanh = staticmethod(mx.np.tanh)
        softmax = staticmethod(mx.npx.softmax)
        batch_dot = staticmethod(mx.npx.batch_dot)
        zeros_like = staticmethod(mx.np.zeros_like)

    @staticmethod
    def concat(*arrays):
        return mx.np.concatenate(arrays, axis=-1)

    @staticmethod
    def last_step(x):
        return x[:, -1]

    @staticmethod
    def expand(x):
        return mx.np.expand_dims(x, axis=0)


class Block(mx.gluon.HybridBlock):
    """Define compute(self, F, *inputs); F has the operators."""

    if IS_2:
        def forward(self, *inputs):
            return self.compute(Operators2, *inputs)
    else:
        def hybrid_forward(self, F, *inputs):
            return self.compute(Operators1(F), *inputs)


def array(values):
    """An MXNet array of floats."""
    make = mx.np.array if IS_2 else mx.nd.array
    return make(numpy.asarray(values, dtype="float32"))


def make(net, initializer, hybridize, optimizer, **parameters):
    """@return (network, its Trainer), ready for the first batch"""
    net.initialize(initializer)
    if hybridize:
        net.hybridize()
    return net, mx.gluon.Trainer(net.collect_params(), optimizer, parameters)


def train_step(net, trainer, loss_of, inputs, labels):
    """@return the loss of each row, which may not be computed yet"""
    with mx.autograd.record():
        loss = loss_of(net(*inputs), labels)
    loss.backward()
    trainer.step(len(labels))
    return loss
