#!/usr/bin/env python3
# test_live_terminal.py: `memledger live` on a terminal (tmux).
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import re
import shutil
import subprocess
import sys

import harness
from harness import MEMLEDGER, Skip, check, contains, equal
from kernel_counts import wait_until_asleep
from live_support import Training, listed, live


class Terminal:
    """A command on a terminal of its own."""

    def __init__(self, *command, width=100, height=24, term=None):
        if not shutil.which("tmux"):
            raise Skip("no tmux here")
        self.tmux = ["tmux", "-S", os.path.abspath("tmux"), "-f", "/dev/null"]
        env = os.environ | {"LC_ALL": "C.UTF-8"}
        env.pop("TMUX", None)
        words = (f"env TERM={term} " if term else "") + " ".join(command)
        subprocess.run([*self.tmux, "new-session", "-d", "-x", str(width), "-y", str(height),
                        f"{words}; echo exit code $?; cat"], check=True, env=env)

    def press(self, *keys):
        subprocess.run([*self.tmux, "send-keys", *keys], check=True)

    def wait_for_refreshes(self):
        """Each round ends in one sleep, and a key or a slow terminal adds few."""
        shell = subprocess.run([*self.tmux, "list-panes", "-F", "#{pane_pid}"], check=True, text=True,
                               capture_output=True).stdout
        [pid] = harness.children(int(shell))
        wait_until_asleep(pid, 20, "rounds of live")

    def screen(self):
        return subprocess.run([*self.tmux, "capture-pane", "-p"], check=True, text=True,
                              capture_output=True).stdout

    def wait_for(self, pattern):
        seen = [""]

        def is_there():
            seen[0] = self.screen()
            return re.search(pattern, seen[0])

        try:
            harness.wait_until(is_there, pattern)
        except harness.Failure:
            raise harness.Failure(f"no {pattern!r} on the screen:\n{seen[0]}") from None
        return seen[0]

    def resize(self, width, height):
        subprocess.run([*self.tmux, "resize-window", "-x", str(width), "-y", str(height)],
                       check=True)

    def close(self):
        subprocess.run([*self.tmux, "kill-server"], check=False, capture_output=True)


def without_curves(screen):
    return re.sub(r"(?m)[ \u2581-\u2588]+$", "", screen)


def size(screen, row):
    line = next(line for line in screen.splitlines() if line.startswith(row))
    return re.search(r"([0-9.]+ [KMG]?i?B)", line[len(row):])[1]


def test_terminal():
    training = Training()
    terminal = Terminal(MEMLEDGER, "live", "t.mled")
    try:
        equal(size(terminal.wait_for("parameter "), "parameter"), "300.0 KiB", "parameters")
        training.go_on()
        screen = terminal.wait_for("activation ")
        equal(size(screen, "activation"), "90.0 KiB", "activations after forward")
        contains(screen, "recording, last event", "the first line")
        terminal.press("Enter")  # the largest: parameters
        screen = terminal.wait_for(r"parameter > by module, 3 rows")
        equal(size(screen, "Net > layers.0.fc"), "100.0 KiB", "parameters of a layer")
        terminal.press("/", "2.fc")
        terminal.wait_for(r"by module, 1 row, .*/2\.fc")
        terminal.press("Escape")
        terminal.wait_for(r"by module, 3 rows")
        terminal.press("BSpace")
        terminal.wait_for(r"(?m)^by category")
        terminal.resize(60, 15)
        screen = terminal.wait_for("parameter ")
        check(all(len(line) <= 60 for line in screen.splitlines()), "a line is too long", screen)
        terminal.resize(120, 30)
        terminal.wait_for("last 5 minutes")
        terminal.press("Space")
        terminal.wait_for("FROZEN")
        terminal.wait_for_refreshes()
        # The curves of the last five minutes go on.
        frozen = without_curves(terminal.screen())
        contains(frozen, "activation", "a frozen screen")
        training.go_on()
        terminal.wait_for_refreshes()
        equal(without_curves(terminal.screen()), frozen, "a frozen screen after more events")
        terminal.press("Space")
        terminal.wait_for("gradient ")
        terminal.press("?")
        terminal.wait_for("freeze the screen, and go on")
        terminal.press("x", "s")
        name = re.search(r"saved (\S+)", terminal.wait_for(r"saved \S+"))[1]
        saved = json.load(open(name))
        equal({r["name"]: r["bytes"] for r in saved["rows"]},
              {"parameter": 307200, "gradient": 307200}, "the saved rows", saved)
        terminal.press("q")
        screen = terminal.wait_for("exit code 0")
        check("by category" not in screen, "the screen afterwards", screen)
    finally:
        terminal.close()
        training.leave()


def test_list_on_a_terminal():
    """A long command line is cut to the width of the terminal, and whole elsewhere."""
    code = "import sys; sys.stdin.read(); " + "; ".join(f"part_{i} = {i}" for i in range(40))
    run = harness.start(sys.executable, "-c", code, stdin=subprocess.PIPE)
    listed()
    contains(live(), "part_39 = 39", "the list in a pipe")
    terminal = Terminal(MEMLEDGER, "live", width=90, height=50)
    try:
        screen = terminal.wait_for("exit code 0")
        lines = screen.splitlines()
        lines = lines[next(i for i, line in enumerate(lines) if line.startswith("-------")):]
        check(all(re.match(r"-|exit code| *[0-9]+ +(recording|paused) |memledger resume| +\S+ ", line)
                  for line in lines if line), "a row in several lines", screen)
        check(any("39 = 39" in line for line in lines), "the end of the command", screen)
    finally:
        terminal.close()
    harness.finish(run)


def test_dumb_terminal():
    """A line a second where nothing can be drawn, until the recording ends."""
    training = Training()
    terminal = Terminal(MEMLEDGER, "live", "t.mled", term="dumb", width=120)
    try:
        terminal.wait_for(r"cpu  now 300\.0 KiB  peak 300\.0 KiB")
        training.leave()
        terminal.wait_for("exit code 0")
    finally:
        terminal.close()


harness.main(globals())
