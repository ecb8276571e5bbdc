"""MemoryProfiler: a report after each iteration of a training loop, as tbd-tools'
pytorch_mem_profiler prints it, from live blocks.

`memledger help python` explains what each row counts. Phases come from public hooks: the model's
forward, and torch.autograd.backward.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import functools
import weakref

from . import _checkpoints, _late, _layer_maps, _native, _optimizer_state, _profiler_report

_ROOT = "(model)"  # the layer of blocks that the outermost module allocates itself

_profilers = weakref.WeakSet()  # to notify of backward


# ---- Phases -----------------------------------------------------------------------


def _backward_begins():
    for profiler in list(_profilers):
        profiler._see_feature_maps()
    _layer_maps.end()
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


def _recomputing_begins():
    if any(profiler._by_layer for profiler in list(_profilers)):
        _layer_maps.begin()


def _recomputing_ends():
    for profiler in list(_profilers):
        profiler._note_feature_maps()
    _layer_maps.end()


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
    csv           write the same numbers to ./memory_csv_data/<date and time>.csv too
    layers        report feature maps by layer too"""

    def __init__(self, model, print_period=1, csv=False, layers=False):
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
        self._by_layer = bool(layers)
        self._layer_names = [name for name, _ in model.named_modules()] if layers else []
        _late.switch_on()
        _watch_backward(torch)
        _checkpoints.watch(_recomputing_begins, _recomputing_ends)
        _optimizer_state.watch(torch)
        self._devices = self._find_devices()
        self._forget_iteration()
        _watch_forward(model, self)
        _profilers.add(self)
        if self.csv:
            self._begin_csv()

    def _forget_iteration(self):
        self._feature_maps = self._intermediate = 0
        self._layers = self._in_layers({}) if self._by_layer else {}

    def _find_devices(self):
        """Numbers of the model's devices."""
        numbers = {_late.HOST if p.device.type == "cpu" else _late.device_number(p.device.index or 0)
                   for p in self.model.parameters() if p.device.type in ("cpu", "cuda")}
        return sorted(numbers) or [_late.HOST]

    # -- called by the hooks

    def _forward_begins(self, inputs):
        """The batch is not a feature map, even if it was allocated after the last forward."""
        _native.rephase(_addresses(_tensors_in(inputs, self._torch)), _native.PHASE_NONE)
        before = _native.set_phase(_native.PHASE_FORWARD)
        self._recomputes = before == _native.PHASE_BACKWARD  # not by torch.utils.checkpoint
        if self._by_layer:
            _layer_maps.begin()

    def _part_begins(self, inputs):
        """A part of the model was called: forward has begun, even without a call of the model,
        as by torch.utils.checkpoint.checkpoint_sequential."""
        before = _native.set_phase(_native.PHASE_FORWARD)
        _native.set_phase(before)
        if before == _native.PHASE_NONE:
            self._forward_begins(inputs)

    def _forward_ended(self, inputs):
        self._see_feature_maps()
        if self._recomputes:
            _native.set_phase(_native.PHASE_BACKWARD)

    def _layer_begins(self, inputs, name):
        _layer_maps.enter((id(self), name))

    def _layer_ended(self, inputs, name):
        _layer_maps.leave((id(self), name))

    def _gradients(self):
        return _addresses(p.grad for p in self.model.parameters() if p.grad is not None)

    def _see_feature_maps(self):
        """Parameters and buffers that a lazy module creates in forward are not feature maps."""
        self._devices = self._find_devices()
        kept = [*self.model.parameters(), *self.model.buffers()]
        _native.rephase(_addresses(kept), _native.PHASE_NONE)
        self._note_feature_maps()

    def _note_feature_maps(self):
        live = self._bytes(_native.PHASE_FORWARD)
        if live <= self._feature_maps:
            return
        self._feature_maps = live
        if self._by_layer:
            self._layers = self._in_layers(_layer_maps.bytes_by_key(self._devices))

    def _in_layers(self, sums):
        """Sizes by the layers' names in the order of the model; then those of no layer."""
        sizes = {name or _ROOT: sums.get((id(self), name), 0) for name in self._layer_names}
        sizes[_layer_maps.OUTSIDE] = self._feature_maps - sum(sizes.values())
        return sizes

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

    def _sizes(self, tensors_of):
        """Bytes by parameter name, and in total. Tensors that share a block count their own
        bytes each; the total counts the block once."""
        blocks, users, sizes = {}, {}, dict.fromkeys(self.names, 0)
        parameters = dict(self.model.named_parameters())
        for name in self.names:
            for tensor in tensors_of(parameters[name]) if name in parameters else ():
                block = _late.block_of(tensor) if tensor is not None else None
                if block:
                    blocks[block[0]] = block[1]
                    users.setdefault(block[0], []).append((name, tensor))
        for address, sharing in users.items():
            for name, tensor in sharing:
                alone = len(sharing) == 1
                sizes[name] += (blocks[address] if alone
                                else tensor.numel() * tensor.element_size())
        return sizes, sum(blocks.values())

    def _measure(self):
        self._see_feature_maps()
        peak, current = self._cached()
        weights, all_weights = self._sizes(lambda parameter: [parameter])
        gradients, all_gradients = self._sizes(lambda parameter: [parameter.grad])
        states, all_states = self._sizes(
            lambda parameter: _optimizer_state.state_of(parameter, self._torch))
        intermediate = max(self._intermediate, self._bytes(_native.PHASE_BACKWARD))
        return {"peak": peak, "current": current, "feature maps": self._feature_maps,
                "layers": self._layers, "weights": weights, "all weights": all_weights,
                "gradients": gradients, "all gradients": all_gradients,
                "intermediate": intermediate, "states": states, "all states": all_states}

    def record_stats(self):
        """Call it after every iteration."""
        self.iteration += 1
        if self.iteration % self.print_period == 0:
            found = self._measure()
            print(_profiler_report.text(self.iteration, self.epoch, found))
            if self.csv:
                _profiler_report.append_csv(
                    self.fname, _profiler_report.fields(self.iteration, self.epoch, found))
        self._forget_iteration()
        _native.set_phase(_native.PHASE_NONE)  # without a backward, forward ends here

    def epoch_end(self):
        """Call it after every epoch."""
        print(f"Epoch {self.epoch} finished")
        self.epoch += 1
        self.iteration = 0

    def _begin_csv(self):
        self.fname = _profiler_report.new_csv()
        _profiler_report.append_csv(self.fname,
                                    _profiler_report.columns(self.names, self._layers))
        print(f"Logging data in {self.fname}")


