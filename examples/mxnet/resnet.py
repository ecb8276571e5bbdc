#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A residual network in Gluon (mxnet 1.9.1 and 2.0.0b1), or with Module (1.9.1).

Small by default; --paper is ResNet-50. The images are synthetic: each class has one image, and
its samples add noise to it.
"""
import sys

import example_options  # the first: it chooses the engine before MXNet is loaded
import mxnet as mx
import numpy

from gluon_both import IS_2, Block, array, make, train_step

SMALL = {"batch": 8, "size": 24, "classes": 10, "width": 8}
PAPER = {"batch": 32, "size": 224, "classes": 1000, "width": 64}

nn = mx.gluon.nn


def sequence(*blocks):
    together = nn.HybridSequential()
    together.add(*blocks)
    return together


def convolution(channels, kernel, stride=1):
    """A convolution with its normalization."""
    return sequence(nn.Conv2D(channels, kernel, stride, kernel // 2, use_bias=False),
                    nn.BatchNorm())


class Residual(Block):
    """A residual unit: a few convolutions added to their input; bottleneck: ResNet-50's
    three."""

    def __init__(self, channels, stride, is_wider, bottleneck):
        super().__init__()
        out = 4 * channels if bottleneck else channels
        relu = lambda: nn.Activation("relu")
        self.body = sequence(convolution(channels, 1), relu(), convolution(channels, 3, stride),
                             relu(), convolution(out, 1)) if bottleneck else \
            sequence(convolution(channels, 3, stride), relu(), convolution(out, 3))
        self.shortcut = convolution(out, 1, stride) if is_wider else None

    def compute(self, F, x):
        kept = self.shortcut(x) if self.shortcut else x
        return F.relu(self.body(x) + kept)


def stage(number, blocks, width, bottleneck):
    channels = width << number
    first = Residual(channels, 2 if number else 1, bool(number) or bottleneck, bottleneck)
    return sequence(first, *(Residual(channels, 1, False, bottleneck) for _ in range(blocks - 1)))


class ResNet(Block):
    def __init__(self, o):
        super().__init__()
        blocks = [3, 4, 6, 3] if o.paper else [1, 1, 1]
        self.stem = sequence(convolution(o.width, 7, 2), nn.Activation("relu"),
                             nn.MaxPool2D(3, 2, 1)) if o.paper else \
            sequence(convolution(o.width, 3), nn.Activation("relu"))
        self.stages = sequence(*(stage(i, n, o.width, o.paper) for i, n in enumerate(blocks)))
        self.pool = nn.GlobalAvgPool2D()
        self.output = nn.Dense(o.classes)

    def compute(self, F, x):
        return self.output(self.pool(self.stages(self.stem(x))))


class Data:
    """Images, and the class of each."""

    def __init__(self, o):
        self.options = o
        self.random = numpy.random.RandomState(o.seed)
        self.of_class = self.random.rand(o.classes, 3, o.size, o.size).astype("float32")

    def batch(self):
        labels = self.random.randint(self.options.classes, size=self.options.batch)
        images = self.of_class[labels]
        noise = self.random.rand(*images.shape).astype("float32")
        return [array(images + noise)], array(labels)


SGD = {"learning_rate": 0.05, "momentum": 0.9}


def build(o):
    """@return (network, its Trainer, its loss)"""
    return (*make(ResNet(o), mx.init.Xavier(), o.hybridize, "sgd", **SGD),
            mx.gluon.loss.SoftmaxCrossEntropyLoss())


def build_module(o):
    """The same network as a symbol, bound and ready to be trained."""
    symbol = mx.sym.SoftmaxOutput(ResNet(o)(mx.sym.Variable("data")), name="softmax")
    net = mx.mod.Module(symbol)
    net.bind(data_shapes=[("data", (o.batch, 3, o.size, o.size))],
             label_shapes=[("softmax_label", (o.batch,))])
    net.init_params(mx.init.Xavier())
    net.init_optimizer(optimizer="sgd", optimizer_params=dict(SGD, rescale_grad=1.0 / o.batch))
    return net


def module_loss(net, labels):
    right = mx.nd.pick(net.get_outputs()[0], labels)
    return float(-mx.nd.log(right + 1e-12).mean().asscalar())


def train_module(o, watch, data):
    net = build_module(o)
    for step in range(o.steps):
        images, labels = data.batch()
        net.forward_backward(mx.io.DataBatch(images, [labels]))
        net.update()
        watch.step(step, "loss", lambda: module_loss(net, labels))


def train_gluon(o, watch, data):
    net, trainer, loss_of = build(o)
    for step in range(o.steps):
        loss = train_step(net, trainer, loss_of, *data.batch())
        watch.step(step, "loss", lambda: float(loss.asnumpy().mean()))


def parse(arguments=None):
    return example_options.parse(
        __doc__.splitlines()[0], arguments, SMALL, PAPER, steps=40, extra=[
            ("--hybridize", "run the model as one graph"),
            ("--module", "use the Module API in place of a Trainer (1.9.1)")])


def main(o):
    if o.module and IS_2:
        sys.exit(f"MXNet {mx.__version__} has no Module any more; leave --module out, or use "
                 "mxnet==1.9.1")
    watch = example_options.start(o)
    (train_module if o.module else train_gluon)(o, watch, Data(o))
    watch.end()


if __name__ == "__main__":
    main(parse())
