"""Writes MXNet's memory profile, <prefix>-pid_<pid>.csv, from the trace so far.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import os
import subprocess
import sys
import tempfile
import warnings

from .. import _native
from .._library import find_command

KEY = "gpu_memory_profile_filename_prefix"
LIMIT_S = 60  # training waits for the export

_prefix = None  # None: the program has not set it


def configure(settings):
    """`settings`: pairs of str."""
    global _prefix
    for key, value in settings:
        if key == KEY:
            _prefix = os.path.abspath(value)


def write():
    """Warns if that fails, so that training continues."""
    if _prefix is None or not _native.recording():
        return
    if "mxnet" in sys.modules:
        from .. import _mxnet_arrays
        _mxnet_arrays.look(waited=True)
    try:
        _export(_native.save_trace(), f"{_prefix}-pid_{os.getpid()}.csv")
    except (OSError, subprocess.SubprocessError, _native.profiler_error_class()) as error:
        warnings.warn(f"memledger: cannot write the memory profile: {error}", stacklevel=3)


def _export(trace, path):
    """The command names its files itself, one for each process."""
    name = f"gpu_memory_profile-pid_{os.getpid()}.csv"
    with tempfile.TemporaryDirectory(dir=os.path.dirname(path)) as folder:
        _run_export(trace, folder)
        made = os.path.join(folder, name)
        if os.path.exists(made):
            os.replace(made, path)
            return
    with contextlib.suppress(FileNotFoundError):
        os.remove(path)  # of an earlier dump
    raise OSError(f"the trace has no memory of process {os.getpid()}; if the process is in a pid "
                  "namespace of its own, start memledger in there too")


def _run_export(trace, folder):
    command = [find_command(), "export", "--format", "mxnet-pool-csv", trace]
    try:
        done = subprocess.run(command, cwd=folder, env=_plain_environment(), timeout=LIMIT_S,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace")
    except subprocess.TimeoutExpired as error:
        raise OSError(f"the export takes more than {LIMIT_S} seconds; run it after the program: "
                      + " ".join(command)) from error
    if done.returncode:
        raise OSError(done.stderr.strip())


def _plain_environment():
    """Without the variables that would record the command as well."""
    return {name: value for name, value in os.environ.items()
            if name not in ("LD_PRELOAD", "PYTHONPATH", "CUDA_INJECTION64_PATH",
                            "NVTX_INJECTION64_PATH") and not name.startswith("MEMLEDGER_")}
