"""Callbacks that put memledger.metrics() into the logs of a trainer.

    from memledger.callbacks import LightningCallback, HuggingFaceCallback

The classes are made on first use, so that neither library is imported for the other.

SPDX-License-Identifier: Apache-2.0
"""
from ._metrics import metrics

__all__ = ["HuggingFaceCallback", "LightningCallback"]


def _lightning():
    try:
        from lightning.pytorch import Callback
    except ImportError:
        from pytorch_lightning import Callback

    class LightningCallback(Callback):
        """Logs the metrics after a training batch: to all loggers of the trainer, as often as it
        logs anything, or every `every_n_steps` steps."""

        def __init__(self, every_n_steps=None, prefix="memledger/"):
            super().__init__()
            self.every_n_steps = every_n_steps
            self.prefix = prefix

        def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
            every = self.every_n_steps or trainer.log_every_n_steps or 1
            if not trainer.loggers or (batch_idx + 1) % every:
                return
            values = metrics(self.prefix)
            for logger in trainer.loggers if values else ():
                logger.log_metrics(values, step=trainer.global_step)

    return LightningCallback


def _hugging_face():
    from transformers import TrainerCallback

    class HuggingFaceCallback(TrainerCallback):
        """Adds the metrics to each log of a Trainer: to its history, to what it prints, and, with
        attach(), to W&B, TensorBoard and the others it reports to."""

        def __init__(self, prefix="memledger/"):
            self.prefix = prefix

        @classmethod
        def attach(cls, trainer, prefix="memledger/"):
            """Puts a callback before those that report, which therefore see its numbers.
            Callbacks given to the Trainer come after them."""
            callback = cls(prefix)
            trainer.callback_handler.callbacks.insert(0, callback)
            return callback

        def on_log(self, args, state, control, logs=None, **others):
            values = metrics(self.prefix)
            if logs is not None:
                logs.update(values)
            if state.log_history:
                state.log_history[-1].update(values)

    return HuggingFaceCallback


_MAKERS = {"LightningCallback": _lightning, "HuggingFaceCallback": _hugging_face}


def __getattr__(name):
    if name not in _MAKERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = made = _MAKERS[name]()
    return made
