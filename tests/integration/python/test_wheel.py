#!/usr/bin/env python3
# test_wheel.py: `pip install` of this project: one wheel with the command, the recorder and the
# package, built once and tested in its own environment.
#
# Needs the network for meson-python.
#
# SPDX-License-Identifier: Apache-2.0
import functools
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import zipfile

import harness
import pypi
import released_libdw
import served_page
from harness import check, contains, equal, plain

SOURCE = os.environ["TEST_SOURCE"]
REQUIREMENTS = os.path.join(SOURCE, "scripts", "requirements-wheel.txt")
FOLDER = os.path.join(os.environ["PYPI_FOLDER"], "wheel")
BUILD_S = 1800  # also on a slow machine: this only ends what hangs
# The page is built once, not by npm for each wheel.
PAGE = [f"--config-settings=setup-args=-Dpage={os.environ['BUILT_PAGE']}"] if "BUILT_PAGE" in os.environ else []


def clean(env=None):
    """Outside of the test's own package path."""
    env = dict(os.environ if env is None else env)
    for name in ("PYTHONPATH", "LD_LIBRARY_PATH"):
        env.pop(name, None)
    return env


@functools.cache
def wheel():
    """Built with the tools of an environment, so that pip fetches nothing itself."""
    tools = pypi.environment(REQUIREMENTS, os.path.join(FOLDER, "tools"))
    out = os.path.join(FOLDER, "out")
    shutil.rmtree(out, ignore_errors=True)
    env = clean() | {"PATH": os.path.join(tools, "bin") + ":" + os.environ["PATH"]}
    done = plain(os.path.join(tools, "bin", "pip"), "wheel", "--quiet", "--no-deps",
                 "--no-build-isolation", "--disable-pip-version-check", "--no-index",
                 "--wheel-dir", out, *PAGE, SOURCE, env=env, timeout=BUILD_S)
    equal(done.returncode, 0, "exit code of pip wheel", done.stdout[-3000:], done.stderr[-3000:])
    (path,) = glob.glob(os.path.join(out, "*.whl"))
    return path


@functools.cache
def installed():
    """The folder of an environment that has the wheel and nothing else."""
    folder = os.path.join(FOLDER, "installed")
    shutil.rmtree(folder, ignore_errors=True)
    path = wheel()
    done = plain(sys.executable, "-m", "venv", folder, timeout=BUILD_S)
    equal(done.returncode, 0, "exit code of venv", done.stderr)
    done = plain(os.path.join(folder, "bin", "pip"), "install", "--quiet", "--no-index",
                 "--disable-pip-version-check", path, env=clean(), timeout=BUILD_S)
    equal(done.returncode, 0, "exit code of pip install", done.stderr)
    return folder


def command(*arguments, **settings):
    return plain(os.path.join(installed(), "bin", "memledger"), *arguments,
                 **({"env": clean()} | settings))


def program_inside():
    """The command without the script that starts it."""
    (path,) = glob.glob(os.path.join(installed(), "lib/python3*/site-packages/memledger/bin/memledger"))
    return path


def python(script, *arguments, **settings):
    return plain(os.path.join(installed(), "bin", "python"), "-c", script, *arguments,
                 **({"env": clean()} | settings))


def test_what_is_in_it():
    contains(os.path.basename(wheel()), "-cp39-abi3-linux_x86_64.whl", "the wheel's name")
    with zipfile.ZipFile(wheel()) as z:
        equal(z.testzip(), None, "a damaged member")
        names = z.namelist()
        tags = z.read(next(n for n in names if n.endswith("/WHEEL"))).decode()
    contains(tags, "Tag: cp39-abi3-linux_x86_64", "WHEEL")
    inside = sorted(n.partition("/")[2] for n in names
                    if n.startswith("memledger/") and not n.endswith((".py", ".md")))
    equal(inside, ["_native.abi3.so", "bin/memledger", "recorder/libmemledger-heap.so",
                   "recorder/libmemledger.so"], "files that are neither Python nor pages")
    package = os.path.join(SOURCE, "python")
    for path in glob.glob(os.path.join(package, "memledger", "**", "*.py"), recursive=True):
        with open(os.path.join(os.path.dirname(path), "meson.build")) as f:
            contains(f.read(), f"'{os.path.basename(path)}'", "meson.build")
        check(os.path.relpath(path, package) in names, f"no {path} in the wheel")
    check("memledger/bootstrap/sitecustomize.py" in names, f"no bootstrap in {names}")
    check("memledger/docs/commands/run.md" in names, f"no pages in {names}")


