# trains_on.py: trains with MXNet until standard input ends. For each line it stops between two
# steps, says how many bytes its parameters, their gradients and the state of its optimizer have, and
# goes on at the next line. For test_mxnet_attach.py.
#
# SPDX-License-Identifier: Apache-2.0
import os
import sys

import mxnet as mx

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from line_reader import Lines

ADAM = 2  # arrays for each parameter
arrays = mx.np if mx.__version__.startswith("2") else mx.nd
net = mx.gluon.nn.HybridSequential()
net.add(mx.gluon.nn.Dense(256, activation="relu", in_units=128),
        mx.gluon.nn.Dense(64, in_units=256))
net.initialize()
net.hybridize()
trainer = mx.gluon.Trainer(net.collect_params(), "adam", kvstore=None)


def step():
    with mx.autograd.record():
        loss = (net(arrays.ones((64, 128))) ** 2).mean()
    loss.backward()
    trainer.step(64)


def main():
    lines = Lines()
    while True:
        for _ in range(4):
            step()
        mx.nd.waitall()
        line = lines.poll()
        if line:
            floats = sum(int(p.data().size) for p in net.collect_params().values())
            print(4 * floats * (2 + ADAM), flush=True)
        if line == "" or line and not lines.next():
            return


main()