class _ModelHook:
    """Notifies a profiler of a call of its model. The model holds no reference to the profiler
    and can be copied and pickled as before; calls of a copy are not reported."""

    def __init__(self, event, profiler=None, *details):
        self.event = event
        self.details = details
        self.profiler = weakref.ref(profiler) if profiler else lambda: None

    def __call__(self, module, args, *rest):
        profiler = self.profiler()
        if profiler is not None:
            getattr(profiler, self.event)([*args, *rest], *self.details)

    def __reduce__(self):
        return _ModelHook, (self.event,)


def _before_forward(module, hook):
    try:
        module.register_forward_pre_hook(hook, with_kwargs=True)
    except TypeError:  # PyTorch 1.13 does not pass keyword arguments to hooks
        module.register_forward_pre_hook(hook)


def _watch_forward(model, profiler):
    before, after = _ModelHook("_forward_begins", profiler), _ModelHook("_forward_ended", profiler)
    _before_forward(model, before)
    for part in model.children():
        _before_forward(part, _ModelHook("_part_begins", profiler))
    if profiler._by_layer:
        _watch_layers(model, profiler)
    model.register_forward_hook(after)


def _watch_layers(model, profiler):
    for name, module in model.named_modules():
        module.register_forward_pre_hook(_ModelHook("_layer_begins", profiler, name))
        module.register_forward_hook(_ModelHook("_layer_ended", profiler, name))
