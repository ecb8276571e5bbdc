"""start() and stop(): a recording of this process, without `memledger run`.

SPDX-License-Identifier: Apache-2.0
"""
import atexit
import contextlib
import errno
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

from . import _late, _native
from ._library import find_command
from ._printable import printable

_lock = threading.RLock()
_current = None  # the recording in progress
_ends_at_exit = False  # whether stop() is called at the end of the program
_said = set()


def _after_fork():
    """Replaces the lock, which another thread of the parent may have held."""
    global _lock
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_after_fork)


class _Recording:
    def __init__(self, path, session, collector):
        self.path = path
        self.session = session      # the folder that connects recorder and collector
        self.collector = collector  # its process id
        self.owner = os.getpid()    # forked children are recorded too, but end nothing


def _say_once(text):
    if text not in _said:
        _said.add(text)
        print(f"memledger: {printable(text)}", file=sys.stderr)


# ---- Names ------------------------------------------------------------------------


def _program():
    name = os.path.basename(sys.argv[0]) if sys.argv else ""
    if name.endswith(".py"):
        name = name[:-3]
    return "python" if name in ("", "-c", "-m", "-") else name


def _free_name(program):
    """A name that no earlier recording of this process has used."""
    first = f"memledger-{program}.{os.getpid()}"
    path, n = f"{first}.mled", 1
    while os.path.exists(path):
        n += 1
        path = f"{first}.{n}.mled"
    return path


def _file(path, force):
    """The path of the trace; a folder gets the default name in it."""
    if path is None:
        return os.path.abspath(_free_name(_program()))
    path = os.path.abspath(os.fspath(path))
    if os.path.isdir(path):
        return os.path.join(path, f"memledger-{_program()}.{os.getpid()}.mled")
    if os.path.exists(path) and not force:
        raise FileExistsError(f"{path} exists; choose another path, or force=True to overwrite it")
    return path


# ---- The collector ----------------------------------------------------------------


_OPEN_S = 60


def _start_collector(path, force, sample_hz, stacks):
    line = [find_command(), "collect", f"--pid={os.getpid()}", f"--output={path}"]
    if force:
        line.append("--force")
    if sample_hz is not None:
        line.append(f"--sample-hz={int(sample_hz)}")
    if stacks is not None:
        line.append(f"--stacks={stacks}")
    starting = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, errors="replace")
    try:
        said, trouble = starting.communicate(timeout=_OPEN_S)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"{path} is not open after {_OPEN_S} s: its disk hangs") from None
    finally:
        if starting.returncode is None:
            starting.kill()  # nobody waits for it: one that waits for a disk does not end
    if starting.returncode == -signal.SIGSYS:  # it tries the recorder's system calls
        raise RuntimeError(_REASONS[errno.EPERM])
    answer = said.split("\n")
    if len(answer) < 2 or not answer[1].isdigit():
        raise RuntimeError(trouble.strip() or "memledger collect did not start")
    return _Recording(path, answer[0], int(answer[1]))


