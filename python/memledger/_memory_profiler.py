"""MemoryProfiler: a report after each iteration of a training loop, as tbd-tools'
pytorch_mem_profiler prints it, from live blocks.

`memledger help python` explains what each row counts. Phases come from public hooks: the model's
forward, and torch.autograd.backward.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import functools
import os
import time
import weakref

from . import _late, _native

CSV_FOLDER = "./memory_csv_data/"
_STARS = "*" * 43
_COLUMNS = ("epoch", "iteration", "peak_cached", "current_cached", "total_feature_map_usage",
            "total_weight_usage")

_profilers = weakref.WeakSet()  # to notify of backward


def megabytes(count):
    """Rounded to megabytes of 1,000,000 bytes, half to even."""
    return round(count / 1000000)


# ---- Phases -----------------------------------------------------------------------


def _backward_begins():
    for profiler in list(_profilers):
        profiler._see_feature_maps()
    _native.log_begin()


def _backward_ends():
    """Called when it is known which blocks are gradients of parameters."""
    profilers = list(_profilers)
    gradients = [address for profiler in profilers for address in profiler._gradients()]
    devices = {number for profiler in profilers for number in profiler._devices}
    most = _native.log_end(sum(1 << number for number in devices), gradients)
    _native.rephase(gradients, _native.PHASE_NONE)
    if most is None:  # there were too many events
        most = sum(_native.live_bytes(number, _native.PHASE_BACKWARD) for number in devices)
    for profiler in profilers:
        profiler._intermediate = max(profiler._intermediate, most)


@contextlib.contextmanager
def _backward(phase_after):
    """`phase_after`: None restores the previous phase."""
    before = _native.set_phase(_native.PHASE_BACKWARD)
    if before == _native.PHASE_BACKWARD:  # inside another
        yield
        return
    _backward_begins()
    try:
        yield
    finally:
        _backward_ends()
        _native.set_phase(before if phase_after is None else phase_after)


def _in_backward(function, phase_after):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        with _backward(phase_after):
            return function(*args, **kwargs)

    wrapper._memledger_phase = True
    return wrapper


def _watch_backward(torch):
    """A loss's backward() ends forward; grad() may be part of forward."""
    for name, phase_after in (("backward", _native.PHASE_NONE), ("grad", None)):
        function = getattr(torch.autograd, name)
        if not getattr(function, "_memledger_phase", False):
            setattr(torch.autograd, name, _in_backward(function, phase_after))


def _addresses(tensors):
    return [block[0] for block in map(_late.block_of, tensors) if block]


def _tensors_in(things, torch, depth=3):
    """The tensors in a model's arguments, also in lists and dictionaries."""
    for thing in things:
        if isinstance(thing, torch.Tensor):
            yield thing
        elif isinstance(thing, (list, tuple)) and depth:
            yield from _tensors_in(thing, torch, depth - 1)
        elif isinstance(thing, dict) and depth:
            yield from _tensors_in(thing.values(), torch, depth - 1)


# ---- The profiler -----------------------------------------------------------------


