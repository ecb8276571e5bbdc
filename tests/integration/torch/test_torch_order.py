#!/usr/bin/env python3
# test_torch_order.py: blocks of PyTorch that go from thread to thread within nanoseconds. In the
# trace no block is freed before it was allocated, and no address is allocated while it is in use.
#
# SPDX-License-Identifier: Apache-2.0
import harness
from harness import check_order, program


def check_threads(name):
    for threads in (2, 4, 8):
        check_order(program(name), threads, 300000, events=threads * 300000)


def test_host():
    check_threads("torch/pass_host_tensors")


def test_cuda():
    check_threads("torch/pass_cuda_tensors")


def test_new_threads():
    """Each thread is numbered, and later ones take over the rings of earlier ones."""
    for _ in range(5):
        check_order(program("torch/pass_host_tensors"), 100, 300, events=30000)
        check_order(program("torch/pass_cuda_tensors"), 100, 300, events=30000)


harness.main(globals())
