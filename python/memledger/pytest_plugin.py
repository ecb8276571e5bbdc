"""A plugin for pytest: limits on the memory of a test, and a report by test.

    pytest --memledger

    @pytest.mark.limit_memory("2 GB", device="cuda:0")
    @pytest.mark.limit_leaks("1 MB")

`memledger help pytest` explains it.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import gc
import json
import os
import re
import subprocess
import sys
import tempfile

import pytest

_PROPERTY = "memledger"
_LAST_FAILURE = ("last_type", "last_value", "last_traceback", "last_exc")


def _size(count):
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(count) < 1024 or unit == "GiB":
            return f"{count:.1f} {unit}" if unit != "B" else f"{count} B"
        count /= 1024
    return None


# ---- Setting up ---------------------------------------------------------------------


def pytest_addoption(parser):
    group = parser.getgroup("memledger")
    group.addoption("--memledger", action="store_true",
                    help="record the memory of each test, check its limits, report by test")
    group.addoption("--memledger-dir", metavar="DIR",
                    help="keep the recordings in DIR (default: only those of failed limits, in "
                         "a folder for temporary files)")
    group.addoption("--memledger-top", metavar="N", type=int, default=10,
                    help="list the N tests with the highest peaks (10)")


def pytest_configure(config):
    config.addinivalue_line("markers", "limit_memory(size, device=None): with --memledger, fail "
                            "if the peak of a device exceeds size")
    config.addinivalue_line("markers", "limit_leaks(size, device=None): with --memledger, fail "
                            "if the test leaves more than size of PyTorch memory behind")


def pytest_sessionstart(session):
    if session.config.getoption("--memledger") and _under_memledger_run():
        raise pytest.UsageError("pytest --memledger records each test itself; start it without "
                                "memledger run")


def _under_memledger_run():
    from memledger import _native
    return _native.recording() == _native.RECORDED_FROM_START


# ---- One test -------------------------------------------------------------------------


def _release_last_failure():
    """Its traceback holds the variables of the test that failed. pytest deletes it too, but only
    after this."""
    for name in _LAST_FAILURE:
        with contextlib.suppress(AttributeError):
            delattr(sys, name)
    gc.collect()


class _Recorded:
    """The recording of one test."""

    def __init__(self, item):
        import memledger
        from memledger import _live, _pytest_limits
        self.memledger = memledger
        self.item = item
        self.leak_limits = [_pytest_limits.Limit(m) for m in item.iter_markers("limit_leaks")]
        self.peak_limits = [_pytest_limits.Limit(m) for m in item.iter_markers("limit_memory")]
        folder = item.config.getoption("--memledger-dir")
        if folder:
            os.makedirs(folder, exist_ok=True)
        self.kept = bool(folder)
        _release_last_failure()
        self.before = {name: memledger.live(name) for name, _ in _live.devices()}
        self._start(folder)

    def _start(self, folder):
        """Leaves no file behind if there is no recording."""
        name = re.sub(r"[^\w.-]+", "_", self.item.nodeid)[-150:]
        handle, self.path = tempfile.mkstemp(prefix=name + ".", suffix=".mled", dir=folder)
        os.close(handle)
        try:
            self.memledger.start(self.path, force=True)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.path)
            raise

    def end(self):
        """Figures of the test, and sentences about limits that it exceeded or that no device has."""
        leaks = [(limit, *self._left(limit.device_name())) for limit in self.leak_limits]
        self.memledger.stop()
        peaks = {d["device"]: d["peak_bytes"]
                 for d in self._ask("summary", "--top", "0")["by_device"]}
        exceeded = self._exceeded(peaks, leaks)
        if not exceeded and not self.kept:
            os.unlink(self.path)
        return ({device: peak for device, peak in peaks.items() if peak},
                exceeded + self._unchecked(peaks))

    def _left(self, device):
        """Its name, and how many bytes more than before the test PyTorch has on it."""
        gc.collect()
        return device, self.memledger.live(device) - self.before.get(device, 0)

    def _exceeded(self, peaks, leaks):
        high = [f"the peak of {device} was {_size(peak)}, more than the {_size(limit.size)} of "
                "limit_memory"
                for limit in self.peak_limits for device, peak in peaks.items()
                if (limit.device is None or limit.device_name() == device) and peak > limit.size]
        left = [f"the test left {_size(leak)} behind on {device}, more than the "
                f"{_size(limit.size)} of limit_leaks"
                for limit, device, leak in leaks if leak > limit.size]
        if high:
            high.append(f"memledger tree {self.path} shows the peak")
        if left:
            left.append(f"memledger table --at end {self.path} shows what was left")
        return high + left

    def _unchecked(self, peaks):
        """A device without memory may exist and keep its limit; one that does not exist would
        keep any limit."""
        sentences = [limit.missing_device() for limit in self.peak_limits + self.leak_limits
                     if limit.device_name() not in peaks]
        return [sentence for sentence in sentences if sentence]

    def _ask(self, verb, *options):
        from memledger._library import find_command
        done = subprocess.run([find_command(), verb, "--json", *options, self.path],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
        return json.loads(done.stdout)


def _failure(text):
    return pytest.fail.Exception(text, pytrace=False)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    if not item.config.getoption("--memledger"):
        yield
        return
    try:
        recorded = _Recorded(item)
    except ValueError as error:
        raise _failure(str(error)) from None
    except RuntimeError as error:  # a process can be recorded a thousand times
        if any(item.iter_markers("limit_memory")) or any(item.iter_markers("limit_leaks")):
            raise _failure(f"cannot check the limits: {error}; pytest -n 2 uses other "
                           "processes") from None
        yield
        return
    outcome = yield
    try:
        figures, broken = recorded.end()
    except Exception as error:  # a full disk, say; it must not hide why the test failed
        figures, broken = {}, [f"cannot read the recording of this test: {error}"]
    item.user_properties.append((_PROPERTY, figures))
    if broken and outcome.excinfo is None:
        outcome.force_exception(_failure("\n".join(broken)))


# ---- The report -----------------------------------------------------------------------


def pytest_terminal_summary(terminalreporter, config):
    if not config.getoption("--memledger"):
        return
    rows = []
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            figures = dict(getattr(report, "user_properties", ())).get(_PROPERTY)
            if report.when == "call" and figures is not None:
                rows.append((max(figures.values(), default=0), report.nodeid, figures))
    rows.sort(key=lambda row: (-row[0], row[1]))
    terminalreporter.section("memory of the tests (memledger)")
    for _, test, figures in rows[:config.getoption("--memledger-top")]:
        peaks = ", ".join(f"{device} {_size(peak)}" for device, peak in sorted(figures.items()))
        terminalreporter.write_line(f"{test}: peak {peaks or '0 B'}")
    if len(rows) > config.getoption("--memledger-top"):
        terminalreporter.write_line(f"and {len(rows) - config.getoption('--memledger-top')} more")
