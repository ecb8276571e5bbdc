"""peak() and live(): bytes of PyTorch's blocks in this process.

SPDX-License-Identifier: Apache-2.0
"""
import re
import warnings

from . import _late, _native

_warned = False


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


def peak(device=None, reset=False):
    """The most bytes live at one time since counting began or since the last reset."""
    if not is_counting():
        return 0
    number = number_of(device)
    bytes_ = _native.live_peak(number)
    if reset:
        _native.live_reset_peak(number)
    return bytes_
