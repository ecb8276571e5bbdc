"""metrics(): the numbers of this process's recording, for W&B, TensorBoard and other logs.

A `memledger live` beside the program follows the trace and answers; the program only waits for a
line, and its own memory does not grow with the number of blocks. Before each question the recorder
writes to the trace what the program has done so far, so that the numbers of a step are those of that
step.

SPDX-License-Identifier: Apache-2.0
"""
import atexit
import json
import os
import select
import socket
import subprocess
import threading
import time
import warnings

from . import _native, _recording
from ._asking import environment
from ._library import find_command

_ANSWER_S = 5
_CATCHING_UP_S = 0.02  # while a follower that did not answer in time reads a long trace
_HUNG_S = 5  # without an answer, and without any CPU time
_END_S = 1  # for a follower that was killed; one that waits for a disk ends later
_UNSAVED_S = 60  # without asking a recorder again that did not answer
_RETRY_S = 1  # a process that has just begun is not in its trace yet

# As `live --json` names them for each device, and as they are logged.
_OF_DEVICE = {
    "bytes": "live_bytes",
    "peak_bytes": "peak_bytes",
    "minute_growth_bytes": "minute_growth_bytes",
    "used_by_run_bytes": "driver_used_bytes",
    "unexplained_bytes": "unexplained_bytes",
}
_OF_RUN = {
    "steps": "steps",
    "last_step_peak_bytes": "last_step_peak_bytes",
    "allocations": "allocations",
    "frees": "frees",
    "allocations_per_second": "allocations_per_second",
    "refusals": "out_of_memory",
    "lost": "lost_events",
}


def _cpu_ticks(pid):
    """CPU time of a process so far; None if it cannot be read."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        return int(fields[11]) + int(fields[12])
    except (OSError, ValueError, IndexError):
        return None


class _Follower:
    """A `memledger live` that answers each line on its input with the state of the trace."""

    def __init__(self, trace):
        self.trace = trace
        self.owner = os.getpid()
        self.unread = b""
        self.unanswered = False
        self.seen_ticks, self.seen_at = None, 0  # its CPU time, and when that was first seen
        # No pipe: if the program has the default action for SIGPIPE, a dead follower would kill it.
        self.requests, its_input = socket.socketpair()
        with its_input:
            self.process = subprocess.Popen(
                [find_command(), "live", "--on-request", "--", trace], stdin=its_input,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0, env=environment(),
                start_new_session=True)  # Ctrl-C is for the program

    def ask(self):
        """The state as a dict; None if the follower is still catching up. Raises OSError or
        ValueError if it has ended, hangs or answers nonsense."""
        was_late = self.unanswered
        line = self._exchange(_CATCHING_UP_S if was_late else _ANSWER_S)
        if line is not None and was_late:
            line = self._exchange(_ANSWER_S)  # that one was of an earlier state
        if line is None and self._rests_s() >= _HUNG_S:
            raise OSError("the follower hangs")
        return None if line is None else json.loads(line)

    def _exchange(self, patience_s):
        """Sends a request, unless one is still unanswered, and waits for the answer."""
        if not self.unanswered:
            self.requests.send(b"\n", socket.MSG_NOSIGNAL)
            self.seen_ticks, self.seen_at = _cpu_ticks(self.process.pid), time.monotonic()
        self.unanswered = True
        line = self._read_line(time.monotonic() + patience_s)
        self.unanswered = line is None
        return line

    def _rests_s(self):
        """For how long it has used no CPU time since the request. One that catches up uses some."""
        ticks = _cpu_ticks(self.process.pid)
        if ticks != self.seen_ticks:
            self.seen_ticks, self.seen_at = ticks, time.monotonic()
        return time.monotonic() - self.seen_at

    def _read_line(self, until):
        """None: there is none yet."""
        out = self.process.stdout.fileno()
        poll = select.poll()  # select() takes no descriptor from 1024 on
        poll.register(out, select.POLLIN)
        while b"\n" not in self.unread:
            if not poll.poll(1000 * max(0, until - time.monotonic())):
                return None
            some = os.read(out, 1 << 16)
            if not some:
                raise OSError("the follower has ended")
            self.unread += some
        line, _, self.unread = self.unread.partition(b"\n")
        return line

    def close(self):
        self.requests.close()
        self.process.stdout.close()
        if self.owner == os.getpid():
            self.process.kill()
            try:
                self.process.wait(_END_S)
            except subprocess.TimeoutExpired:
                pass


_lock = threading.Lock()
_follower = None
_tried = None  # when the last follower failed
_unsaved = None  # when the recorder last failed to answer
_warned = False


def _after_fork():
    """A child has its own questions; the pipes are the parent's."""
    global _lock, _follower, _tried
    _lock = threading.Lock()
    _follower = _tried = None


os.register_at_fork(after_in_child=_after_fork)


def _trace():
    """The recording of this process: its path, or the process, which `live` finds."""
    own = _recording._current
    return own.path if own else str(os.getpid())


def _save():
    """Everything so far into the trace; by itself that happens within a second."""
    global _unsaved
    if _unsaved is not None and time.monotonic() - _unsaved < _UNSAVED_S:
        return
    try:
        _native.save_trace(_ANSWER_S)
        _unsaved = None
    except Exception:  # the class is the profiler's
        _unsaved = time.monotonic()


def _ask():
    global _follower, _tried
    trace = _trace()
    if _follower and _follower.trace != trace:
        _end()
    if not _follower:
        if _tried is not None and time.monotonic() - _tried < _RETRY_S:
            return None
        _follower = _Follower(trace)
    _tried = None
    _save()
    try:
        return _follower.ask()
    except (OSError, ValueError):
        _end()
        _tried = time.monotonic()
        return None


def _end():
    global _follower
    if _follower:
        _follower.close()
    _follower = None


atexit.register(_end)


def _flat(state, prefix):
    values = {}
    for device in state["devices"]:
        for name, logged in _OF_DEVICE.items():
            if name in device:
                values[f"{prefix}{device['device']}/{logged}"] = device[name]
    for row in state["rows"]:
        values[f"{prefix}category/{row['name'].replace(' ', '_') or 'other'}_bytes"] = row["bytes"]
    for process in state["processes"]:
        if process["pid"] == os.getpid() and not process["ended"]:  # exec keeps the number
            values[f"{prefix}process/live_bytes"] = process["bytes"]
            values[f"{prefix}process/peak_bytes"] = process["peak_bytes"]
    for name, logged in _OF_RUN.items():
        if name in state:
            values[prefix + logged] = state[name]
    values[prefix + "age_seconds"] = (state["time_ns"] - state["last_event_ns"]) / 1e9
    return values


def metrics(prefix="memledger/"):
    """The memory of this process's recording now, as a flat dict of numbers: live bytes and
    peaks by device, live bytes by category, steps, allocations, losses. Ready for wandb.log()
    and for SummaryWriter.add_scalar(). Empty if nothing is being recorded."""
    global _warned
    try:
        with _lock:
            if not _native.recording():
                _end()
                return {}
            state = _ask()
    except OSError as error:
        if not _warned:
            warnings.warn(f"memledger.metrics() has no numbers: {error}", RuntimeWarning,
                          stacklevel=2)
        _warned = True
        return {}
    return _flat(state, prefix) if state else {}
