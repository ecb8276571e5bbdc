"""Replacements for MXNet's own modules: `from memledger.mxnet import profiler`.

Needs no MXNet.

SPDX-License-Identifier: Apache-2.0
"""
