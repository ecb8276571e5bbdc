# mxnet_scope_cases.py: a program that uses MXNet in every possible way, in its own scopes.
# Sizes are chosen so that each block can be identified.
#
# SPDX-License-Identifier: Apache-2.0
import mxnet as mx
from memledger import scope

IS_2 = mx.__version__.startswith("2")
BATCH, FEATURES, HIDDEN, CLASSES = 8, 20, 40, 5
if IS_2:
    mx.npx.set_np()
arrays = mx.np if IS_2 else mx.nd


def one_by_one():
    with scope("outer"):
        a = mx.nd.ones((1001,))
        with scope("inner"):
            kept = mx.nd.dot(a, a)  # a line that the test looks for
    mx.nd.waitall()
    return kept


def as_one():
    """Operators that the engine gathers, and runs when the scope is left."""
    with scope("bulk"), mx.engine.bulk(10):
        a = mx.nd.ones((1002,))
        with scope("inner"):
            kept = mx.nd.tanh(a + 1)
        with scope("another"):
            other = mx.nd.ones((1003,), ctx=mx.cpu(1)) * 2
    mx.nd.waitall()
    return kept, other


class Net(mx.gluon.HybridBlock):
    def __init__(self, **settings):
        super().__init__(**settings)
        self.first = mx.gluon.nn.Dense(HIDDEN, "relu", in_units=FEATURES)
        self.second = mx.gluon.nn.Dense(CLASSES, in_units=HIDDEN)

    def run(self, x):
        with scope("first"):
            x = self.first(x)
        with scope("second"):
            return self.second(x)

    if IS_2:
        forward = run
    else:
        def hybrid_forward(self, F, x):
            return self.run(x)


def train(name, **graph):
    """Two steps. A graph is made in the first. It has more than two operators: smaller ones
    MXNet takes apart again."""
    net = Net()
    net.initialize()
    if graph:
        net.hybridize(**graph)
    for step in range(2):
        with scope(f"{name}{step}"):
            with mx.autograd.record():
                with scope("net"):
                    result = net(arrays.ones((BATCH, FEATURES)))
                with scope("loss"):
                    loss = (result * result).sum()
            loss.backward()
    mx.nd.waitall()


def symbolic():
    x = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=HIDDEN, name="fc1")
    x = mx.sym.FullyConnected(x, num_hidden=CLASSES, name="fc2")
    with scope("bind"):
        net = mx.sym.SoftmaxOutput(x, name="softmax").simple_bind(
            mx.cpu(), data=(BATCH, FEATURES))
    with scope("symbolic"):
        net.forward(is_train=True)
        net.backward()
    mx.nd.waitall()


one_by_one()
as_one()
train("plain")
train("graph", active=True)
train("planned", static_alloc=True, static_shape=True)
if not IS_2:
    symbolic()
