#!/usr/bin/env python3
# test_readme.py: what README.md says, from top to bottom: its commands run and print what it shows.
#
# test_this_build types the commands whose output README shows, with the programs of this build.
# test_clone does what a newcomer does: it types every command in a clean clone, which builds three
# times, for many minutes.
#
# SPDX-License-Identifier: Apache-2.0
import ctypes
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys

import harness
import pypi
import torch_support
import transcripts
from harness import check, contains, equal, plain

SOURCE = pathlib.Path(os.environ["TEST_SOURCE"])
README = (SOURCE / "README.md").read_text()
SHOWN_PYTORCH = re.search(r"with PyTorch (\d+\.\d+)", README)[1]
LIMIT_S = 1200  # of a command; it ends what hangs
BUILD_LIMIT_S = 3600


class Place:
    """A folder in which commands are typed, with programs that come first in PATH."""

    def __init__(self, folder, *programs):
        self.folder = pathlib.Path(folder).absolute()
        links = pathlib.Path("bin").absolute()
        links.mkdir()
        # README's `python` is one with PyTorch, which the distribution calls python3.
        (links / "python").symlink_to(torch_support.PYTHON)
        # Stands in for the desktop's xdg-open: it writes down which page it was asked to open.
        (links / "xdg-open").write_text(f'#!/bin/sh\necho "$1" >{links}/part && mv {links}/part {links}/opened\n')
        (links / "xdg-open").chmod(0o755)
        self.opened = links / "opened"
        self.path = [*programs, links]

    def environment(self, first=()):
        """A newcomer's: without the variables of the tests and of the make or git that started them."""
        env = {name: value for name, value in os.environ.items()
               if not re.match("MEMLEDGER|TEST_|PYTHON|LD_|MALLOC_|MAKE|MFLAGS|GIT_|DESTDIR|PREFIX|MESON", name)}
        return env | {"PATH": ":".join(map(str, [*first, *self.path, os.environ["PATH"]]))}

    def type(self, command, limit_s=LIMIT_S, first=()):
        print(f"$ {command}", flush=True)
        code, lines = transcripts.typed(command, self.folder, self.environment(first), limit_s)
        equal(code, 0, f"exit code of {command}", *lines[-100:])
        return lines

    def plain(self, *command, code=0, **settings):
        done = plain(*command, cwd=self.folder, env=self.environment(), timeout=LIMIT_S, **settings)
        check(code is None or done.returncode == code,
              f"exit code {done.returncode} of {shlex.join(map(str, command))}", done.stdout, done.stderr)
        return done


# ---- The blocks ------------------------------------------------------------


def has_shown_pytorch():
    return SHOWN_PYTORCH == ".".join(map(str, torch_support.version()))


def has_gpu_driver():
    try:
        return bool(ctypes.CDLL("libnvidia-ml.so.1"))
    except OSError:
        return False


def need_shown_pytorch():
    """At the end of a test: look_at() did not compare everything if another PyTorch is installed."""
    if not has_shown_pytorch():
        raise harness.Skip(f"README shows the output with PyTorch {SHOWN_PYTORCH}, and this is "
                           f"{'.'.join(map(str, torch_support.version()))}; all but that output was compared",
                           machine=True)


def look_at(place, step):
    """Types a command, compares its output, and types the next command that it suggests."""
    lines = place.type(step.command)
    if has_gpu_driver():
        step.shown = [line for line in step.shown if not transcripts.NO_GPU.fullmatch(line)]
    if "gpt.mled" not in step.command or has_shown_pytorch():
        transcripts.compare(step, lines)
    for line in lines:
        if line.startswith("memledger: next: "):
            contains("\n".join(place.type(line.partition("next: ")[2])), "peak", f"the output of {line}")


# ---- The sentences ---------------------------------------------------------


def description(picture):
    """Of a plot: its peak, without the time, and the categories that have bytes then."""
    text = re.search(r"<desc[^>]*>(.*?)</desc>", picture.read_text())[1]
    return re.sub(transcripts.DURATION + r"| [^:.]+: 0 B then\.", "", text)


