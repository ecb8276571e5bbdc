"""The place of a process of JAX in its job. jax.distributed.initialize gets it as arguments or finds it
out; the environment need not contain it.

SPDX-License-Identifier: Apache-2.0
"""
import sys

from . import _job_place


def install():
    """Called once jax._src.distributed has been imported."""
    def say(_, state, *__):
        _job_place.record(rank=int(state.process_id), world_size=int(state.num_processes))
    _job_place.after(sys.modules["jax._src.distributed"].State, "initialize", say)
