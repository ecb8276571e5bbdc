#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A sequence-to-sequence model with attention in Gluon (mxnet 1.9.1 and 2.0.0b1).

An encoder reads a sentence, a decoder outputs it backwards and attends to the whole sentence at
each word. The sentences are synthetic.
"""
import example_options  # the first: it chooses the engine before MXNet is loaded
import mxnet as mx
import numpy

from gluon_both import Block, array, make, train_step

SMALL = {"batch": 16, "length": 10, "vocabulary": 40, "hidden": 64}
# Translation as in the papers' benchmarks: IWSLT 2015, its vocabulary and length.
PAPER = {"batch": 128, "length": 25, "vocabulary": 17188, "hidden": 512}


class Encoder(Block):
    def __init__(self, o):
        super().__init__()
        self.embed = mx.gluon.nn.Embedding(o.vocabulary, o.hidden)
        self.rnn = mx.gluon.rnn.LSTM(o.hidden, layout="NTC", input_size=o.hidden)

    def compute(self, F, words):
        return self.rnn(self.embed(words))


class Attention(Block):
    """Weights the encoder's outputs for each word of the decoder."""

    def compute(self, F, asked, memory):
        weights = F.softmax(F.batch_dot(asked, memory, transpose_b=True), axis=-1)
        return F.concat(asked, F.batch_dot(weights, memory))


class Decoder(Block):
    def __init__(self, o):
        super().__init__()
        self.first = mx.gluon.nn.Dense(o.hidden, in_units=o.hidden)
        self.embed = mx.gluon.nn.Embedding(o.vocabulary, o.hidden)
        self.rnn = mx.gluon.rnn.LSTM(o.hidden, layout="NTC", input_size=o.hidden)
        self.attention = Attention()
        self.mix = mx.gluon.nn.Dense(o.hidden, flatten=False, in_units=2 * o.hidden)
        self.logits = mx.gluon.nn.Dense(o.vocabulary, flatten=False, in_units=o.hidden)

    def compute(self, F, words, memory):
        state = F.expand(F.tanh(self.first(F.last_step(memory))))
        x, _ = self.rnn(self.embed(words), [state, F.zeros_like(state)])
        return self.logits(F.tanh(self.mix(self.attention(x, memory))))


class Seq2Seq(Block):
    def __init__(self, o):
        super().__init__()
        self.encoder = Encoder(o)
        self.decoder = Decoder(o)

    def compute(self, F, source, target):
        return self.decoder(target, self.encoder(source))


class Data:
    """Sentences, and the expected output of the decoder."""

    def __init__(self, o):
        self.options = o
        self.random = numpy.random.RandomState(o.seed)

    def batch(self):
        o = self.options
        source = self.random.randint(1, o.vocabulary, size=(o.batch, o.length))
        said = source[:, ::-1]
        before = numpy.concatenate([numpy.zeros((o.batch, 1)), said[:, :-1]], axis=1)
        return [array(source), array(before)], array(said)


def build(o):
    """@return (network, its Trainer, its loss)"""
    return (*make(Seq2Seq(o), mx.init.Uniform(0.1), o.hybridize, "adam", learning_rate=0.01),
            mx.gluon.loss.SoftmaxCrossEntropyLoss())


def parse(arguments=None):
    return example_options.parse(
        __doc__.splitlines()[0], arguments, SMALL, PAPER, steps=100, extra=[
            ("--hybridize", "run the model as one graph")])


def main(o):
    watch = example_options.start(o)
    data = Data(o)
    net, trainer, loss_of = build(o)
    for step in range(o.steps):
        loss = train_step(net, trainer, loss_of, *data.batch())
        watch.step(step, "loss", lambda: float(loss.asnumpy().mean()))
    watch.end()


if __name__ == "__main__":
    main(parse())