def look_at_picture(place):
    """`memledger plot` draws the numbers of README's first picture."""
    picture, words = re.search(r"!\[([^]]*)\]\((docs/images/[^)]*)\)", README).group(2, 1)
    place.plain("memledger", "plot", "-o", "picture.svg", "gpt.mled")
    peak = re.search(r"peak of ([\d.]+ [KMG]iB)", words)[1]
    contains(description(SOURCE / picture), f"peak {peak}", picture)
    if has_shown_pytorch():
        equal(description(place.folder / "picture.svg"), description(SOURCE / picture), picture)


def look_at_page(place, command):
    """`memledger view` opens the browser, and serves until Ctrl-C."""
    process = subprocess.Popen(shlex.split(command), cwd=place.folder, env=place.environment(), text=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        contains(harness.read_line(process), "http://127.0.0.1:", f"the first line of {command}")
        harness.wait_until(place.opened.exists, "a page in the browser", LIMIT_S)
        contains(pathlib.Path(place.opened.read_text().strip()).read_text(), "http://127.0.0.1:", "the page")
    finally:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=LIMIT_S)
    equal(process.returncode, 0, f"exit code of {command}", out, err)


# Those of the commands named alone that say on this recording why they have no answer: it has no GPU,
# and no allocation failed.
NO_ANSWER = {"ledger": "no GPU memory was recorded", "oom": "no allocation was refused"}


def look_at_command(place, verb):
    """A command without arguments: it exists, and reads the recording if it reads any."""
    usage = place.plain("memledger", verb, "--help").stdout.splitlines()[0]
    contains(usage, f"Usage: memledger {verb} ", f"the help of {verb}")
    if verb == "import" or not re.search(r"\bFILE\b", usage):
        return  # it reads other tools' files, or none
    files = ["batch8.mled", "batch4.mled"] if verb == "compare" else ["gpt.mled"]
    done = place.plain("memledger", verb, *files, code=None)
    if verb in NO_ANSWER and not (verb == "ledger" and has_gpu_driver()):
        equal(done.returncode, 1, f"exit code of {verb}", done.stdout)
        contains(done.stderr, NO_ANSWER[verb], f"the output of {verb}")
    else:
        equal(done.returncode, 0, f"exit code of {verb}", done.stderr)


def look_at_sentences(place):
    """The commands in the text and in the table of questions, on the recording of the first block."""
    commands = transcripts.inline(README, "memledger")
    check(len(commands) >= 10, "few commands", commands)
    for copy in ("batch8.mled", "batch4.mled"):  # of other recordings than this one
        shutil.copy(place.folder / "gpt.mled", place.folder / copy)
    for command in commands:
        words = command.split()
        if len(words) == 2:
            look_at_command(place, words[1])
        elif words[1] != "view":
            place.plain(*words)
        elif "WITH_VIEWER" in os.environ:
            look_at_page(place, command)
    for command in transcripts.inline(README, "make"):
        plain_make(place, SOURCE, *command.split()[1:])
    look_at_picture(place)


def plain_make(place, folder, *arguments):
    """What make would run there."""
    return place.plain("make", "-n", "--no-print-directory", "-C", folder, *arguments).stdout


def test_this_build():
    os.mkdir("clone")
    os.symlink(SOURCE / "examples", "clone/examples")
    os.symlink(os.environ["TEST_BUILD"], "clone/build")
    place = Place("clone", os.path.dirname(harness.MEMLEDGER))
    shown = [step for step in transcripts.steps(README) if step.shown is not None]
    check(len(shown) >= 3, "few commands with their output", *shown)
    for step in shown:
        look_at(place, step)
    look_at_sentences(place)
    need_shown_pytorch()


# ---- A clean clone ---------------------------------------------------------


def clone(folder):
    """Of the commit that is checked out, with the files that are not committed yet, if git does not
    ignore them."""
    if not (SOURCE / ".git").exists():
        raise harness.Skip(f"{SOURCE} is not a clone of the repository", machine=True)
    commit = git("-C", SOURCE, "rev-parse", "HEAD").strip()
    git("clone", "--quiet", "--no-checkout", SOURCE, folder)
    git("-C", folder, "checkout", "--quiet", "--detach", commit)
    changed = git("-C", SOURCE, "diff", "--name-only", "--no-renames", "-z", commit)
    untracked = git("-C", SOURCE, "ls-files", "--others", "--exclude-standard", "-z")
    for name in filter(None, (changed + untracked).split("\0")):
        copy_state(SOURCE / name, pathlib.Path(folder) / name)


