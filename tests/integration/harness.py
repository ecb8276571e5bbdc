# harness.py: shared by the integration tests: run a program under `memledger run`, read its
# trace, report clearly what is wrong.
#
# A driver defines functions test_*() and ends with `harness.main(globals())`. Each function
# runs in its own empty folder. Meson passes the paths of the built programs in the environment;
# see meson.build beside this file.
#
# SPDX-License-Identifier: Apache-2.0
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback

MEMLEDGER = os.environ["MEMLEDGER"]
PROGRAMS = os.environ["TEST_PROGRAMS"]
INCLUDE = os.environ["TEST_INCLUDE"]
LIBRARIES = os.environ["TEST_LIBRARIES"]
STANDIN = os.environ["TEST_STANDIN"]
# Meson lets tests find every library that one of the programs is linked with; the
# driver's double is only for those that ask for it.
os.environ["LD_LIBRARY_PATH"] = ":".join(
    folder for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":")
    if folder and not os.path.samefile(folder, STANDIN))

# Of a whole run, also on a loaded machine: nothing here measures time, this only ends what hangs.
PATIENCE_S = 600


# Python that forks, and waits for the child.
FORK_AND_WAIT = ("pid = os.fork()\n"
                 "if pid == 0: os._exit(0)\n"
                 "os.waitpid(pid, 0)\n")


class Failure(Exception):
    pass


class Skip(Exception):
    """`machine`: no set-up of this project could make the test run here."""

    def __init__(self, reason, machine=False):
        super().__init__(reason)
        self.machine = machine


def check(condition, message, *details):
    if not condition:
        raise Failure("\n".join([message, *map(str, details)]))


def equal(got, wanted, what, *details):
    check(got == wanted, f"{what}: {got!r}, expected {wanted!r}", *details)


def contains(text, part, what):
    check(part in text, f"{what} lacks {part!r}:\n{text}")


def program(name):
    """The path of a test program."""
    return os.path.join(PROGRAMS, name)


class Result:
    """How a run ended: code (negative: the signal), out, err, and the trace."""

    def __init__(self, process, out, err, trace):
        self.code, self.out, self.err, self.trace = process.returncode, out, err, trace

    def __str__(self):
        return f"exit code {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"

    def dump(self, events=False):
        return dump(self.trace, events)


def start(*command, trace="t.mled", options=(), **popen):
    """Starts `memledger run` in a process group of its own."""
    line = [MEMLEDGER, "run", *options]
    if trace:
        line += ["-o", trace]
    settings = dict(stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                    text=True, errors="replace", start_new_session=True)
    settings.update(popen)
    process = subprocess.Popen([*line, "--", *map(str, command)], **settings)
    process.trace = trace
    return process


def start_anew(*command, **settings):
    """Without a trace of an earlier run, which a test would read before this run has begun its own."""
    with contextlib.suppress(FileNotFoundError):
        os.remove("t.mled")
    return start(*command, **settings)


def finish(process, timeout=PATIENCE_S):
    """Waits for its end; what hangs is killed and is a failure."""
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        for pid in [*children(process.pid), process.pid]:
            signal_process(pid, signal.SIGCONT)
            signal_process(pid, signal.SIGKILL)
        out, err = process.communicate()
        raise Failure(f"no end after {timeout} s\n--- stdout\n{out}\n--- stderr\n{err}") from None
    return Result(process, out, err, process.trace)


def run(*command, timeout=PATIENCE_S, **settings):
    return finish(start(*command, **settings), timeout)


def plain(*command, **settings):
    """The same without memledger."""
    settings = dict(stdin=subprocess.DEVNULL, capture_output=True, text=True,
                    timeout=PATIENCE_S, errors="replace") | settings
    return subprocess.run([str(c) for c in command], **settings)


def with_standin(env=None, **settings):
    """An environment in which the stand-in is the CUDA driver, its devices this
    test's own: see docs/testing.md. `settings`: more variables."""
    env = dict(os.environ if env is None else env)
    env["LD_LIBRARY_PATH"] = ":".join(filter(None, [STANDIN, env.get("LD_LIBRARY_PATH")]))
    env["STANDIN_STATE"] = os.path.abspath("standin-state")
    return env | {name: str(value) for name, value in settings.items()}


