# transcripts.py: the commands that a page shows, with the output below them, and what a terminal
# prints for them.
#
# SPDX-License-Identifier: Apache-2.0
import dataclasses
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

from harness import Failure, check

FENCE = re.compile(r"^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\][^\x07]*\x07|[()][A-Z0-9])")

# Columns of the terminal: README shows the tables that fit there.
ROWS, COLUMNS = 50, 100

# Numbers of a page that another machine, version or moment changes. Any number is as good in their
# places, with as many decimals. Every other number is compared as it is.
VARYING = re.compile(r"\bloss \d+\.\d+|[\d,]+ events| and [\d,]+ samples?|\(\d+\.\d [KM]iB\)"
                     r"|\bat \d+\.\d+ s\b")
# A short program may end before the first sample.
SAMPLES = r"(?: and \d[\d,]* samples?)?"
# Lines that a page may leave out: notes about the machine, and the heading of a report.
NO_GPU = re.compile(r"memledger: no GPU was sampled: .*")
NOTES = [
    NO_GPU,
    re.compile(r"memledger: sampled [\d,.]+ times a second instead of [\d,.]+; the machine was busy"),
    re.compile(r"memledger: still writing .* so far\); Ctrl-C leaves that to process \d+"),
]
RECORDED = re.compile(r"recorded \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC on .*")
DURATION = r"at (?:\d+\.\d+ m?s|\d+ min \d\d s|\d+ h \d\d min)"


# ---- Reading a page --------------------------------------------------------


@dataclasses.dataclass
class Step:
    """A command, and the lines that the page shows below it; None where the block only lists
    commands."""
    line: int
    command: str
    shown: list

    def __str__(self):
        return f"line {self.line}: {self.command}"


def steps(text):
    """The commands of all fenced blocks, in order."""
    found = []
    for block in FENCE.finditer(text):
        first = text.count("\n", 0, block.start(1)) + 1
        lines = list(enumerate(block[1].splitlines(), first))
        typed = any(line.startswith("$ ") for _, line in lines)
        for number, line in lines:
            if typed and not line.startswith("$ "):
                check(found, f"line {number} is above the first command")
                found[-1].shown.append(line)
            elif typed:
                found.append(Step(number, line[2:], []))
            elif line.strip():
                found.append(Step(number, re.sub(r"\s+# .*", "", line), None))
    return found


def inline(text, program):
    """The commands of that program which the page names in its sentences, each once."""
    return list(dict.fromkeys(re.findall(rf"`({program} [^`\n]+)`", FENCE.sub("", text))))


# ---- Comparing -------------------------------------------------------------


def varying(text):
    """The pattern for text in which the numbers may be others."""
    if text.startswith("at "):
        return DURATION
    if "sample" in text:
        return SAMPLES
    pattern = re.sub(r"\d[\d,]*(?:\\\.(\d+))?",
                     lambda m: r"\d[\d,]*" + (rf"\.\d{{{len(m[1])}}}" if m[1] else ""),
                     re.escape(text))
    return re.sub("[KM]iB", "[KM]iB", pattern)


def pattern_of(line):
    pattern, end = "", 0
    for found in VARYING.finditer(line):
        pattern += re.escape(line[end:found.start()]) + varying(found[0])
        end = found.end()
    return re.compile(pattern + re.escape(line[end:]))


def without_optional(shown, printed):
    """The printed lines without those that the page may leave out and does leave out."""
    for note in NOTES:
        if not any(map(note.fullmatch, shown)):
            printed = [line for line in printed if not note.fullmatch(line)]
    # The heading: the recorded command, when and where it was recorded, and an empty line.
    if (len(printed) > 2 and RECORDED.fullmatch(printed[1]) and not printed[2]
            and not any(RECORDED.fullmatch(line) for line in shown)):
        printed = printed[3:]
    return printed


def compare(step, printed):
    """`...` alone on a line stands for any lines, also for none."""
    printed = without_optional(step.shown, printed)
    parts = [[]]
    for line in step.shown:
        if line.strip() == "...":
            parts.append([])
        else:
            parts[-1].append(line)
    begin = 0
    for index, part in enumerate(parts):
        last = len(printed) - len(part)
        places = range(begin, last + 1)
        if index == len(parts) - 1:
            places = [last] if last >= begin else []
        if index == 0:
            places = [place for place in places if place == 0]
        patterns = [pattern_of(line) for line in part]
        place = next((p for p in places if all(
            pattern.fullmatch(line) for pattern, line in zip(patterns, printed[p:]))), None)
        check(place is not None, f"README.md, {step}: another output than the page shows",
              "--- not printed, or in another place:", *part, "--- printed:", *printed)
        begin = place + len(part)


# ---- Typing ----------------------------------------------------------------


def typed(command, folder, env, limit_s):
    """Runs a command as at a terminal: what it started ends when this driver does.
    @return its exit code, and the lines that it printed"""
    terminal, inside = pty.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    process = subprocess.Popen(["bash", "-c", command], stdin=inside, stdout=inside, stderr=inside,
                               cwd=folder, env=env | {"TERM": "xterm"}, start_new_session=True,
                               preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
    os.close(inside)
    try:
        text = read_all(terminal, time.monotonic() + limit_s)
        if text is not None:
            return process.wait(timeout=limit_s), as_lines(text)
    finally:
        os.close(terminal)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    raise Failure(f"{command}: no end after {limit_s} s")


def read_all(terminal, deadline):
    """@return None if the deadline comes first"""
    parts = []
    while select.select([terminal], [], [], max(0, deadline - time.monotonic()))[0]:
        try:
            part = os.read(terminal, 1 << 16)
        except OSError:  # EIO: no process has the terminal any more
            part = b""
        if not part:
            return b"".join(parts).decode(errors="replace")
        parts.append(part)
    return None


def as_lines(text):
    """Without colours; of a line that was written over, its last state."""
    text = ESCAPES.sub("", text).replace("\r\n", "\n").removesuffix("\n")
    return [line.rpartition("\r")[2] for line in text.split("\n")]
