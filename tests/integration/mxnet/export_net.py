# export_net.py: writes net-symbol.json and net-0000.params, a small network for mxnet_predict.c.
#
# SPDX-License-Identifier: Apache-2.0
import mxnet as mx
from mxnet.gluon import nn


class Net(mx.gluon.HybridBlock):
    """With two inputs, which export calls data0 and data1."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.body = nn.HybridSequential(prefix="")
            with self.body.name_scope():
                self.body.add(nn.Conv2D(32, 3, padding=1), nn.BatchNorm(), nn.Activation("relu"),
                              nn.MaxPool2D(), nn.Flatten(), nn.Dense(256, activation="relu"),
                              nn.Dense(10))

    def hybrid_forward(self, F, image, mask):
        return self.body(F.broadcast_mul(image, mask))


mx.random.seed(1)
net = Net(prefix="net_")
net.initialize(mx.init.Xavier())
net.hybridize()
net(mx.nd.ones((8, 3, 32, 32)), mx.nd.ones((8, 1, 32, 32)))
net.export("net")
