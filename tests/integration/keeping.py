# keeping.py: the trace of keeps_last.c under `run --keep`, for test_keep.py and test_keep_window.py.
#
# SPDX-License-Identifier: Apache-2.0
import os
import signal
import struct

import harness
from harness import check, equal, report

LIMIT = 16 << 20
LIVE = 1000


def told():
    with open("told", "rb") as f:
        return struct.unpack("<Q", f.read(8))[0]


def new_told():
    with open("told", "wb") as f:
        f.truncate(4096)


def number_of(live_bytes, blocks):
    """The last allocation of a trace whose live blocks have so many bytes: the last 1,000 numbers,
    or one less after the free that precedes the next."""
    check(blocks in (LIVE, LIVE - 1), f"{blocks} live blocks")
    n, rest = divmod(live_bytes + sum(range(blocks)), blocks)
    equal(rest, 0, f"{live_bytes} bytes of {blocks} consecutive numbers: remainder")
    return n


def check_size(path):
    """Of the file and of one that is made beside it."""
    size = 0
    for name in os.listdir("."):
        try:
            size += os.stat(name).st_size if name.startswith(path) else 0
        except FileNotFoundError:
            pass
    check(size <= LIMIT, f"{size} bytes, more than {LIMIT}")


def watch(process, path, until):
    """Until then, or the end of the program."""
    def is_over():
        if process.poll() is not None or until():
            return True
        if os.path.exists(path):
            check_size(path)
        return False

    try:
        harness.wait_until(is_over, "the end of the watch")
    except harness.Failure:
        for pid in [*harness.children(process.pid), process.pid]:
            harness.signal_process(pid, signal.SIGKILL)
        raise


def last_number(path):
    summary = report("summary", path)
    equal(summary["lost"], 0, "lost")
    return number_of(summary["live_bytes"], summary["live_blocks"]), summary
