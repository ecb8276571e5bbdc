"""peak() and live(): bytes of PyTorch's blocks in this process.

SPDX-License-Identifier: Apache-2.0
"""
import warnings

from . import _late, _native

_warned = False


def number_of(device):
    """The recorder's number of a device as PyTorch names it: None, "cpu", "cuda:1", 1,
    a torch.device."""
    if device is None:
        return _default()
    if isinstance(device, int):
        return _late.device_number(device)
    kind, _, index = str(device).partition(":")
    if kind == "cpu":
        return _late.HOST
    if kind == "cuda":
        return _late.device_number(int(index)) if index else _current_cuda()
    raise ValueError(f"unknown device {device!r}: allowed are None, \"cpu\", \"cuda\", \"cuda:N\" "
                     "and N, the number of a CUDA device")


def _current_cuda():
    torch = _late.torch_or_none()
    ready = torch and torch.cuda.is_initialized()
    return _late.device_number(torch.cuda.current_device() if ready else 0)


def _default():
    torch = _late.torch_or_none()
    return _current_cuda() if torch and torch.cuda.is_initialized() else _late.HOST


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
