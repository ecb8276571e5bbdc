#!/usr/bin/env python3
# test_docs_examples.py: the pages for users of other tools show what memledger prints today. Runs
# the commands of their examples that need only the files in tests/data.
#
# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import re
import shutil

import harness
from harness import MEMLEDGER, check, equal, plain

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Programs that are not here, and files that a recording of them makes.
NEEDS_MORE = re.compile(r"memledger run|memory_analysis|theirs|lstm|train| winograd\.mled")


def examples(page):
    """The typed commands of a page, each with the lines that it shows below it."""
    for block in re.findall(r"^```\n(.*?)^```", (ROOT / "docs" / page).read_text(), re.M | re.S):
        lines = iter(block.splitlines())
        command, shown = None, []
        for line in lines:
            if not line.startswith("$ "):
                shown.append(line)
                continue
            if command:
                yield command, shown
            command, shown = whole_command(line[2:], lines), []
        if command:
            yield command, shown


def whole_command(command, lines):
    """With the lines after a backslash, or up to the END of its input."""
    while command.endswith("\\"):
        command += "\n" + next(lines)
    while "<<'END'" in command and not command.endswith("\nEND"):
        command += "\n" + next(lines)
    return command


def check_shown(command, shown, printed):
    """`...` stands for any lines."""
    text = "".join(f"{line}\n" for line in shown)
    parts = map(re.escape, re.split(r"^\.\.\.\n", text, flags=re.MULTILINE))
    check(re.fullmatch("(?:.*\n)*".join(parts), printed), f"another result of {command}", printed)


def run_examples(page, at_least):
    environment = os.environ | {"PATH": f"{os.path.dirname(MEMLEDGER)}:{os.environ['PATH']}"}
    count = 0
    for command, shown in examples(page):
        if NEEDS_MORE.search(command):
            continue
        done = plain("bash", "-c", f"exec 2>&1; {command}", env=environment, cwd=os.getcwd())
        equal(done.returncode, 0, f"exit code of {command}", done.stdout)
        check_shown(command, shown, done.stdout)
        count += 1
    check(count >= at_least, f"few examples in {page}", count)


def test_from_tbd_tools():
    os.makedirs("logs")
    os.makedirs("tests")
    os.symlink(ROOT / "tests/data", "tests/data")
    shutil.copy("tests/data/tbd/conv_resnet_log", "logs")
    run_examples("from-tbd-tools.md", 3)
    text = pathlib.Path("ours.txt").read_text()
    page = (ROOT / "docs/from-tbd-tools.md").read_text()
    shown = re.search(r"^Workspace = .*? done\n", page, re.M | re.S)[0].splitlines()
    check_shown("groups", shown, text[text.index("Workspace"):])


def test_from_mxnet_profiler():
    os.makedirs("tests")
    os.symlink(ROOT / "tests/data", "tests/data")
    run_examples("from-mxnet-profiler.md", 4)


def test_from_hp3():
    for path in (ROOT / "tests/data/smi").glob("memory_*.txt"):
        shutil.copy(path, ".")
    run_examples("from-hp3.md", 5)


def test_heap_profilers():
    os.symlink(ROOT / "tests", "tests")
    run_examples("from-heaptrack.md", 1)
    run_examples("from-memray.md", 1)


harness.main(globals())
