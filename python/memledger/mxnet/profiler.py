"""A replacement for MXNet's own profiler: `from memledger.mxnet import profiler`.

The same functions, classes and defaults, on memledger's profile (`memledger help
api`); `memledger help mxnet-profiler` lists the differences. Needs no MXNet.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import contextvars
import os
import sys
import warnings

from .. import _native
from .._marks import plain_text
from . import _memory_profile, _profiling

__all__ = ["Counter", "Domain", "Event", "Frame", "Marker", "Scope", "Task", "dump",
           "dump_profile", "dumps", "pause", "profiler_set_config", "profiler_set_state",
           "resume", "scope", "set_config", "set_kvstore_handle", "set_state"]

_STATES = {"stop": 0, "run": 1}
_PROCESSES = {"worker": 0, "server": 1}
_FORMATS = {"table": 0, "json": 1}
_SORT_KEYS = {"total": 0, "avg": 1, "min": 2, "max": 3, "count": 4}

# By the bits of MXNET_PROFILER_MODE.
_PARTS = ("profile_symbolic", "profile_imperative", "profile_api", "profile_memory")

profiler_kvstore_handle = None
_mode_is_set = False  # by the environment; the first set_config() replaces it


def _number_of(word, words, what):
    if word not in words:
        raise ValueError(f"{what} is {word!r}; expected {' or '.join(map(repr, words))}")
    return words[word]


def _warn_deprecated(old, new):
    warnings.warn(f"profiler.{old}() is deprecated; use profiler.{new}()", stacklevel=3)


# ---- Control ----------------------------------------------------------------------


def set_kvstore_handle(handle):
    """Stores the handle, which is not needed: servers are found by their DMLC_ROLE."""
    global profiler_kvstore_handle
    profiler_kvstore_handle = handle


def set_config(**kwargs):
    """Sets up the profiler.

    filename           the profile file ("profile.json")
    profile_all        everything below (False)
    profile_symbolic, profile_imperative  operators (True)
    profile_memory     memory by device (True)
    profile_api        calls of MXNet's C API (True)
    continuous_dump    dumps append, and happen by themselves (True)
    dump_period        seconds between them (1.0)
    aggregate_stats    gather what dumps() prints (False)
    gpu_memory_profile_filename_prefix    dump() writes <prefix>-pid_<pid>.csv: the memory that
                       MXNet holds, by name (no file unless it is set)
    profile_process    whose settings these are: "worker", this process; "server", all
                       kvstore servers ("worker")"""
    global _mode_is_set
    if _mode_is_set and kwargs.get("profile_process", "worker") == "worker":
        kwargs = {**dict.fromkeys(_PARTS, True), **kwargs}
        _mode_is_set = False
    settings = [(key, str(value)) for key, value in kwargs.items()]
    _profiling.configure(settings)
    if kwargs.get("profile_process", "worker") == "worker":
        _memory_profile.configure(settings)


def set_state(state="stop", profile_process="worker"):
    """"run" starts the profile, "stop" ends it: of this process, or of all kvstore servers
    ("server")."""
    state = _number_of(state, _STATES, "state")
    process = _number_of(profile_process, _PROCESSES, "profile_process")
    if _profiling.begin() if state and not process else _profiling.is_recorded():
        _native.profiler_state(state, process)


def pause(profile_process="worker"):
    """Drops all events until resume(). Pauses do not nest."""
    _set_paused(1, profile_process)


def resume(profile_process="worker"):
    """Ends a pause."""
    _set_paused(0, profile_process)


def _set_paused(paused, profile_process):
    process = _number_of(profile_process, _PROCESSES, "profile_process")
    if _profiling.is_recorded():
        _native.profiler_pause(paused, process)


def dump(finished=True, profile_process="worker"):
    """Writes the profile file, up to this call, and ends it if `finished`."""
    process = _number_of(profile_process, _PROCESSES, "profile_process")
    _profiling.ask(_native.profiler_dump, int(bool(finished)), process, needs_run=not process)
    if not process:
        _memory_profile.write()


def dumps(reset=False, format="table", sort_by="total", ascending=False):
    """The statistics, as text. They need aggregate_stats.

    reset      forget them afterwards
    format     "table" or "json"
    sort_by    "total", "avg", "min", "max" or "count"
    ascending  the smallest first"""
    text = _profiling.ask(_native.profiler_stats, int(bool(reset)),
                          _number_of(format, _FORMATS, "format"),
                          _number_of(sort_by, _SORT_KEYS, "sort_by"), int(bool(ascending)))
    return text or ""


def profiler_set_config(mode="symbolic", filename="profile.json"):
    """Deprecated: set_config(). `mode` is the end of a profile_... setting."""
    _warn_deprecated("profiler_set_config", "set_config")
    set_config(**{f"profile_{mode}": True, "filename": filename})


def profiler_set_state(state="stop"):
    """Deprecated: set_state()."""
    _warn_deprecated("profiler_set_state", "set_state")
    set_state(state)


def dump_profile():
    """Deprecated: dump()."""
    _warn_deprecated("dump_profile", "dump")
    dump(True)


# ---- Scopes -----------------------------------------------------------------------

_UNKNOWN = "<unk>:"
_current_scope = contextvars.ContextVar("memledger_profiler_scope", default=_UNKNOWN)


@contextlib.contextmanager
def _own_scope(name, append_mode):
    name = name if name.endswith(":") else name + ":"
    if append_mode and _current_scope.get() != _UNKNOWN:
        name = _current_scope.get() + name
    token = _current_scope.set(name)
    yield name
    _current_scope.reset(token)


@contextlib.contextmanager
def scope(name=_UNKNOWN, append_mode=True):
    """Allocations of the thread inside belong to `name`. Yields the full name: with a colon at
    its end, and after the enclosing scope's name if `append_mode`. If MXNet is loaded and has
    such scopes, this enters MXNet's scope as well."""
    make = getattr(sys.modules.get("mxnet.profiler"), "scope", _own_scope)
    named = make(name, append_mode)
    whole_name = named.__enter__()
    _native.user_push(plain_text(name).rstrip(":"))
    try:
        yield whole_name
    finally:
        _native.user_pop()
        named.__exit__(None, None, None)  # MXNet's would keep the name after an exception


