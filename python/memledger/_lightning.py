"""Lightning's steps as calls of the module that they train.

A trainer does not call a LightningModule: it calls its training_step and the like, through its
strategy. With these wrapped, the batch is an input, and the memory of the step itself belongs to the
module.

SPDX-License-Identifier: Apache-2.0
"""
import sys

from . import _native, _torch
from ._in_front import all_or_nothing, put

# The package has two names.
STRATEGIES = ("lightning.pytorch.strategies.strategy", "pytorch_lightning.strategies.strategy")
STEPS = ("training_step", "validation_step", "test_step", "predict_step")


def install():
    """Called once Lightning's strategies have been imported, by either name."""
    for name in STRATEGIES:
        strategy = getattr(sys.modules.get(name), "Strategy", None)
        if strategy is not None and not isinstance(strategy.training_step, _native.ScopedCall):
            with all_or_nothing():
                for step in STEPS:
                    put(strategy, step, _native.scoped_lightning(getattr(strategy, step),
                                                                 _torch.name_tree))
