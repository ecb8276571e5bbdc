# outcome.py: how a program ended, with memledger and without, in words that compare.
#
# SPDX-License-Identifier: Apache-2.0
import os
import re
import signal
import subprocess

# The ways to run a program; the first is the one that the others are compared with.
MODES = {
    "bare": None,
    "run": [],
    "--heap": ["--heap"],
    "--heap=all": ["--heap=all"],
}
RECORDED = [mode for mode in MODES if mode != "bare"]


class Failure(Exception):
    pass


def check(condition, message, *details):
    if not condition:
        raise Failure("\n".join([message, *map(str, details)]))


class Outcome:
    """What the world sees of a program: exit code, output, errors. None as the code: it did
    not end in time."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def same_as(self, other):
        return (self.code, self.out, self.err) == (other.code, other.out, other.err)

    def without_numbers(self):
        """For programs that print the time, a process id or an address."""
        blur = lambda text: re.sub(r"0x[0-9a-f]+|[0-9]+", "N", text)
        return Outcome(self.code, blur(self.out), blur(self.err))

    def __str__(self):
        code = "no end" if self.code is None else f"exit code {self.code}"
        return f"{code}\n--- stdout\n{self.out[-2000:]}\n--- stderr\n{self.err[-2000:]}"


def end_group(process):
    """Ends whatever a program has left behind in its session."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Recorder:
    """Puts memledger before a command."""

    def __init__(self, memledger):
        self.memledger = memledger

    def command(self, mode, trace, command):
        if MODES[mode] is None:
            return list(command)
        return [self.memledger, "run", "-q", "-f", "-o", trace, *MODES[mode], "--", *command]

    def losses(self, trace):
        """Events lost, as the trace says; a trace that cannot be read is a failure."""
        done = subprocess.run([self.memledger, "summary", "--json", trace], capture_output=True,
                              text=True, timeout=600)
        check(done.returncode == 0, f"{trace} cannot be read", done.stderr)
        return int(re.search(r'"lost": *([0-9]+)', done.stdout).group(1))


# What memledger may say beside a program that runs as it does alone. Any other note is a difference.
NOTES = [re.compile(rf"memledger: {note}\n?") for note in (
    ".* (is statically linked|is not an x86-64 program|has file capabilities"
    "|runs with the rights of another (user|group)).*; it runs unrecorded",
    "the program's own malloc, in .*, hides the recorder's; the heap is not recorded",
    "[0-9]+ process(es)? (was|were) not recorded: started in a sandbox .*",
    "[0-9]+ process(es)? (is|are) still running, not recorded from here on; --wait waits",
    "[0-9,]+ events? (was|were) lost",  # what may lose events is decided by the trace
)]


def own_words(text):
    """What the program wrote: without the notes that memledger may make."""
    return "".join(line for line in text.splitlines(keepends=True)
                   if not any(note.fullmatch(line) for note in NOTES))


def observe(command, timeout_s, **popen):
    """Runs a command in a session of its own, to its end or to the end of the time."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, start_new_session=True, **popen)
    try:
        out, err = process.communicate(timeout=timeout_s)
        code = process.returncode
    except subprocess.TimeoutExpired:
        end_group(process)
        out, err = process.communicate()
        code = None
    end_group(process)
    return Outcome(code, out.decode(errors="replace"), own_words(err.decode(errors="replace")))
