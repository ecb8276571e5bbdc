# logged_loops.py: training loops that log memledger.metrics(): by hand, with Lightning's trainer and
# with Hugging Face's. Prints the logged numbers as one line of JSON.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import signal
import sys
import time
import warnings

import memledger
import torch

STEPS = 4


def settled(wanted):
    """The metrics once everything so far is in the trace: the recorder writes it a moment later."""
    until = time.monotonic() + 100  # only ends what hangs
    values = memledger.metrics()
    while not wanted(values) and time.monotonic() < until:
        time.sleep(0.05)
        values = memledger.metrics()
    return values


def has_parameters(values):
    return values.get("memledger/category/parameter_bytes", 0) > 0


def is_trained(values, parameters):
    """Whether all that is left is what Adam keeps between two steps."""
    return (values.get("memledger/category/gradient_bytes") == parameters
            and values.get("memledger/cpu/live_bytes", 0) - 4 * parameters < 1024)


def by_hand():
    model = torch.nn.Linear(1000, 1000)
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(STEPS):
        optimizer.zero_grad()
        model(torch.randn(64, 1000)).sum().backward()
        optimizer.step()
    parameters = sum(p.numel() * p.element_size() for p in model.parameters())
    values = settled(lambda v: is_trained(v, parameters))
    return {"parameters": parameters, "values": values, "live": memledger.live("cpu"),
            "other_names": sorted(memledger.metrics("m."))}


def fast_steps():
    """Each step keeps a tensor and has a peak of its own; the metrics are asked for at once."""
    model = torch.nn.Linear(10, 10)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    kept, rows = [], []
    for step in range(12):
        kept.append(torch.empty(1 << 20, dtype=torch.uint8))
        torch.empty((1 << 22) + (step << 16), dtype=torch.uint8)
        optimizer.zero_grad()
        model(torch.randn(4, 10)).sum().backward()
        optimizer.step()
        values = memledger.metrics()
        rows.append([values.get(f"memledger/{name}") for name in ("process/live_bytes", "steps", "last_step_peak_bytes")])
    return {"rows": rows}


def forked():
    """A child asks for itself, and the parent's answers stay the parent's."""
    kept = torch.empty(1 << 20, dtype=torch.uint8)
    before = settled(lambda v: v.get("memledger/process/live_bytes", 0) >= kept.numel())
    child = os.fork()
    if child == 0:
        os._exit(0 if isinstance(memledger.metrics(), dict) else 1)
    after = memledger.metrics()
    return {"status": os.waitpid(child, 0)[1], "before": before["memledger/process/live_bytes"],
            "after": after["memledger/process/live_bytes"]}


def without_helper():
    """The process that answers is killed, in a program that a write to a closed pipe ends."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    kept = torch.empty(1 << 20, dtype=torch.uint8)
    wanted = lambda v: v.get("memledger/process/live_bytes", 0) >= kept.numel()
    before = settled(wanted)
    helper = memledger._metrics._follower.process
    helper.kill()
    helper.wait()
    missing = memledger.metrics()
    return {"before": before, "missing": missing, "after": settled(wanted)}


def slow_helper():
    """The process that answers is busy for a while, as it is with a long trace."""
    kept = torch.empty(1 << 20, dtype=torch.uint8)
    wanted = lambda v: v.get("memledger/process/live_bytes", 0) >= kept.numel()
    settled(wanted)
    helper = memledger._metrics._follower.process
    memledger._metrics._ANSWER_S = 0.2
    os.kill(helper.pid, signal.SIGSTOP)
    missing = [memledger.metrics() for _ in range(3)]
    os.kill(helper.pid, signal.SIGCONT)
    memledger._metrics._ANSWER_S = 5
    kept = torch.empty(1 << 21, dtype=torch.uint8)
    after = settled(wanted)
    return {"missing": missing, "live": after["memledger/process/live_bytes"],
            "kept": kept.numel(), "same": helper is memledger._metrics._follower.process}


def hung_helper():
    """The process that answers stops for good."""
    kept = torch.empty(1 << 20, dtype=torch.uint8)
    wanted = lambda v: v.get("memledger/process/live_bytes", 0) >= kept.numel()
    settled(wanted)
    helper = memledger._metrics._follower.process
    memledger._metrics._ANSWER_S = memledger._metrics._HUNG_S = 0.5
    os.kill(helper.pid, signal.SIGSTOP)
    missing = memledger.metrics()
    memledger._metrics._ANSWER_S = memledger._metrics._HUNG_S = 5
    after = settled(wanted)
    return {"missing": missing, "live": after.get("memledger/process/live_bytes"),
            "kept": kept.numel(), "same": helper is memledger._metrics._follower.process,
            "ended": helper.poll() is not None}


def started():
    """Without `memledger run`: numbers while start() records, none before and after."""
    before = memledger.metrics()
    memledger.start("own.mled", force=True)
    meanwhile = by_hand()
    memledger.stop()
    return {"before": before, "after": memledger.metrics(), **meanwhile}


def lightning():
    import lightning as L
    from lightning.pytorch.loggers.logger import Logger
    from memledger.callbacks import LightningCallback
    from torch.utils.data import DataLoader, TensorDataset

    class Classifier(L.LightningModule):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.Sequential(torch.nn.Linear(64, 512), torch.nn.ReLU(),
                                              torch.nn.Linear(512, 10))

        def training_step(self, batch, batch_idx):
            if batch_idx == STEPS - 1:
                settled(has_parameters)
            return torch.nn.functional.cross_entropy(self.layers(batch[0]), batch[1])

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters(), lr=1e-3)

        def _register_sharded_tensor_state_dict_hooks_if_available(self):
            """Imports a part of PyTorch 1.13 that does not work with Python 3.11."""

    class Kept(Logger):
        name, version, rows = "kept", 0, []

        def log_metrics(self, metrics, step=None):
            self.rows.append({"step": step, **metrics})

        def log_hyperparams(self, *_, **__):
            pass

    logger = Kept()
    data = TensorDataset(torch.randn(512, 64), torch.randint(0, 10, (512,)))
    trainer = L.Trainer(accelerator="cpu", max_epochs=1, logger=logger, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False,
                        callbacks=[LightningCallback(every_n_steps=2)])
    trainer.fit(Classifier(), DataLoader(data, batch_size=128))
    return {"rows": [row for row in logger.rows if "memledger/steps" in row]}


def hugging_face():
    from memledger.callbacks import HuggingFaceCallback
    from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments

    class Reporter(TrainerCallback):
        """As those of W&B and TensorBoard: it sees the logs, in its place among the callbacks."""
        rows = []

        def on_step_end(self, *_, **__):
            settled(has_parameters)

        def on_log(self, args, state, control, logs=None, **_):
            self.rows.append(dict(logs))

    tokens = torch.arange(32) % 50
    model = GPT2LMHeadModel(GPT2Config(vocab_size=50, n_positions=32, n_embd=32, n_layer=1, n_head=2))
    trainer = Trainer(
        model=model, train_dataset=[{"input_ids": tokens, "labels": tokens}] * 2 * STEPS,
        args=TrainingArguments("out", per_device_train_batch_size=2, logging_steps=1, report_to=[],
                               save_strategy="no", disable_tqdm=True, use_cpu=True),
        callbacks=[Reporter()])
    HuggingFaceCallback.attach(trainer)
    trainer.train()
    return {"rows": [row for row in Reporter.rows if "memledger/steps" in row],
            "history": [row for row in trainer.state.log_history if "memledger/steps" in row]}


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    print(json.dumps(globals()[sys.argv[1]]()))
