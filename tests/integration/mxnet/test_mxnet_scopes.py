#!/usr/bin/env python3
# test_mxnet_scopes.py: blocks allocated on a thread of MXNet's engine have the scopes of the
# requesting thread; those of backward, the scopes of their forward. The real wheels.
#
# The scopes are the program's own: names from Python are off. test_mxnet_names.py and
# test_mxnet_example_names.py have the two together.
#
# SPDX-License-Identifier: Apache-2.0
import functools
import os

import harness
from harness import balanced, check, equal, run
from mxnet_run import IS_2, NAIVE, events, python

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = os.path.join(HERE, "mxnet_scope_cases.py")
POOLED = {"MXNET_ENGINE_TYPE": "ThreadedEngine"}
BATCH, HIDDEN, CLASSES = 8, 40, 5  # as in mxnet_scope_cases.py


@functools.cache
def recorded(stacks="none", **env):
    """The program's trace."""
    result = run(python(), CASES, options=["-qf", "--names=off", "--stacks", stacks],
                 env=os.environ | env | {"PYTHONPATH": os.environ["PACKAGE_FOLDER"]})
    equal(result.code, 0, "exit code", result)
    check("memledger:" not in result.err, "the recorder has something to say", result)
    trace = result.dump(events=True)
    balanced(trace)
    equal(trace["lost"], 0, "lost events")
    return trace


def born(stacks="none", **env):
    """Of each block its size, its scopes and the frames of its stack."""
    return [(e["size"], e["scope"], e.get("stack", []))
            for e in events(recorded(stacks, **env), "alloc")]


def labels(**env):
    """(scopes, size) and the last label of each block that has one."""
    live, found = {}, []
    for e in events(recorded(**env), "alloc", "label"):
        if e["kind"] == "alloc":
            live[e["addr"]] = [(e["scope"], e["size"]), None]
            found.append(live[e["addr"]])
        else:
            live[e["addr"]][1] = e["label"]
    return [tuple(f) for f in found if f[1]]


def scopes(blocks, size):
    return [scope for bytes_, scope, _ in blocks if bytes_ == size]


def contains(blocks, size, *expected):
    found = scopes(blocks, size)
    for scope in expected:
        check(scope in found, f"no block of {size} bytes in {scope}", found)


def engines():
    for env in ({}, NAIVE, POOLED):
        yield born(**env)


def test_pushed():
    for blocks in engines():
        equal(scopes(blocks, 4004), ["outer > _ones"], "blocks")
        contains(blocks, 4, "outer > inner > dot")


def test_parts():
    """Each operator of those that run as one, each where it was asked for."""
    for blocks in engines():
        equal(scopes(blocks, 4008), ["bulk > _ones", "bulk > inner > _plus_scalar",
                                     "bulk > inner > tanh"], "blocks")
        equal(scopes(blocks, 4012), ["bulk > another > _ones", "bulk > another > _mul_scalar"],
              "blocks of another context")


def test_backward():
    """In each step in the scopes of that step."""
    for blocks in engines():
        for step in "01":
            contains(blocks, 4 * BATCH * HIDDEN, f"plain{step} > net > first > FullyConnected",
                     f"backward > plain{step} > net > second > _backward_FullyConnected",
                     f"backward > plain{step} > net > first > _backward_Activation")
            contains(blocks, 4, f"plain{step} > backward > SetValueOp")


def node(name, number):
    """1.9.1 names the nodes of a graph. In 2.0 they have the scopes that they were made
    in, inside of the one that they run in."""
    return name if IS_2 else f"dense{number}_{'relu_' if name == 'relu' else ''}fwd"


def test_graphs():
    for blocks in engines():
        for step in "01":
            contains(blocks, 4 * BATCH * CLASSES,
                     f"graph{step} > net > {node('second', 3)} > FullyConnected",
                     f"planned{step} > net > {node('second', 5)} > FullyConnected")
            contains(blocks, 4 * BATCH * HIDDEN,
                     f"graph{step} > net > {node('first', 2)} > FullyConnected",
                     f"backward > graph{step} > net > {node('second', 3)} > "
                     "_backward_FullyConnected")
        # Its memory is planned once.
        contains(blocks, 4 * BATCH * HIDDEN,
                 f"planned0 > net > {node('first', 4)} > FullyConnected",
                 f"backward > planned0 > net > {node('second', 5)} > _backward_FullyConnected")


def test_symbolic():
    if IS_2:
        return  # has no such executors
    for blocks in engines():
        contains(blocks, 4 * BATCH * HIDDEN, "symbolic > fc1 > FullyConnected")
        contains(blocks, 4 * BATCH * CLASSES, "symbolic > fc2 > FullyConnected",
                 "symbolic > backward > softmax > _backward_SoftmaxOutput")


def test_labels():
    """What the nodes of a graph write is known by them, from planned memory; what backward
    begins with; and what 1.9.1's operators borrow."""
    activation, hidden = 4 * BATCH * CLASSES, 4 * BATCH * HIDDEN
    for env in ({}, NAIVE):
        found = labels(**env)
        for where, size, what in expected_labels(activation, hidden, env):
            check(any(scope.startswith(where) and (bytes_, label.startswith(what)) == (size, True)
                      for (scope, bytes_), label in found), f"{what} in {where}", found)


def expected_labels(activation, hidden, env):
    if IS_2 or env != NAIVE:
        yield "plain0 > backward > SetValueOp", 4, "_head_grad_0"
    first, second = node("first", 4), node("second", 5)
    entry = "node_" if IS_2 else "dense"
    yield f"planned0 > net > {first} > FullyConnected", hidden, entry
    yield f"backward > planned0 > net > {second} > _backward_FullyConnected", hidden, entry
    if not IS_2:
        yield "symbolic > fc1 > FullyConnected", hidden, "fc1_oedge0"
        yield "symbolic > fc2 > FullyConnected", activation, "fc2_oedge0"
        yield "_random_uniform", 8, "temp_space"


def test_python_lines():
    """Of who asked, on whatever thread it was born."""
    with open(CASES) as f:
        line = 1 + f.read().splitlines().index(
            "            kept = mx.nd.dot(a, a)  # a line that the test looks for")
    stacks = [stack for size, scope, stack in born("python")
              if (size, scope) == (4, "outer > inner > dot")]
    equal(len(stacks), 1, "blocks")
    check(["one_by_one", CASES, line] in stacks[0], "the line is not in the stack", stacks)
    check(not any(stack for _, _, stack in born()), "stacks that nobody asked for")


harness.main(globals())
