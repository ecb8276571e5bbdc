"""The limits of the pytest plugin's marks: a size, and the device that it applies to.

SPDX-License-Identifier: Apache-2.0
"""
import functools
import re
import subprocess
import sys

from . import _live

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
          "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40,
          "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}

_COUNT_DEVICES = """
import ctypes
driver, count = ctypes.CDLL("libcuda.so.1"), ctypes.c_int()
if driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0:
    print(count.value)
"""


def _bytes(text):
    """The size that is written as for `memledger check`: 4096, "64 KiB", "1.5GB"."""
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*", str(text))
    if not found or found[2].upper() not in _UNITS:
        raise ValueError(f"{text!r} is not a size; write 4096, \"64 KiB\" or \"1.5 GB\"")
    return round(float(found[1]) * _UNITS[found[2].upper()])


@functools.lru_cache(maxsize=None)
def _cuda_devices():
    """Asks the driver in another process: one that is initialized in this process could not be
    used in its forked children."""
    done = subprocess.run([sys.executable, "-I", "-S", "-c", _COUNT_DEVICES], timeout=60,
                          capture_output=True, text=True, check=False)
    return int(done.stdout or 0)


class Limit:
    """A mark. Raises ValueError with a sentence about what is wrong with it."""

    def __init__(self, mark):
        self.mark = mark.name
        try:
            self._read(*mark.args, **mark.kwargs)
        except TypeError:
            raise ValueError(f"{mark.name} takes a size and, optionally, a device: @pytest."
                             f"mark.{mark.name}(\"2 GB\", device=\"cuda:0\")") from None
        except ValueError as error:
            raise ValueError(f"{mark.name}: {error}") from None

    def _read(self, size, device=None):
        self.size = _bytes(size)
        self.device = device
        _live.number_of(device)

    def device_name(self):
        """Of the device that the mark means now: the current one may change."""
        return _live.name_of(_live.number_of(self.device))

    def missing_device(self):
        """A sentence if this machine does not have the device that the mark names, or None."""
        name = self.device_name()
        kind, _, ordinal = name.partition(":")
        if self.device is None or kind == "cpu" or int(ordinal) < _cuda_devices():
            return None
        return (f"{self.mark}: this machine has no {name}; skip the test here: @pytest.mark.skipif("
                f"torch.cuda.device_count() < {int(ordinal) + 1}, reason=\"needs {name}\")")
