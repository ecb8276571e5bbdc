# rnn_steps.py: ten training steps of an LSTM with Gluon, each marked. MXNet 2.0.0b1.
#
# SPDX-License-Identifier: Apache-2.0
import memledger
import mxnet as mx

net = mx.gluon.rnn.LSTM(16, input_size=8, layout="NTC")
net.initialize()
trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
x = mx.np.ones((2, 5, 8))
for number in range(10):
    memledger.step(number)
    with mx.autograd.record():
        loss = (net(x) ** 2).sum()
    loss.backward()
    trainer.step(1)
    mx.npx.waitall()
memledger.step(10)
