#!/usr/bin/env python3
# test_sessions.py: the folder of a session: where it is created, and that none is left behind.
#
# SPDX-License-Identifier: Apache-2.0
import contextlib
import os
import signal
import subprocess

import harness
from harness import check, contains, equal, finish, plain, program, read_line, run, start


def environment(runtime, temporary):
    env = {k: v for k, v in os.environ.items() if k not in ("XDG_RUNTIME_DIR", "TMPDIR")}
    return env | ({"XDG_RUNTIME_DIR": runtime} if runtime is not None else {}) | (
        {"TMPDIR": temporary} if temporary is not None else {})


def check_recorded(env, what, *command):
    result = run(*(command or (program("ends"), "exit", 4)), options=["-f"], env=env)
    equal(result.code, 4, f"exit code with {what}", result)
    equal(result.dump()["kinds"]["alloc"], 2, f"allocations with {what}", result)
    return result


def test_relative():
    """The program may go elsewhere."""
    os.mkdir("here")
    for runtime, temporary in ((None, "."), ("here", None), (None, "./here/../here")):
        check_recorded(environment(runtime, temporary), f"{runtime} and {temporary}", "sh", "-c",
                       f"cd / && exec {program('ends')} exit 4")
    equal(os.listdir("here"), [], "what is left")


def test_unusable():
    """Missing, not a folder, not writable, without a name, or too long: another is taken."""
    open("file", "w").close()
    long = os.path.abspath("x" * 100)
    os.mkdir(long)
    for place in ("/no/such/folder", os.path.abspath("file"), "/proc", "", long):
        result = check_recorded(environment(place, place), repr(place))
        check("TMPDIR" not in result.err, "the note names TMPDIR, which does not matter here", result)
    equal(sorted(os.listdir()), ["file", "t.mled", "x" * 100], "what is left")


@contextlib.contextmanager
def full_disk():
    if os.geteuid():
        raise harness.Skip("only root may mount a tmpfs", machine=True)
    os.mkdir("disk")
    mounted = plain("mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", "disk")
    if mounted.returncode:
        raise harness.Skip(f"no tmpfs can be mounted here: {mounted.stderr}", machine=True)
    try:
        with contextlib.suppress(OSError), open("disk/filler", "wb") as f:
            f.write(bytes(8192))
        yield os.path.abspath("disk")
    finally:
        plain("umount", "-l", "disk")


def test_full():
    """No room for the page: another place is taken, and nothing is left."""
    with full_disk() as disk:
        check_recorded(environment(disk, disk), "a full disk")
        equal(os.listdir(disk), ["filler"], "what is left")


def session_of(env):
    result = run("sh", "-c", "echo $MEMLEDGER_SESSION", options=["-f", "-q"], env=env)
    return result.out.strip()


def test_memory_before_disk():
    """The page is where a store to it does not wait for a disk."""
    on_disk = plain("stat", "-f", "-c", "%T", ".").stdout.strip() not in ("tmpfs", "ramfs")
    if not on_disk or plain("stat", "-f", "-c", "%T", "/dev/shm").stdout.strip() != "tmpfs":
        raise harness.Skip("takes a disk here and a tmpfs at /dev/shm", machine=True)
    os.mkdir("here")
    check(session_of(environment(None, os.path.abspath("here"))).startswith("/dev/shm/"),
          "the session is on the disk that TMPDIR names")
    os.mkdir("/dev/shm/" + str(os.getpid()))
    try:
        folder = "/dev/shm/" + str(os.getpid())
        equal(os.path.dirname(session_of(environment(None, folder))), folder, "a TMPDIR in memory")
    finally:
        os.rmdir("/dev/shm/" + str(os.getpid()))


def test_no_abstract_names():
    """A policy, or a stranger who has the names, costs nothing but the notes of those outside."""
    env = dict(os.environ, LD_PRELOAD=program("libno_abstract_names.so"))
    check_recorded(env, "no abstract names")
    result = run(program("profiler/profiler_api"), "table", options=["-f"], env=env)
    equal(result.code, 0, "exit code of a program with a profile file", result)