def test_the_command():
    done = command("--version")
    equal(done.returncode, 0, "exit code", done.stderr)
    equal(done.stdout, plain(harness.MEMLEDGER, "--version").stdout, "version")
    done = python("import memledger; print(memledger.__version__)")
    contains(command("--version").stdout, done.stdout.strip(), "the package's version")
    contains(command("help", "sampling").stdout, "Sampling", "a page of the documentation")


def test_the_page():
    if not PAGE:
        raise harness.Skip("this build has no page")
    command("run", "-q", "-o", "t.mled", "--", "true")
    served_page.check(program_inside(), "t.mled")
    done = command("export", "--format", "html", "-o", "t.html", "t.mled")
    equal(done.returncode, 0, "export --format html", done.stderr)


def test_attach_and_source_lines():
    if "HAS_LIBDW" not in os.environ:
        raise harness.Skip("this machine has no libdw")
    released_libdw.check(program_inside())


def test_recording():
    script = ("import memledger._native as n, sys; print(n.recording() == n.RECORDED_FROM_START); "
              "sys.exit(3)")
    done = command("run", "-q", "--heap", "-o", "t.mled", "--",
                   os.path.join(installed(), "bin", "python"), "-c", script)
    equal((done.returncode, done.stdout), (3, "True\n"), "exit code and output", done.stderr)
    summary = json.loads(command("summary", "--json", "t.mled").stdout)
    check(summary["allocations"] > 1000, f"{summary['allocations']} allocations")
    done = python("import memledger, sys; print(len(memledger.read('t.mled').allocations))")
    equal(done.stdout.strip(), str(summary["allocations"]), "allocations", done.stderr)


def test_any_python_finds_the_package():
    """Under the command `import memledger` is its own package, whatever the interpreter has."""
    script = "import memledger; print(memledger.__file__)"
    done = command("run", "-q", "-f", "-o", "t.mled", "--", sys.executable, "-c", script)
    equal(os.path.realpath(done.stdout.strip()), os.path.realpath(python(script).stdout.strip()),
          "the package's place", done.stderr)


def test_recording_without_the_command():
    done = python("import memledger; memledger.start('late.mled'); print(memledger.stop())")
    equal(done.stdout.strip(), os.path.abspath("late.mled"), "what stop() says", done.stderr)
    equal(command("summary", "late.mled").returncode, 0, "exit code of summary")


def test_the_program_gets_what_its_caller_has():
    """The interpreter that starts the command leaves no mark on what it starts."""
    bare = {"PATH": os.environ["PATH"]}
    wanted, got = (plain(path, "run", "-q", "-f", "-o", "t.mled", "--", "/usr/bin/env", env=bare)
                   for path in (harness.MEMLEDGER, os.path.join(installed(), "bin", "memledger")))
    names = [sorted(line.partition("=")[0] for line in done.stdout.splitlines())
             for done in (wanted, got)]
    equal(names[1], names[0], "variables")
    look = ("/bin/grep", "SigIgn", "/proc/self/status")
    done = command("run", "-q", "-f", "-o", "t.mled", "--", *look, preexec_fn=default_signals)
    equal(done.stdout, plain(*look, preexec_fn=default_signals).stdout, "ignored signals")


def default_signals():
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)


def test_signals_and_exit_codes():
    done = command("run", "-q", "-o", "t.mled", "--", "sh", "-c", "kill -9 $$")
    equal(done.returncode, plain(harness.MEMLEDGER, "run", "-q", "-o", "u.mled", "--", "sh", "-c",
                                 "kill -9 $$").returncode, "exit code of a killed program")
    equal(command("nothing").returncode, plain(harness.MEMLEDGER, "nothing").returncode,
          "exit code of a command that does not exist")
    process = subprocess.Popen(
        [os.path.join(installed(), "bin", "memledger"), "run", "-q", "-o", "s.mled", "--", "sh",
         "-c", "trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=clean())
    equal(harness.read_line(process), "ready", "first line")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=harness.PATIENCE_S)
    equal(process.returncode, 7, "exit code after SIGTERM")


def test_the_library_it_lost():
    (recorder,) = glob.glob(os.path.join(installed(), "lib/python3*/site-packages/memledger/recorder"))
    os.rename(recorder, recorder + ".away")
    try:
        done = command("run", "-o", "t.mled", "--", "true")
    finally:
        os.rename(recorder + ".away", recorder)
    check(done.returncode != 0, "it ran")
    contains(done.stderr, "libmemledger.so", "the message")


def test_mxnet_profiler():
    script = """if True:
        from memledger.mxnet import profiler
        profiler.set_state("run")
        profiler.Domain("d").new_counter("c", 3)"""
    done = python(script)
    equal(done.returncode, 0, "exit code", done.stderr)
    with open("profile.json") as f:
        contains(f.read(), '"args": { "c": 3 }', "the profile")


harness.main(globals())
