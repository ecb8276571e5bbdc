"""peak() and live(): bytes of PyTorch's blocks in this process.

SPDX-License-Identifier: Apache-2.0
"""
import os
import re
import warnings

from . import _asking, _late, _native

_ANSWER_S = 5
_SPACE = "torch"  # of PyTorch's blocks in a trace

_warned = False
_earlier = {}  # by device: the peak of the time before counting began, unless it was reset


def number_of(device):
    """The recorder's number of a device as PyTorch names it: None, "cpu", "cuda:1", 1,
    a torch.device."""
    if device is None:
        return _default()
    found = re.fullmatch(r"(cpu)(?::[0-9]+)?|cuda|(?:cuda:)?([0-9]+)", str(device))
    if not found:
        raise ValueError(f"unknown device {device!r}: allowed are None, \"cpu\", \"cuda\", "
                         "\"cuda:N\" and N, the number of a CUDA device")
    if found[1]:
        return _late.HOST
    return _late.device_number(int(found[2])) if found[2] else _current_cuda()


def _current_cuda():
    torch = _late.torch_or_none()
    ready = torch and torch.cuda.is_initialized()
    return _late.device_number(torch.cuda.current_device() if ready else 0)


def _default():
    torch = _late.torch_or_none()
    return _current_cuda() if torch and torch.cuda.is_initialized() else _late.HOST


def name_of(number):
    """What reports call the device with that number of the recorder."""
    return "cpu" if number == _late.HOST else f"cuda:{number - _late.device_number(0)}"


def devices():
    """(name, number) of the host and, if PyTorch uses CUDA, of each CUDA device."""
    return [(name_of(number), number) for number in range(1 + _late.device_count())]


def is_counting():
    """Switches counting on; warns once if that fails."""
    global _warned
    try:
        _late.switch_on()
        return True
    except (OSError, MemoryError) as error:
        if not _warned:
            warnings.warn(f"memledger counts nothing: {error}", RuntimeWarning, stacklevel=3)
        _warned = True
        return False


def live(device=None):
    """Bytes of PyTorch's live blocks on `device`: by default the current CUDA device if CUDA is
    in use, else the host."""
    return _native.live_bytes(number_of(device)) if is_counting() else 0


def _host_peak_in_trace():
    """From the start of the recording until now."""
    path = _native.save_trace()
    state = _asking.ask_json("live", path, once=True, top=0, patience_s=_ANSWER_S)
    return max((space["peak_bytes"] for space in state["spaces"]
                if (space["pid"], space["device"], space["space"]) == (os.getpid(), "cpu", _SPACE)),
               default=0)


def _peak_before(number):
    """The peak of the time before counting began, if `memledger run` has recorded it: nothing in
    the process has counted then."""
    torch = _late.torch_or_none()
    if torch is None or _native.recording() != _native.RECORDED_FROM_START:
        return 0
    if number != _late.HOST:
        ordinal = number - _late.device_number(0)
        ready = torch.cuda.is_initialized() and ordinal < torch.cuda.device_count()
        return torch.cuda.max_memory_allocated(ordinal) if ready else 0
    try:
        return _host_peak_in_trace()
    except Exception as error:  # counting itself needs no trace
        warnings.warn(f"memledger.peak() counts from its first call on: {error}", RuntimeWarning,
                      stacklevel=3)
        return 0


def peak(device=None, reset=False):
    """The most bytes live at one time since the last reset, or since the start: of the recording
    under `memledger run`, else of the counting."""
    if not is_counting():
        return 0
    number = number_of(device)
    if number not in _earlier:
        _earlier[number] = _peak_before(number)
    bytes_ = max(_native.live_peak(number), _earlier[number])
    if reset:
        _earlier[number] = 0
        _native.live_reset_peak(number)
    return bytes_
