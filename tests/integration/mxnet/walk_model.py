#!/usr/bin/env python3
# walk_model.py: what a model of examples/mxnet must have in memory, from its shapes and types
# alone. It uses MXNet, never memledger: names in a trace are tested against it.
#
#     walk_model.py examples/mxnet/resnet.py --module --batch 4
#
# The options are those of the example. Prints one line of JSON: a list of
#     {"tag", "bytes", "category", "shape", "dtype"}
# The tag is in the words of the old profilers (`in_arg:`, `arg_grad:`, `aux_state:`,
# `optimizer_state:<slot>:<parameter>`). A parameter has the name that MXNet 1.9.1 gives it;
# with 2.0, where all of them are called `weight`, the path of its block.
#
# SPDX-License-Identifier: Apache-2.0
import importlib
import json
import os
import sys

# What an optimizer keeps for each parameter, by its class.
SLOTS = {
    "Adam": lambda optimizer: ["mean", "variance"],
    "SGD": lambda optimizer: ["momentum"] if optimizer.momentum else [],
}


class Array:
    """What a parameter is: enough to know the size of all that belongs to it."""

    def __init__(self, name, shape, dtype, is_learnt):
        self.name, self.is_learnt = name, is_learnt
        self.shape, self.dtype = [int(n) for n in shape], dtype

    def entry(self, prefix, category):
        import numpy

        dtype = numpy.dtype(self.dtype)
        count = 1
        for n in self.shape:
            count *= n
        return {"tag": f"{prefix}:{self.name}", "bytes": count * dtype.itemsize,
                "category": category, "shape": self.shape, "dtype": dtype.name}


def entries(arrays, slots):
    for array in arrays:
        if not array.is_learnt:
            yield array.entry("aux_state", "buffer")
            continue
        yield array.entry("in_arg", "parameter")
        yield array.entry("arg_grad", "gradient")
        for slot in slots:
            yield array.entry(f"optimizer_state:{slot}", "optimizer state")


def gluon_arrays(net):
    """The keys of what a model collects are names with 1.9.1, and paths with 2.0."""
    for name, parameter in net.collect_params().items():
        yield Array(name, parameter.shape, parameter.dtype, parameter.grad_req != "null")


def module_arrays(net):
    """Parameters have no type of their own before they are bound: float32, as in all of
    the examples. Auxiliary states are not learnt."""
    data = [d.name for d in [*net.data_shapes, *net.label_shapes]]
    given = {d.name: d.shape for d in [*net.data_shapes, *net.label_shapes]}
    shapes, _, aux_shapes = net.symbol.infer_shape(**given)
    for name, shape in zip(net.symbol.list_arguments(), shapes):
        if name not in data:
            yield Array(name, shape, "float32", True)
    for name, shape in zip(net.symbol.list_auxiliary_states(), aux_shapes):
        yield Array(name, shape, "float32", False)


def slots_of(optimizer):
    return SLOTS[type(optimizer).__name__](optimizer)


def walk(example, options):
    """@return the entries of what the example trains with these options"""
    if hasattr(example, "build_module") and options.module:
        net = example.build_module(options)
    else:
        net = example.build(options)
    if not isinstance(net, tuple):
        return list(entries(module_arrays(net), slots_of(net._optimizer)))
    net, trainer, _ = net
    inputs, _ = example.Data(options).batch()
    net(*inputs)  # some shapes are known only then
    return list(entries(gluon_arrays(net), slots_of(trainer._optimizer)))


def main():
    folder, file = os.path.split(os.path.abspath(sys.argv[1]))
    del sys.argv[1]
    sys.path.insert(0, folder)
    options_of_examples = importlib.import_module("example_options")
    example = importlib.import_module(file[:-len(".py")])
    options = example.parse()
    options_of_examples.start(options)
    print(json.dumps(walk(example, options)))


main()
