#!/usr/bin/env python3
# test_browser.py: the page of memledger view in Chromium and Firefox, with recordings of real programs.
# What is checked is in web/tests/browser.
#
# SPDX-License-Identifier: Apache-2.0
import os
import shutil
import subprocess
import sys

import harness
from harness import MEMLEDGER, Skip, check, equal, plain, program

PAGE = os.environ["TEST_PAGE"]
TRAIN = os.environ["TEST_TRAINING"]
PROGRAM = ("import json, subprocess, sys\n"
           "def read(count): return [{'number': i, 'text': str(i) * 9} for i in range(count)]\n"
           "kept = [json.dumps(read(2000)) for _ in range(12)]\n"
           "subprocess.run([sys.executable, '-c', 'import json'])\n")
# Where browsers differ: drawing, pointer, wheel, keys, styles, parsing of names.
IN_FIREFOX = ("fitted to the steps", "a click chooses a moment", "keys go to", "search finds a layer",
              "a click on a block", "zoomed with the wheel", "stacks have", "two runs", "dark is a switch",
              "markup in names", "a damaged trace", "an empty trace")
MARKUP = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>'


def record(name, *command, options=()):
    done = plain(MEMLEDGER, "run", "-q", "-o", name, *options, "--", *command)
    equal(done.returncode, 0, f"recording {name}", done.stderr)
    return os.path.abspath(name)


def train(name, batch):
    return record(name, sys.executable, TRAIN, "--steps", "3", "--batch", batch, "--length", "32",
                  "--width", "64", "--vocabulary", "500")


def long_run():
    """So many events that they take several blocks of the file."""
    program = "import json\nfor _ in range(60): json.dumps([{'text': str(k)} for k in range(900)])"
    return record("long.mled", "env", "PYTHONMALLOC=malloc", sys.executable, "-c", program,
                  options=["--heap"])


def damage(trace, name):
    """A trace whose middle is not what was written."""
    with open(trace, "rb") as f:
        data = bytearray(f.read())
    middle = len(data) // 2
    for i in range(middle, middle + 16):
        data[i] ^= 0xff
    with open(name, "wb") as f:
        f.write(data)
    done = plain(MEMLEDGER, "summary", name)
    check(done.returncode != 0 and "--salvage" in done.stderr, "the trace is not damaged", done.stderr)
    return os.path.abspath(name)


def recordings():
    heap = record("heap.mled", sys.executable, "-c", PROGRAM, options=["--heap", "--stacks=all"])
    return [train("batch-2.mled", "2"), train("batch-4.mled", "4"),
             record("markup.mled", program("odd_names"), MARKUP), damage(long_run(), "damaged.mled"),
             record("empty.mled", "true"), heap]


def check_page(browser, path, *names):
    files = ":".join(recordings())
    done = subprocess.run(["node", "tests/browser/check.mjs", *names], cwd=PAGE, text=True, timeout=900,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, "BROWSER": browser, browser.upper(): path,
                               "MEMLEDGER_FILES": files})
    print(done.stdout)
    failed = [line[len("failed: "):] for line in done.stdout.splitlines() if line.startswith("failed: ")]
    equal(failed, [], f"checks that failed in {browser}", done.stdout)
    equal(done.returncode, 0, "the exit code", done.stdout)


def test_chromium():
    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if not path:
        raise Skip("no chromium; apt-get install chromium")
    check_page("chromium", path)


def test_firefox():
    path = os.environ.get("FIREFOX") or shutil.which("firefox-esr")
    if not path:
        raise Skip("no firefox-esr; apt-get install firefox-esr")
    check_page("firefox", path, *IN_FIREFOX)


harness.main(globals())
