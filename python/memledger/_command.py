"""The `memledger` command of a pip installation, and `python -m memledger`: execs the package's
program, so that signals, exit code and process are those of the program.

SPDX-License-Identifier: Apache-2.0
"""
import os
import signal
import sys

from ._library import COMMANDS, first


def main() -> None:
    program = first(COMMANDS, "memledger", os.X_OK)
    if not program:
        sys.exit("memledger: cannot find the command beside its package; install memledger again")
    undo_python()
    if sys.argv[1:2] == ["export"]:  # Parquet is written by this interpreter
        os.environ.setdefault("MEMLEDGER_PYTHON", sys.executable)
    try:
        os.execv(program, ["memledger", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"memledger: cannot start {program}: {error.strerror}; "
                 "install memledger again")


def undo_python() -> None:
    """Undoes the interpreter's changes, which must not reach the recorded program."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    # In the C locale Python sets this variable itself (PEP 538).
    if "LC_CTYPE" in os.environ and not had_at_start(b"LC_CTYPE"):
        del os.environ["LC_CTYPE"]


def had_at_start(name: bytes) -> bool:
    try:
        with open("/proc/self/environ", "rb") as f:
            return any(entry.startswith(name + b"=") for entry in f.read().split(b"\0"))
    except OSError:
        return True
