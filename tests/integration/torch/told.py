# told.py: what a training program knows about its own memory, for comparison with the trace:
# storages of parameters, buffers, gradients and optimizer state, by name. It uses only PyTorch.
#
# SPDX-License-Identifier: Apache-2.0
import torch


def storage_bytes(tensor):
    """The size of its memory, in PyTorch 1.13 as in 2."""
    return getattr(tensor, "untyped_storage", tensor.storage)().nbytes()


def listed(pairs, device):
    """[name, bytes] of each storage on the device, once."""
    seen, rows = set(), []
    for name, tensor in pairs:
        place = getattr(tensor, "untyped_storage", tensor.storage)().data_ptr()
        if place and place not in seen and tensor.device == device:
            seen.add(place)
            rows.append([name, storage_bytes(tensor)])
    return rows


def in_one(pairs):
    """Gradients of one module that share a storage, as cuDNN makes those of an LSTM, have one name:
    `lstm.(weight_ih_l0 to bias_hh_l1)`."""
    groups = {}
    for name, tensor in pairs:
        place = getattr(tensor, "untyped_storage", tensor.storage)().data_ptr()
        groups.setdefault(place, []).append((name, tensor))
    for group in groups.values():
        name, tensor = group[0]
        module, dot, first = name.rpartition(".")
        last = group[-1][0].rpartition(".")[2]
        yield (name if len(group) == 1 else f"{module}{dot}({first} to {last})"), tensor


def states(model, optimizer):
    """Optimizer state as `parameter.slot`, that of LBFGS, which belongs to all parameters, as
    `LBFGS.slot`; lists of tensors have one name."""
    names = {p: n for n, p in model.named_parameters()}
    if isinstance(optimizer, torch.optim.LBFGS):
        names = dict.fromkeys(names, "LBFGS")
    for parameter, slots in optimizer.state.items():
        for slot, value in slots.items():
            for tensor in value if isinstance(value, list) else [value]:
                if isinstance(tensor, torch.Tensor):
                    yield f"{names[parameter]}.{slot}", tensor


def contents(model, *optimizers):
    """What must be labelled, by category, on the model's device."""
    device = next(model.parameters()).device
    parts = {
        "parameter": model.named_parameters(),
        "buffer": model.named_buffers(),
        "gradient": in_one((n, p.grad) for n, p in model.named_parameters()
                           if p.grad is not None),
        "optimizer_state": (pair for o in optimizers for pair in states(model, o)),
    }
    return {category: listed(pairs, device) for category, pairs in parts.items()}


def of_another(name, parts):
    """The contents of a model that is not the program's first: its name comes before."""
    return {category: [[f"{name}.{row}", size] for row, size in rows]
            for category, rows in parts.items()}


def together(*parts):
    """The contents of several models."""
    return {category: sum((p[category] for p in parts), []) for category in parts[0]}


class Calls:
    """Which modules are called, as hooks of PyTorch's own tell."""

    def __init__(self):
        self.called = set()
        hook = torch.nn.modules.module.register_module_forward_pre_hook
        hook(lambda module, _: self.called.add(module))

    def paths(self, roots):
        """Dotted paths under each root that was called; of the root its class, with
        a number from the second one of a class on."""
        found, classes = [], []
        for root in roots:
            name = type(root).__name__
            classes.append(name)
            if classes.count(name) > 1:
                name += f"#{classes.count(name)}"
            found += [path or name for path, module in root.named_modules()
                      if module in self.called]
        return sorted(set(found))