def dump(trace, events=False):
    """What is in a trace: see trace_dump.c."""
    done = plain(program("trace_dump"), *(["--events"] if events else []), trace)
    check(done.returncode == 0, f"{trace} does not open", done.stderr)
    return json.loads(done.stdout)


def allocations_so_far(trace="t.mled"):
    """How many are in the part of a trace that is on disk."""
    done = plain(program("trace_dump"), trace)
    return json.loads(done.stdout)["kinds"].get("alloc", 0) if done.returncode == 0 else 0


def report(verb, trace, *options):
    """A report of memledger's own."""
    done = plain(MEMLEDGER, verb, trace, "--json", *options)
    check(done.returncode == 0, f"memledger {verb} failed", done.stderr)
    return json.loads(done.stdout)


def balanced(trace, what="the trace"):
    """No free without its allocation, no allocation where a block is live."""
    for key in ("replaced", "unknown_frees", "lost"):
        equal(trace[key], 0, f"{key} in {what}", trace["kinds"])


# ---- Processes -------------------------------------------------------------


def signal_process(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def state_and_parent(pid):
    """The state's letter, "" if there is no such process, and the parent's pid."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            state, parent = f.read().rpartition(")")[2].split()[:2]
        return state, int(parent)
    except OSError:
        return "", 0


def runs(pid):
    return state_and_parent(pid)[0] not in ("", "Z", "X")


def children(pid):
    """Direct children of a process that have not ended."""
    return [child for child in map(int, filter(str.isdigit, os.listdir("/proc")))
            if state_and_parent(child)[1] == pid and runs(child)]


def collector_of(process):
    """The launcher's child that is memledger itself, not the program."""
    own = os.stat(MEMLEDGER)

    def find():
        for pid in children(process.pid):
            try:
                exe = os.stat(f"/proc/{pid}/exe")
                # The program is still a copy of the launcher, in its group.
                same = (exe.st_dev, exe.st_ino) == (own.st_dev, own.st_ino)
                if same and os.getpgid(pid) == pid:
                    return pid
            except OSError:
                continue
        return None

    return wait_until(find, "a collector among the launcher's children")


def wait_until(condition, what, seconds=PATIENCE_S):
    """Polls; returns what the condition gave."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.005)
    raise Failure(f"waited {seconds} s in vain for {what}")


def read_line(process):
    """The next line a program prints, which says that it has come so far."""
    line = process.stdout.readline()
    check(line, "the program ended without a word", process.poll())
    return line.strip()


# ---- Running the tests -----------------------------------------------------


def run_one(name, function):
    home = os.getcwd()
    with tempfile.TemporaryDirectory(prefix=f"memledger-{name}-") as folder:
        os.chdir(folder)
        try:
            function()
            return "ok", ""
        except Skip as reason:
            if os.environ.get("CI") and not reason.machine:
                return "FAILED", f"skipped in CI: {reason}"
            return "skipped", str(reason)
        except Failure as failure:
            return "FAILED", str(failure)
        except Exception:
            return "FAILED", traceback.format_exc()
        finally:
            os.chdir(home)


def check_order(*command, events, options=()):
    """Runs a program that passes as many blocks between threads, and frees all of them."""
    result = run(*command, options=["-f", "-q", *options])
    equal(result.code, 0, "exit code", result)
    trace = result.dump()
    balanced(trace)
    equal((trace["kinds"]["alloc"], trace["kinds"]["free"]), (events, events),
          "allocations and frees")
    equal(trace["live_bytes"], 0, "live at the end")
    return result


def main(namespace):
    """Runs all test_*() or those named on the command line; exits."""
    wanted = sys.argv[1:]
    results = []
    for name, function in list(namespace.items()):
        if not name.startswith("test_") or (wanted and name not in wanted):
            continue
        result, message = run_one(name, function)
        results.append(result)
        print(f"{name}: {result}" + (f": {message}" if message else ""), flush=True)
    if "FAILED" in results:
        sys.exit(1)
    sys.exit(77 if results and set(results) == {"skipped"} else 0)