Scope = scope


# ---- Objects ----------------------------------------------------------------------


class _Object:
    """One of the recorder's objects. It is created in the recorder on first use, so that it can
    exist before the profiler runs."""

    _kind = None

    def __init__(self, name, domain=None):
        self.name = name
        self._domain = domain
        self._handle = 0
        self._find_handle()

    def _find_handle(self):
        if not self._handle:
            domain = self._domain._find_handle() if self._domain is not None else 0
            self._handle = _native.profiler_create(self._kind, domain, plain_text(self.name))
        return self._handle

    @property
    def handle(self):
        """Its number in the recorder; 0 without a recording."""
        return self._find_handle()

    def __str__(self):
        return self.name


class Domain(_Object):
    """A group of tasks, frames, counters and markers: their category in the file."""

    _kind = _native.DOMAIN

    def __init__(self, name):
        super().__init__(name)

    def new_task(self, name):
        """A Task of this domain."""
        return Task(self, name)

    def new_frame(self, name):
        """A Frame of this domain."""
        return Frame(self, name)

    def new_counter(self, name, value=None):
        """A Counter of this domain."""
        return Counter(self, name, value)

    def new_marker(self, name):
        """A Marker of this domain."""
        return Marker(self, name)


class _Destroyed(_Object):
    """Destroyed with its last reference; its records stay."""

    def __del__(self, _destroy=_native.profiler_destroy):
        _destroy(getattr(self, "_handle", 0))


class _Duration(_Destroyed):
    def start(self):
        """Starts it."""
        _native.profiler_start(self._find_handle())

    def stop(self):
        """Stops it."""
        try:
            _native.profiler_stop(self._handle)
        except _native.profiler_error_class() as error:
            warnings.warn(f"memledger: {error}", stacklevel=2)


class Task(_Duration):
    """Work of one thread; tasks may overlap."""

    _kind = _native.TASK

    def __init__(self, domain, name):
        super().__init__(name, domain)


class Frame(_Duration):
    """One repetition, such as an iteration of a loop."""

    _kind = _native.FRAME

    def __init__(self, domain, name):
        super().__init__(name, domain)


class Event(_Duration):
    """Something with a beginning and an end that belongs to no domain."""

    _kind = _native.EVENT

    def __init__(self, name):
        super().__init__(name)


class Counter(_Destroyed):
    """A number that changes with time. `counter += 1` and `counter -= 1` work."""

    _kind = _native.COUNTER

    def __init__(self, domain, name, value=None):
        super().__init__(name, domain)
        self._untold = 0  # its value while nothing is recorded
        if value is not None:
            self.set_value(value)

    def set_value(self, value):
        """Sets it to `value`."""
        handle, value = self._find_handle(), int(value)
        _native.profiler_counter_set(handle, value)
        self._untold = 0 if handle else value

    def increment(self, delta=1):
        """Increases it by `delta`."""
        handle, delta = self._find_handle(), self._untold + int(delta)
        _native.profiler_counter_adjust(handle, delta)
        self._untold = 0 if handle else delta

    def decrement(self, delta=1):
        """Decreases it by `delta`."""
        self.increment(-int(delta))

    def __iadd__(self, delta):
        self.increment(delta)
        return self

    def __isub__(self, delta):
        self.decrement(delta)
        return self


class Marker:
    """A named instant."""

    def __init__(self, domain, name):
        self.name = name
        self.domain = domain

    def mark(self, scope="process"):
        """Marks the current time. `scope` is "global", "process", "thread", "task" or
        "marker"."""
        _native.profiler_marker(self.domain.handle, plain_text(self.name), scope)

    def __str__(self):
        return self.name


# ---- The environment --------------------------------------------------------------


def _environment_number(name):
    text = os.environ.get(name) or "0"
    try:
        return int(text)
    except ValueError:
        warnings.warn(f"memledger: {name} is {text!r}, which is not a number; it is ignored")
        return 0


def _keep_mxnet_from_starting():
    """Turns MXNet's own profiler off: it obeys the same variable and would write the same file,
    also at exit."""
    del os.environ["MXNET_PROFILER_AUTOSTART"]
    own = sys.modules.get("mxnet.profiler")
    if own:
        with contextlib.suppress(Exception):
            own.set_state("stop")
            own.dump(True)


def _obey_environment():
    """MXNET_PROFILER_MODE and MXNET_PROFILER_AUTOSTART."""
    global _mode_is_set
    mode = _environment_number("MXNET_PROFILER_MODE")
    if mode:
        set_config(**{key: bool(mode & 1 << bit) for bit, key in enumerate(_PARTS)})
        _mode_is_set = True
    if _environment_number("MXNET_PROFILER_AUTOSTART"):
        _keep_mxnet_from_starting()
        set_state("run")


_obey_environment()
