# half_installed.py FRAMEWORK [STEP]: imports a framework under `memledger run`, where that step
# of memledger's hooks fails, and reports which hooks are in the framework then.
#
# SPDX-License-Identifier: Apache-2.0
import importlib
import json
import os
import sys
import types

import memledger._native

OURS = os.path.dirname(os.path.abspath(memledger.__file__))


def fail(*_):
    raise RuntimeError("made to fail")


def is_ours(thing):
    """By its type first: to ask other things for an attribute may do something."""
    return (type(thing) is memledger._native.ScopedCall
            or type(thing) is types.FunctionType and thing.__code__.co_filename.startswith(OURS))


def found(framework):
    """Names of classes and modules that lead to functions of memledger's."""
    for name, module in list(sys.modules.items()):
        if name != framework and not name.startswith(framework + "."):
            continue
        for key, value in list(vars(module).items()):
            if is_ours(value):
                yield f"{name}.{key}"
            if isinstance(value, type):
                yield from (f"{name}.{key}.{k}" for k, v in list(vars(value).items()) if is_ours(v))


def train_torch(torch):
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.ones(4)).sum().backward()
    optimizer.step()


def train_mxnet(mxnet):
    model = mxnet.gluon.nn.Dense(4)
    model.initialize()
    trainer = mxnet.gluon.Trainer(model.collect_params(), "sgd")
    ones = mxnet.nd.ones if mxnet.__version__.startswith("1") else mxnet.np.ones
    with mxnet.autograd.record():
        loss = model(ones((1, 4)))
    loss.backward()
    trainer.step(1)
    loss.wait_to_read()


def main(framework, step=None):
    installer = importlib.import_module(f"memledger._{framework}")
    if step:
        setattr(installer, step, fail)
    module = importlib.import_module(framework)
    globals()[f"train_{framework}"](module)
    print(json.dumps(sorted(found(framework))))


main(*sys.argv[1:])
