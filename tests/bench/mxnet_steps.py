#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training steps of examples/mxnet/lstm.py, as many as each line of the input says.

Takes the options of the example; --steps and --time have no effect.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "mxnet"))

import lstm  # noqa: E402, the first of what loads MXNet: it chooses the engine
from steps_on_call import on_call, timed  # noqa: E402

WARM_UP = 3


def main():
    options = lstm.parse()
    lstm.example_options.start(options)
    text, net = lstm.Text(options), lstm.build(options)

    def step():
        batch = text.batch()
        lstm.train_step(net, batch)
        lstm.perplexity(net, batch)
        lstm.mx.nd.waitall()

    timed(step, WARM_UP)
    on_call(step)


main()
