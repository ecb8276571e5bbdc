"""@memledger.profile: records each call of a function and prints its peak.

SPDX-License-Identifier: Apache-2.0
"""
import functools
import shlex
import sys

from . import _live, _native, _recording
from ._printable import printable

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def format_bytes(count):
    """Formats sizes like the command."""
    size, unit = float(count), 0
    while abs(size) >= 1024 and unit + 1 < len(_UNITS):
        size /= 1024
        unit += 1
    return f"{count} B" if unit == 0 else f"{size:.1f} {_UNITS[unit]}"


def _devices():
    """(name, number) of devices that have or had blocks."""
    return [pair for pair in _live.devices() if _native.live_peak(pair[1])]


class _Call:
    def __init__(self, name):
        self.name = name
        self.before = {number: _native.live_bytes(number) for _, number in _devices()}
        for number in self.before:
            _native.live_reset_peak(number)

    def report(self, path):
        lines = []
        for device, number in _devices():
            kept = _native.live_bytes(number) - self.before.get(number, 0)
            lines.append(f"{self.name}: {device}: peak {format_bytes(_native.live_peak(number))}, "
                         f"{format_bytes(abs(kept))} {'more' if kept >= 0 else 'less'} live than "
                         "before")
        lines = lines or [f"{self.name}: PyTorch allocated no memory"]
        if path:
            lines.append(f"next: memledger summary {shlex.quote(str(path))}")
        for line in lines:
            print(f"memledger: {printable(line)}", file=sys.stderr)


def profile(function=None, *, path=None, force=False):
    """Records each call of the function, and prints its peak on stderr.

        @memledger.profile
        def train(): ...

    `path` names the trace; a later call of the same function replaces it. Inside a recording,
    calls become scopes of that recording."""
    if function is None:
        return functools.partial(profile, path=path, force=force)
    calls = 0

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        nonlocal calls
        if not _live.is_counting():
            return function(*args, **kwargs)
        own = not _native.recording()
        trace = None
        if own:
            trace = _recording.start(path, force=force or calls > 0)
            calls += 1
        call = _Call(function.__name__)
        _native.user_push(function.__name__)
        try:
            return function(*args, **kwargs)
        finally:
            _native.user_pop()
            if own:
                _recording.stop()
            call.report(trace)

    return wrapper