def copy_state(source, target):
    """Afterwards the target is as the source: the same file or link, or none."""
    target.unlink(missing_ok=True)
    if source.is_symlink() or source.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target, follow_symlinks=False)


def git(*command):
    done = plain("git", "--no-optional-locks", *command, timeout=LIMIT_S)
    equal(done.returncode, 0, f"exit code of git {command}", done.stderr)
    return done.stdout


def need_network():
    """`make` gets the packages of the page from npm, and `pip install .` its tools from PyPI."""
    pypi.call("get a package from PyPI", sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
              "--disable-pip-version-check", "--dest", "packages", "meson-python")


def make_demo(place, command):
    """Records the four algorithms and compares them, and names a command to go on with."""
    lines = place.type(command, BUILD_LIMIT_S)
    for algorithm in ("direct", "im2col", "fft", "winograd"):
        check((place.folder / f"build/demo/vgg19-{algorithm}.mled").exists(), f"no recording of {algorithm}")
        check(any(re.match(rf"{algorithm} +[\d.]+ [MG]iB ", line) for line in lines),
              f"{algorithm} is not in the table", *lines[-60:])
    (after,) = [line for line in lines if line.strip().startswith("build/src/cli/memledger summary ")]
    place.type(after.strip())


def make_test(place, _command):
    """Checks only which script `make test` would run, because this is one of its tests. make() runs a
    single test and looks at the line with which that ends."""
    equal(plain_make(place, ".", "test").split()[-1], "scripts/test.sh", "the last script of make test")


def make(place, command):
    place.type(command, BUILD_LIMIT_S)
    equal(place.plain("ninja", "-C", "build", "-n").stdout.splitlines()[-1], "ninja: no work to do.",
          "what make has left to build")
    # The end of `make test`, with one test.
    end = place.type("python tests/suite/run_tests.py --folder plain options")[-1]
    check(re.fullmatch(r"1 passed, 0 failed", end), "the last line of make test", end)


def make_install(place, command):
    """As README says, into a folder that needs no sudo: what would be in /usr/local is there."""
    place.type(f"{command.removeprefix('sudo ')} DESTDIR={shlex.quote(str(place.folder / 'root'))}", BUILD_LIMIT_S)
    installed = place.folder / "root/usr/local"
    check((installed / "include/memledger/memledger.h").exists(), "the C header is not installed")
    try_installed(place, installed / "bin")


def pip_install(place, command):
    """Into an environment of its own, with the tools that pip gets for the build."""
    place.plain(sys.executable, "-m", "venv", "environment")
    programs = place.folder / "environment/bin"
    place.type(command, BUILD_LIMIT_S, first=[programs])
    try_installed(place, programs)
    place.type("python -c 'import memledger; print(len(memledger.read(\"installed.mled\").allocations))'",
               first=[programs])


def try_installed(place, programs):
    check((programs / "memledger").exists(), f"no command in {programs}")
    equal(place.type("memledger --version", first=[programs]), place.type("build/src/cli/memledger --version"),
          "the version that is installed")
    place.type("memledger run --heap -f -o installed.mled -- true", first=[programs])
    place.type("memledger summary installed.mled", first=[programs])


# The commands that are more than typed. Every other one is typed as README has it.
IN_CLONE = {
    "make demo": make_demo,
    "make test": make_test,
    "make": make,
    "sudo make install": make_install,
    "pip install .": pip_install,
}


def test_clone():
    need_network()
    clone("clone")
    place = Place("clone", pathlib.Path("clone/build/src/cli").absolute())
    steps = transcripts.steps(README)
    unknown = [command for command in IN_CLONE if command not in [step.command for step in steps]]
    check(not unknown, "commands that README does not have", *unknown)
    for step in steps:
        if step.shown is not None:
            look_at(place, step)
        else:
            IN_CLONE.get(step.command, Place.type)(place, step.command)
    look_at_sentences(place)
    need_shown_pytorch()


harness.main(globals())