def test_no_sockets():
    """The message names what failed."""
    env = dict(os.environ, LD_PRELOAD=program("libno_abstract_names.so"), NO_SOCKET_NAMES="1")
    result = run(program("ends"), "exit", 4, env=env)
    equal(result.code, 1, "exit code", result)
    contains(result.err, "cannot make a socket in TMPDIR or /tmp: Permission denied", "message")
    check("directory" not in result.err, "the folder is blamed", result)


def waiting_run(trace):
    process = start(program("emit"), 10, 10, trace=trace, stdin=subprocess.PIPE,
                    env=environment(os.path.abspath("sessions"), None))
    read_line(process)
    return process, harness.collector_of(process)


def end(process):
    process.stdin.write("\n")
    return finish(process)


def abandoned(trace):
    """The name of a folder whose processes were all killed."""
    before = set(os.listdir("sessions"))
    process, collector = waiting_run(trace)
    left, = set(os.listdir("sessions")) - before
    # First the one that would clean up.
    for pid in (collector, process.pid):
        os.kill(pid, signal.SIGKILL)
    process.communicate(timeout=harness.PATIENCE_S)
    harness.wait_until(lambda: not harness.runs(collector), "the collector's end")
    return left


def test_swept():
    """A run removes what killed ones have left, and nothing else."""
    os.mkdir("sessions")
    live, _ = waiting_run("live.mled")
    kept = set(os.listdir("sessions"))
    left = abandoned("dead.mled")
    check(os.path.isdir(f"sessions/{left}"), "nothing was left, so nothing was tested")
    boot = left[:-len("XXXXXX")]
    # A folder with a file of the user's, those of an older version, a file, a link.
    os.makedirs(f"sessions/{boot}filled")
    open(f"sessions/{boot}filled/notes", "w").close()
    os.mkdir("sessions/memledger-abcdef")
    open(f"sessions/{boot}afile1", "w").close()
    os.mkdir("elsewhere")
    open("elsewhere/page", "w").close()
    os.symlink("../elsewhere", f"sessions/{boot}alink1")
    others = {f"{boot}filled", "memledger-abcdef", f"{boot}afile1", f"{boot}alink1"}
    if os.geteuid() == 0:
        os.mkdir(f"sessions/{boot}theirs")
        os.chown(f"sessions/{boot}theirs", 65534, 65534)
        others.add(f"{boot}theirs")
    equal(run(program("ends"), "exit", 4, env=environment(os.path.abspath("sessions"), None)).code,
          4, "exit code")
    equal(set(os.listdir("sessions")), kept | others, "what is left")
    equal(os.listdir("elsewhere"), ["page"], "what a link leads to")
    result = end(live)
    equal(result.code, 7, "exit code of the run that went on", result)
    equal(harness.dump("live.mled")["kinds"]["alloc"], 10, "its allocations")
    equal(set(os.listdir("sessions")), others, "what is left at last")


def killed_while_starting(i, env):
    """Whether a run that was killed left its folder. Later and later, by work that is done rather
    than by the clock; every other one counts from when it has a folder."""
    before = set(os.listdir("sessions"))
    process = start(program("ends"), "exit", 0, trace=f"{i}.mled", env=env)
    # Without a pause: the next milliseconds are what this is about.
    while i % 2 and process.poll() is None and not set(os.listdir("sessions")) - before:
        pass
    for _ in range(i % 40 * 5):
        os.listdir("sessions")
    process.kill()
    process.communicate(timeout=harness.PATIENCE_S)
    return bool(set(os.listdir("sessions")) - before)


def test_killed_while_starting():
    """Killed at any instant: the next run leaves no folder of theirs."""
    os.mkdir("sessions")
    env = environment(os.path.abspath("sessions"), None)
    left = i = 0
    while i < 40 or (left < 3 and i < 1000):
        left += killed_while_starting(i, env)
        i += 1
    check(left, f"none of {i} killed runs left a folder, so nothing was tested")

    def nothing_left():
        run(program("ends"), "exit", 0, options=["-f"], env=env)
        return not os.listdir("sessions")
    # A collector that lives on removes its folder a moment later.
    harness.wait_until(nothing_left, "the folders to go")


harness.main(globals())
