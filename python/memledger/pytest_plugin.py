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
import tempfile

import pytest

_PROPERTY = "memledger"
_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
          "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40,
          "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


def _bytes(text):
    """The size that is written as for `memledger check`: 4096, "64 KiB", "1.5GB"."""
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*", str(text))
    if not found or found[2].upper() not in _UNITS:
        raise pytest.UsageError(f"{text!r} is not a size; write 4096, \"64 KiB\" or \"1.5 GB\"")
    return round(float(found[1]) * _UNITS[found[2].upper()])


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


# ---- One test -------------------------------------------------------------------------


class _Recorded:
    """The recording of one test."""

    def __init__(self, item):
        import memledger
        self.memledger = memledger
        self.item = item
        self.leak_limits = [self._limit(mark) for mark in item.iter_markers("limit_leaks")]
        self.peak_limits = [self._limit(mark) for mark in item.iter_markers("limit_memory")]
        folder = item.config.getoption("--memledger-dir")
        if folder:
            os.makedirs(folder, exist_ok=True)
        self.kept = bool(folder)
        self._start(folder)

    def _start(self, folder):
        """Leaves neither a recording nor a file behind if anything is wrong."""
        name = re.sub(r"[^\w.-]+", "_", self.item.nodeid)[-150:]
        handle, path = tempfile.mkstemp(prefix=name + ".", suffix=".mled", dir=folder)
        os.close(handle)
        self.path = None
        try:
            self.path = self.memledger.start(path, force=True)
            if not self.path:
                raise pytest.UsageError("pytest --memledger records each test itself; start it "
                                        "without memledger run")
            self.before = {device: self._live(device) for _, device in self.leak_limits}
        except BaseException:
            if self.path:
                self.memledger.stop()
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            raise

    @staticmethod
    def _limit(mark):
        if len(mark.args) != 1:
            raise pytest.UsageError(f"{mark.name} needs one size: @pytest.mark.{mark.name}"
                                    "(\"2 GB\", device=\"cuda:0\")")
        return _bytes(mark.args[0]), mark.kwargs.get("device")

    def _live(self, device):
        gc.collect()
        return self.memledger.live(device)

    def end(self):
        """Figures of the test, and the sentences about limits that it exceeded."""
        leaks = [(limit, device, self._live(device) - self.before[device])
                 for limit, device in self.leak_limits]
        self.memledger.stop()
        peaks = self._ask("summary", "--top", "0")["by_device"]
        broken = [f"the peak of {d['device']} was {_size(d['peak_bytes'])}, more than the "
                  f"{_size(limit)} of limit_memory"
                  for limit, device in self.peak_limits for d in peaks
                  if device in (None, d["device"]) and d["peak_bytes"] > limit]
        broken += [f"the test left {_size(leak)} behind on {device or 'the current device'}, more "
                   f"than the {_size(limit)} of limit_leaks"
                   for limit, device, leak in leaks if leak > limit]
        figures = {d["device"]: d["peak_bytes"] for d in peaks if d["peak_bytes"]}
        if broken:
            broken.append(f"memledger tree {self.path} shows the peak")
        elif not self.kept:
            os.unlink(self.path)
        return figures, broken

    def _ask(self, verb, *options):
        from memledger._library import find_command
        done = subprocess.run([find_command(), verb, "--json", *options, self.path],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
        return json.loads(done.stdout)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    if not item.config.getoption("--memledger"):
        yield
        return
    try:
        recorded = _Recorded(item)
    except RuntimeError as error:  # a process can be recorded a thousand times
        if any(item.iter_markers("limit_memory")) or any(item.iter_markers("limit_leaks")):
            pytest.fail(f"cannot check the limits: {error}; pytest -n 2 uses other processes",
                        pytrace=False)
        yield
        return
    outcome = yield
    try:
        figures, broken = recorded.end()
    except Exception as error:  # a full disk, say; it must not hide why the test failed
        figures, broken = {}, [f"cannot read the recording of this test: {error}"]
    item.user_properties.append((_PROPERTY, figures))
    if broken and outcome.excinfo is None:
        outcome.force_exception(pytest.fail.Exception("\n".join(broken), pytrace=False))


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
