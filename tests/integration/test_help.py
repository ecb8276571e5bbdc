#!/usr/bin/env python3
# test_help.py: help texts fit 80 columns and refer to pages that an installed memledger has;
# `memledger help` finds those pages and shows them with a pager; manual pages exist.
#
# SPDX-License-Identifier: Apache-2.0
import fcntl
import os
import pathlib
import pty
import re
import shutil
import signal
import struct
import subprocess
import termios

import harness
from harness import MEMLEDGER, check, contains, equal, plain

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGES = ROOT / "docs"
BUILT_PAGES = pathlib.Path(MEMLEDGER).parent.parent.parent / "docs"
TRACES = sorted((ROOT / "tests/golden/traces").glob("*.mled"))
COLUMNS = 80
HIDDEN = ["collect"]  # commands that --help does not list


def commands():
    return re.findall(r"^  ([a-z]+)  ", plain(MEMLEDGER, "--help").stdout, re.MULTILINE)


def too_wide(text):
    return [line for line in text.splitlines() if len(line) > COLUMNS]


def on_terminal(*arguments, columns=COLUMNS, environment=None, program=MEMLEDGER):
    """What memledger writes to a terminal of that width, and its exit code."""
    env = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "PAGER", "MANPAGER", "LESS")}
    env.update({"TERM": "xterm", "NO_COLOR": "1", **(environment or {})})
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    with subprocess.Popen([program, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=theirs,
                          stderr=theirs, env=env) as process:
        os.close(theirs)
        text = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # all is closed
                break
            if not piece:
                break
            text += piece
    os.close(ours)
    return text.decode().replace("\r\n", "\n"), process.returncode


# ---- --help ---------------------------------------------------------------------------


def test_help_fits():
    for arguments in [["--help"], ["help", "topics"],
                      *([c, "--help"] for c in [*commands(), *HIDDEN])]:
        done = plain(MEMLEDGER, *arguments)
        equal(done.returncode, 0, f"exit code of {arguments}", done.stderr)
        check(not too_wide(done.stdout), f"{arguments}: wider than {COLUMNS} columns",
              *too_wide(done.stdout))


def test_help_groups():
    text = plain(MEMLEDGER, "--help").stdout
    examples = re.findall(r"^  (memledger .*?)  ", text, re.MULTILINE)
    equal(examples[0], "memledger run -- python train.py", "the first example")
    groups = re.findall(r"^(\w.*):$", text, re.MULTILINE)
    equal([g.split()[0] for g in groups], ["Record", "Look", "Compare", "Find", "Exchange", "Get"],
          "groups")
    check(len(commands()) == len(set(commands())) >= 20, "commands", commands())


def test_no_source_paths():
    """No text in the program names a file of the source tree."""
    found = re.findall(rb"[ -~]*docs/[ -~]*", pathlib.Path(MEMLEDGER).read_bytes())
    named = [text for text in found if not text.startswith(b"../")
             and str(ROOT).encode() not in text and b".c" not in text]
    check(not named, "paths of the source tree in the program", *named)


# ---- Pages ----------------------------------------------------------------------------


def topics():
    text = plain(MEMLEDGER, "help", "topics").stdout
    return re.findall(r"^  ([a-z0-9-]+)  ", text, re.MULTILINE)


def test_pages():
    equal(topics(), sorted(page.stem for page in PAGES.glob("[a-z]*.md")), "topics")
    for topic in [*commands(), *HIDDEN, *topics()]:
        page = plain(MEMLEDGER, "help", topic)
        equal((page.returncode, page.stderr), (0, ""), f"help {topic}")
        folder = "commands" if topic in [*commands(), *HIDDEN] else ""
        title = (PAGES / folder / f"{topic}.md").read_text().splitlines()[0].strip("# ")
        equal(page.stdout.splitlines()[0], title.replace("`", ""), f"title of {topic}")
        check(".md)" not in page.stdout, f"a link is left in {topic}", page.stdout)
        check("|---" not in page.stdout, f"a table is left in {topic}", page.stdout)


def test_pages_are_all_built():
    """docs/meson.build lists every page that a user may ask for."""
    missing = [str(page.relative_to(PAGES)) for page in PAGES.glob("**/*.md")
               if page.name[0].islower() and not (BUILT_PAGES / page.relative_to(PAGES)).exists()]
    check(not missing, "pages that docs/meson.build does not list", *missing)


def test_unknown_topics():
    done = plain(MEMLEDGER, "help", "sumary")
    equal(done.returncode, 2, "exit code")
    contains(done.stderr, "did you mean summary?", "error")
    contains(done.stderr, "memledger help topics", "error")
    contains(plain(MEMLEDGER, "help", "torch").stderr, "pytorch", "error")
    equal(plain(MEMLEDGER, "help", "../README").returncode, 2, "exit code of a path")


def install(*folders):
    """A copy of the program with its pages where `folders` says, relative to it."""
    program = pathlib.Path("tree/bin/memledger")
    program.parent.mkdir(parents=True)
    shutil.copy2(MEMLEDGER, program)
    for folder in folders:
        shutil.copytree(PAGES, program.parent / folder)
    return str(program.resolve())


def test_installed():
    program = install("../share/doc/memledger/docs")
    contains(plain(program, "help", "sampling").stdout, "Sampling", "the page")


def test_in_a_wheel():
    program = install("../docs")
    contains(plain(program, "help", "sampling").stdout, "Sampling", "the page")


def test_not_installed():
    program = install()
    contains(plain(program, "help", "run").stdout, "Usage: memledger run", "the options instead")
    done = plain(program, "help", "sampling")
    equal(done.returncode, 1, "exit code")
    contains(done.stderr, "install memledger again", "error")


# ---- The pager ------------------------------------------------------------------------


def test_pager():
    pager = {"PAGER": "cat >shown; echo paged"}
    equal(on_terminal("help", "run", environment=pager), ("paged\n", 0), "output")
    contains(pathlib.Path("shown").read_text(), "memledger run", "what the pager got")
    equal(plain(MEMLEDGER, "help", "run").stdout, pathlib.Path("shown").read_text(),
          "what a pipe gets")
    text, _ = on_terminal("help", "run", environment={**pager, "MANPAGER": "echo manual"})
    equal(text, "manual\n", "output with MANPAGER")


def test_signals_of_the_pager():
    """It is interrupted as if the shell had started it."""
    text, _ = on_terminal("help", "run", environment={"PAGER": "grep SigIgn /proc/self/status"})
    ignored = int(text.split()[1], 16)
    for number in (signal.SIGINT, signal.SIGPIPE):
        check(not ignored >> (number - 1) & 1, f"the pager ignores {number!r}", text)


def test_no_pager():
    for pager in ("", "cat", "no-such-pager 2>/dev/null"):
        text, code = on_terminal("help", "run", environment={"PAGER": pager})
        equal(code, 0, f"exit code with PAGER={pager!r}")
        contains(text, "memledger run", "output")


def test_pager_left_early():
    text, code = on_terminal("help", "mxnet", environment={"PAGER": "exit 0"})
    equal((text, code), ("", 0), "output and exit code")


def test_width_of_a_page():
    wide, _ = on_terminal("help", "sampling", columns=200, environment={"PAGER": "cat"})
    narrow, _ = on_terminal("help", "sampling", columns=60, environment={"PAGER": "cat"})
    prose = [line for line in wide.splitlines() if not line.startswith("    ")]
    check(80 < max(map(len, prose)) <= 100, "the width at 200 columns", max(map(len, prose)))
    prose = [line for line in narrow.splitlines() if not line.startswith("    ")]
    check(max(map(len, prose)) <= 60, "the width at 60 columns", max(prose, key=len))


# ---- Manual pages ---------------------------------------------------------------------


def test_manual_pages():
    for command in ["", *commands(), *HIDDEN]:
        name = f"memledger-{command}" if command else "memledger"
        text = (BUILT_PAGES / "commands" / f"{name}.1").read_text()
        check(re.search(r"^\.SH NAME\n" + name.replace("-", r"\\-") + r" \\- \S", text, re.MULTILINE),
              f"{name}.1 has no name", text[:300])
        contains(text, ".SH SYNOPSIS", f"{name}.1")
        check("|---" not in text.replace("\\-", "-"), f"a table is left in {name}.1")
    if shutil.which("man"):
        done = plain("man", "--warnings", "-l", str(BUILT_PAGES / "commands/memledger-run.1"))
        equal((done.returncode, done.stderr), (0, ""), "man")


# ---- Reports on a terminal ------------------------------------------------------------


def test_events_fit():
    check(len(TRACES) > 3, "few traces", TRACES)
    for trace in TRACES:
        text, _ = on_terminal("events", "--limit", "2000", trace)
        check(not too_wide(text), f"events {trace.name}: wider than the terminal", *too_wide(text))


def test_errors_fit():
    for arguments in (["export", TRACES[0]], ["help", "x" * 20], ["plot", "-o", "x", TRACES[0]],
                      ["table", "--temporary", "--at", "end", TRACES[0]],
                      ["export", "--format", "feather", TRACES[0]]):
        text, code = on_terminal(*arguments)
        equal(code, 2, f"exit code of {arguments}", text)
        check(not too_wide(text), f"{arguments}: wider than the terminal", *too_wide(text))


def test_pipes_get_whole_names():
    """A pipe has no width: names are whole. A terminal of 60 columns has not room for them."""
    trace = ROOT / "tests/golden/traces/modules.mled"
    piped = plain(MEMLEDGER, "summary", str(trace),
                  env={k: v for k, v in os.environ.items() if k != "COLUMNS"}).stdout
    check("…" not in piped, "a name is cut in a pipe", piped)
    text, _ = on_terminal("summary", trace, columns=60)
    check("…" in text, "nothing was cut at 60 columns", text)


harness.main(globals())