class MemoryProfiler:
    """Reports the memory of a model's training, iteration by iteration.

    model         the torch.nn.Module that is trained
    print_period  report every so many iterations
    csv           write the same numbers to ./memory_csv_data/<date and time>.csv too"""

    def __init__(self, model, print_period=1, csv=False):
        if print_period < 1:
            raise ValueError(f"print_period is {print_period}; give 1 or more iterations")
        import torch
        self._torch = torch
        self.model = model
        self.print_period = int(print_period)
        self.csv = bool(csv)
        self.iteration = 0
        self.epoch = 1
        self.names = [name for name, _ in model.named_parameters()]
        _late.switch_on()
        _watch_backward(torch)
        self._devices = self._find_devices()
        self._feature_maps = self._intermediate = 0
        _watch_forward(model, self)
        _profilers.add(self)
        if self.csv:
            self._begin_csv()

    def _find_devices(self):
        """Numbers of the model's devices."""
        numbers = {_late.HOST if p.device.type == "cpu" else _late.device_number(p.device.index or 0)
                   for p in self.model.parameters() if p.device.type in ("cpu", "cuda")}
        return sorted(numbers) or [_late.HOST]

    # -- called by the hooks

    def _forward_begins(self, inputs):
        """The batch is not a feature map, even if it was allocated after the last forward."""
        _native.rephase(_addresses(_tensors_in(inputs, self._torch)), _native.PHASE_NONE)
        _native.set_phase(_native.PHASE_FORWARD)

    def _forward_ended(self, inputs):
        self._see_feature_maps()

    def _gradients(self):
        return _addresses(p.grad for p in self.model.parameters() if p.grad is not None)

    def _see_feature_maps(self):
        """Parameters and buffers that a lazy module creates in forward are not feature maps."""
        self._devices = self._find_devices()
        kept = [*self.model.parameters(), *self.model.buffers()]
        _native.rephase(_addresses(kept), _native.PHASE_NONE)
        self._feature_maps = max(self._feature_maps, self._bytes(_native.PHASE_FORWARD))

    def _bytes(self, phase=-1):
        return sum(_native.live_bytes(number, phase) for number in self._devices)

    # -- figures

    def _cached(self):
        """Peak and current bytes that the allocator holds from the system. The host's allocator
        has no cache, so only its blocks count."""
        cuda = [number - 1 for number in self._devices if number != _late.HOST]
        if not cuda:
            return _native.live_peak(_late.HOST), _native.live_bytes(_late.HOST)
        memory = self._torch.cuda
        return (sum(map(memory.max_memory_reserved, cuda)), sum(map(memory.memory_reserved, cuda)))

    def _sizes(self, tensor_of):
        """Bytes by parameter name, and in total. Tensors that share a block count their own
        bytes each; the total counts the block once."""
        blocks, users, sizes = {}, {}, {}
        parameters = dict(self.model.named_parameters())
        for name in self.names:
            tensor = tensor_of(parameters[name]) if name in parameters else None
            block = _late.block_of(tensor) if tensor is not None else None
            sizes[name] = block[1] if block else 0
            if block:
                blocks[block[0]] = block[1]
                users.setdefault(block[0], []).append((name, tensor))
        for sharing in users.values():
            for name, tensor in sharing if len(sharing) > 1 else ():
                sizes[name] = tensor.numel() * tensor.element_size()
        return sizes, sum(blocks.values())

    def _measure(self):
        self._see_feature_maps()
        peak, current = self._cached()
        weights, all_weights = self._sizes(lambda parameter: parameter)
        gradients, all_gradients = self._sizes(lambda parameter: parameter.grad)
        intermediate = max(self._intermediate, self._bytes(_native.PHASE_BACKWARD))
        return {"peak": peak, "current": current, "feature maps": self._feature_maps,
                "weights": weights, "all weights": all_weights, "gradients": gradients,
                "all gradients": all_gradients, "intermediate": intermediate}

    def record_stats(self):
        """Call it after every iteration."""
        self.iteration += 1
        if self.iteration % self.print_period == 0:
            found = self._measure()
            self._print(found)
            if self.csv:
                self._write_csv(found)
        self._feature_maps = self._intermediate = 0
        _native.set_phase(_native.PHASE_NONE)  # without a backward, forward ends here

    def epoch_end(self):
        """Call it after every epoch."""
        print(f"Epoch {self.epoch} finished")
        self.epoch += 1
        self.iteration = 0

    def _print(self, found):
        print("\n".join([
            "", _STARS,
            f"Memory Usage for Iteration {self.iteration} of Epoch {self.epoch}",
            _STARS,
            _row("Peak cached", found["peak"]),
            _row("Current cached", found["current"]),
            _row("Total feature map usage", found["feature maps"]),
            "",
            _row("Total layer weight usage", found["all weights"]),
            *(_row(name, found["weights"][name], indent=2) for name in self.names),
            "",
            _row("Total layer weight gradient usage", found["all gradients"]),
            *(_row(f"{name} grad", found["gradients"][name], indent=2) for name in self.names),
            _row("Intermediate gradients", found["intermediate"]),
        ]))

    # -- the CSV

    def _begin_csv(self):
        os.makedirs(CSV_FOLDER, exist_ok=True)
        self.fname = CSV_FOLDER + time.strftime("%Y%m%d%H%M%S") + ".csv"
        self._append([*_COLUMNS, *self.names, "total_layer_weight_gradient_usage",
                      *(f"{name}_grad" for name in self.names), "intermediate_gradients"], "w")
        print(f"Logging data in {self.fname}")

    def _write_csv(self, found):
        sizes = [found["peak"], found["current"], found["feature maps"], found["all weights"],
                 *(found["weights"][name] for name in self.names), found["all gradients"],
                 *(found["gradients"][name] for name in self.names), found["intermediate"]]
        self._append([self.epoch, self.iteration, *map(megabytes, sizes)], "a")

    def _append(self, fields, mode):
        with open(self.fname, mode, encoding="utf-8") as file:
            file.write(",".join(map(str, fields)) + "\n")


def _row(text, count, indent=0):
    return f"{' ' * indent}{text:.<{35 - indent}s}{megabytes(count):.>5d} MB"


class _ModelHook:
    """Notifies a profiler of a call of its model. The model holds no reference to the profiler
    and can be copied and pickled as before; calls of a copy are not reported."""

    def __init__(self, event, profiler=None):
        self.event = event
        self.profiler = weakref.ref(profiler) if profiler else lambda: None

    def __call__(self, module, args, *rest):
        profiler = self.profiler()
        if profiler is not None:
            getattr(profiler, self.event)([*args, *rest])

    def __reduce__(self):
        return _ModelHook, (self.event,)


def _watch_forward(model, profiler):
    before, after = _ModelHook("_forward_begins", profiler), _ModelHook("_forward_ended", profiler)
    try:
        model.register_forward_pre_hook(before, with_kwargs=True)
    except TypeError:  # PyTorch 1.13 does not pass keyword arguments to hooks
        model.register_forward_pre_hook(before)
    model.register_forward_hook(after)
