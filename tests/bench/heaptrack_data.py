# SPDX-License-Identifier: Apache-2.0
"""heaptrack's figures for a program, to the byte.

heaptrack_print rounds ("926.73K"), so the sums are made here from the records of
the data file the way heaptrack_print makes them; what it prints must agree.
"""
import gzip
import pathlib
import re
import subprocess

from bench_run import Failed, run

UNITS = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9}


class Figures:
    """What two recorders should agree on."""

    FIELDS = ("allocations", "peak_bytes", "never_freed_bytes")

    def __init__(self, allocations, peak_bytes, never_freed_bytes):
        self.allocations = allocations
        self.peak_bytes = peak_bytes
        self.never_freed_bytes = never_freed_bytes

    def values(self):
        return tuple(getattr(self, f) for f in self.FIELDS)

    def as_json(self):
        return dict(zip(self.FIELDS, self.values()))


def lines(path):
    """The records of a data file."""
    if path.suffix == ".gz":
        with gzip.open(path, "rt", encoding="utf-8", errors="replace") as f:
            yield from f
        return
    with subprocess.Popen(["zstd", "-dcq", str(path)], stdout=subprocess.PIPE) as zstd:
        for line in zstd.stdout:
            yield line.decode("utf-8", "replace")


def _sum_up(path):
    """a SIZE STACK defines an allocation, + and - are one made and one freed."""
    sizes, allocations, live, peak = [], 0, 0, 0
    for line in lines(path):
        kind, _, rest = line.partition(" ")
        if kind == "a":
            sizes.append(int(rest.split()[0], 16))
        elif kind == "+":
            allocations += 1
            live += sizes[int(rest, 16)]
            peak = max(peak, live)
        elif kind == "-":
            live -= sizes[int(rest, 16)]
    return Figures(allocations, peak, live)


def _printed(path):
    """What heaptrack_print says, as (value, how exact it is)."""
    text = run(["heaptrack_print", "--disable-builtin-suppressions", "-p", "0", "-a", "0",
                "-T", "0", "-l", "0", "-f", path]).text
    calls = re.search(r"calls to allocation functions: (\d+)", text)
    found = [(int(calls.group(1)), 0)] if calls else []
    for title in ("peak heap memory consumption", "total memory leaked"):
        m = re.search(title + r": ([\d.]+)([KMG]?)B?", text)
        if m:
            unit = UNITS[m.group(2)]
            found.append((float(m.group(1)) * unit, 0.0051 * unit))
    if len(found) != 3:
        raise Failed("heaptrack_print speaks another language:\n" + text)
    return found


def record(command, argv, env, output):
    """Runs argv under heaptrack; the figures and the data file. `command` starts heaptrack up to
    its options."""
    run(command + ["-o", output] + argv, env=env)
    path = next(p for p in (pathlib.Path(output + e) for e in (".zst", ".gz")) if p.exists())
    figures = _sum_up(path)
    for mine, (printed, exact_to) in zip(figures.values(), _printed(str(path))):
        if abs(mine - printed) > exact_to:
            raise Failed("%s: %s by its records, %s by heaptrack_print" % (path, mine, printed))
    return figures, path