def _runs(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


_LIFELESS_S = 30
_KILLED_S = 5  # a process that waits for a disk does not even end when it is killed


def _signs_of_life(recording):
    """What changes while the collector gets on: its processor time, and the file."""
    signs = []
    with contextlib.suppress(OSError), open(
            f"/proc/{recording.collector}/task/{recording.collector}/stat") as f:
        signs += f.read().rpartition(")")[2].split()[11:13]
    with contextlib.suppress(OSError):
        state = os.stat(recording.path)
        signs += [state.st_size, state.st_mtime_ns]
    return signs


class _Watch:
    """Whether the collector has shown no sign of life for half a minute: it is stopped, or its
    disk hangs."""

    def __init__(self, recording):
        self.recording = recording
        self.signs = None
        self.seen = 0

    def is_lifeless(self):
        signs, now = _signs_of_life(self.recording), time.monotonic()
        if signs != self.signs:
            self.signs, self.seen = signs, now
        return now - self.seen > _LIFELESS_S


def _wait_for_collector(recording):
    """The collector removes the session's folder when the file is complete."""
    watch = _Watch(recording)
    while os.path.exists(os.path.join(recording.session, "page")):
        if watch.is_lifeless():
            _say_once(f"the collector (process {recording.collector}) does not move; "
                      f"{recording.path} holds what it has written so far")
            return
        if not _runs(recording.collector):
            shutil.rmtree(recording.session, ignore_errors=True)
            _say_once(f"the collector was killed; {recording.path} holds what it had written "
                      "until then")
            return
        time.sleep(0.002)


_REASONS = {
    errno.EBUSY: "this process is already being recorded",
    errno.EPERM: "this process is in a seccomp sandbox, where it cannot be recorded",
    errno.ENOSPC: "this process has been recorded too often; restart it",
    errno.ENOMEM: "not enough memory for the recorder",
    errno.EPROTO: "the memledger command and this package have different versions; install both "
                  "from one release",
    errno.EIO: "cannot reach the collector; check ulimit -v, -f and -n",
}


def _join(recording):
    reason = _native.join(recording.session)
    if reason == 0:
        return
    page = os.path.join(recording.session, "page")
    os.kill(recording.collector, 9)
    until = time.monotonic() + _KILLED_S
    while os.path.exists(page) and _runs(recording.collector) and time.monotonic() < until:
        time.sleep(0.002)
    shutil.rmtree(recording.session, ignore_errors=True)
    raise RuntimeError(_REASONS.get(reason, os.strerror(reason)))


_STACKS = (None, "none", "python", "native", "all")  # as in `memledger run --stacks`


# ---- Public functions --------------------------------------------------------------


def _is_recorded_elsewhere():
    """Whether `memledger run`, or the process that forked this one, records it."""
    if _native.recording() == _native.RECORDED_FROM_START:
        return True
    return _native.recording() and _current and _current.owner != os.getpid()


def _has_ended_for_parent():
    """For a child that was in its parent's recording."""
    return (_current and _current.owner != os.getpid()
            and not os.path.exists(os.path.join(_current.session, "page")))


def _again(path):
    """start() during this process's own recording, as when a notebook's cell runs twice."""
    if path is not None and os.path.abspath(path) != _current.path:
        raise RuntimeError(f"memledger records into {_current.path}; call memledger.stop() first")
    _say_once(f"start() was called before: {_current.path} continues")
    return _current.path


def _name_torch():
    if _current:  # the recording may have ended before PyTorch was imported
        from . import _lightning, _torch, _torch_caches
        _torch.begin_recording()
        _lightning.install()
        _late.when_imported("transformers.cache_utils", _torch_caches.install,
                            "cannot hook transformers: key-value caches have no names")


def start(path=None, *, force=False, sample_hz=None, stacks=None):
    """Records this process into `path`, by default memledger-<program>.<pid>.mled, until
    stop() or the end of the program. Returns the path.

    Refuses to overwrite an existing file unless `force`. Under `memledger run` there is no
    second recording: start() and stop() add marks to the existing trace."""
    global _current, _ends_at_exit
    with _lock:
        if _is_recorded_elsewhere() and _has_ended_for_parent():
            _native.leave()
        if _is_recorded_elsewhere():
            _say_once("this process is already recorded; start() and stop() only add marks "
                      "to that trace")
            _late.switch_on()
            _native.user_marker("start")
            return _current.path if _current else None
        if _current and _current.owner == os.getpid():
            return _again(path)
        file = _file(path, force)
        if sample_hz is not None and sample_hz < 0:
            raise ValueError(f"sample_hz={sample_hz}: give 0 or more samples a second")
        if stacks not in _STACKS:
            raise ValueError(f"stacks={stacks!r}: give one of {', '.join(_STACKS[1:])}")
        _late.switch_on()
        recording = _start_collector(file, force, sample_hz, stacks)
        _join(recording)
        _current = recording  # set at once, so that stop() works if the rest is interrupted
        if not _ends_at_exit:
            atexit.register(stop)
            _ends_at_exit = True
        _late.when_torch_is_here(_name_torch, "cannot hook PyTorch: module names are off")
        return recording.path


def stop():
    """Ends the recording. Returns the path of its complete trace, or None if this process has
    no recording of its own."""
    global _current
    with _lock:
        if _is_recorded_elsewhere():
            _native.user_marker("stop")
            return None
        recording = _current
        if not recording or recording.owner != os.getpid():
            return None
        _current = None
        _native.leave()
        _wait_for_collector(recording)
        _native.after_leave()
        return recording.path


def follow(path, session):
    """The recorder has joined a recording that another process began."""
    global _current
    with _lock:
        _current = _Recording(path, session, 0)
        _late.when_torch_is_here(_name_torch, "cannot hook PyTorch: module names are off")


def unfollow():
    """That process ends it."""
    global _current
    with _lock:
        _current = None


@contextlib.contextmanager
def recording(path=None, **options):
    """start() and stop() around a block; yields the path."""
    try:
        yield start(path, **options)
    finally:
        stop()
