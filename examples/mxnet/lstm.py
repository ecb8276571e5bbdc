#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An LSTM language model with MXNet's symbol and Module API (mxnet==1.9.1).

The text is synthetic: a rule determines most next words. The model learns it, so its perplexity
falls.
"""
import sys

import example_options  # the first: it chooses the engine before MXNet is loaded
import mxnet as mx
import numpy

SMALL = {"batch": 16, "length": 20, "vocabulary": 50, "hidden": 64, "layers": 2}
# The medium Penn Treebank model of the profilers' papers.
PAPER = {"batch": 20, "length": 35, "vocabulary": 10000, "hidden": 650, "layers": 2}


class Text:
    """Batches of words and of the words after them, [time, sentence]."""

    def __init__(self, options):
        self.options = options
        self.random = numpy.random.RandomState(options.seed)
        self.rule = self.random.permutation(options.vocabulary)

    def batch(self):
        o = self.options
        words = numpy.empty((o.length + 1, o.batch), dtype="float32")
        words[0] = self.random.randint(o.vocabulary, size=o.batch)
        for i in range(o.length):
            by_rule = self.rule[words[i].astype(int)]
            by_chance = self.random.randint(o.vocabulary, size=o.batch)
            words[i + 1] = numpy.where(self.random.rand(o.batch) < 0.9, by_rule, by_chance)
        return mx.io.DataBatch([mx.nd.array(words[:-1])], [mx.nd.array(words[1:])])


def symbol(o):
    data, label = mx.sym.Variable("data"), mx.sym.Variable("softmax_label")
    x = mx.sym.Embedding(data, input_dim=o.vocabulary, output_dim=o.hidden, name="embed")
    cell = mx.rnn.FusedRNNCell(o.hidden, num_layers=o.layers, mode="lstm", prefix="lstm_")
    x, _ = cell.unroll(o.length, x, layout="TNC", merge_outputs=True)
    x = mx.sym.Reshape(x, shape=(-1, o.hidden), name="rows")
    x = mx.sym.FullyConnected(x, num_hidden=o.vocabulary, name="decoder")
    label = mx.sym.Reshape(label, shape=(-1,), name="next_words")
    return mx.sym.SoftmaxOutput(x, label, name="softmax")


def build(o):
    """The Module, ready to be trained."""
    net = mx.mod.Module(symbol(o))
    net.bind(data_shapes=[("data", (o.length, o.batch))],
             label_shapes=[("softmax_label", (o.length, o.batch))])
    net.init_params(mx.init.Xavier())
    net.init_optimizer(optimizer="adam", optimizer_params={
        "learning_rate": 0.01, "rescale_grad": 1.0 / (o.batch * o.length)})
    return net


def train_step(net, batch):
    net.forward_backward(batch)
    net.update()


def perplexity(net, batch):
    metric = mx.metric.Perplexity(ignore_label=None)
    metric.update([mx.nd.reshape(batch.label[0], shape=(-1,))], net.get_outputs())
    return metric.get()[1]


def parse(arguments=None):
    return example_options.parse(__doc__.splitlines()[0], arguments, SMALL, PAPER, steps=100)


def main(o):
    if not hasattr(mx, "mod"):
        sys.exit(f"MXNet {mx.__version__} has no Module any more; this example needs mxnet==1.9.1")
    watch = example_options.start(o)
    text, net = Text(o), build(o)
    for step in range(o.steps):
        batch = text.batch()
        train_step(net, batch)
        watch.step(step, "perplexity", lambda: perplexity(net, batch))
    watch.end()


if __name__ == "__main__":
    main(parse())
