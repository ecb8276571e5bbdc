"""The place of a process of JAX, which gets its number as an argument of jax.distributed.initialize or
finds it there itself; no variable of the environment need have it.

SPDX-License-Identifier: Apache-2.0
"""
import sys

from . import _job_place


def install():
    """Called once jax._src.distributed has been imported."""
    def say(_, state, *__):
        _job_place.record(rank=int(state.process_id), world_size=int(state.num_processes))
    _job_place.after(sys.modules["jax._src.distributed"].State, "initialize", say)
