#!/usr/bin/env python3
# test_diagnoses.py: a process that cannot be recorded: the note says why, and what to do. Each
# note is printed once per run, however many processes there are.
#
# SPDX-License-Identifier: Apache-2.0
import glob
import os
import shutil
import struct

import harness
from harness import Skip, check, contains, equal, plain, program, run

NOBODY = 65534
AS_NOBODY = ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"]


def needs_root():
    if os.geteuid() or not shutil.which("setpriv"):
        raise Skip("only root can become another user, with setpriv", machine=True)
    # The recorder must be readable for others.
    if plain(*AS_NOBODY, "test", "-r", harness.LIBRARIES + "/libmemledger.so").returncode:
        raise Skip("the build folder is closed to other users", machine=True)


def said_once(result, text):
    equal(result.err.count(text), 1, f"the number of messages: {text}", result)
    check("no room" not in result.err and "ulimit" not in result.err, "another reason is given too",
          result)


def test_other_user():
    """A program that is started as another user, by one that is recorded."""
    needs_root()
    line = " ".join(AS_NOBODY) + f" {program('ends')} exit 3; "
    result = run("sh", "-c", 3 * line)
    equal(result.code, 3, "exit code", result)
    said_once(result, "processes of user nobody were not recorded")
    contains(result.err, "start memledger as that user", "note")


def test_other_user_under_a_filter():
    """The same where memledger itself runs under a seccomp filter, as in a container. A process
    that adds one, and may be killed for telling, says nothing."""
    needs_root()
    container = [program("sandbox_itself"), "prctl", "deny:ptrace", "--"]
    recorded = [harness.MEMLEDGER, "run", "-f", "-o", "t.mled", *AS_NOBODY]
    done = plain(*container, *recorded, program("ends"), "exit", "3")
    equal(done.returncode, 3, "exit code", done)
    contains(done.stderr, "processes of user nobody were not recorded", "note")
    filtered = [program("sandbox_itself"), "prctl", "deny:socket", "exec:10"]
    done = plain(*container, *recorded, *filtered)
    equal(done.returncode, 3, "exit code with a filter more", done)


# Many threads, which need more rings than a process has at first.
START_THREADS = """
import threading
many = threading.Barrier(40)
threads = [threading.Thread(target=lambda: (bytearray(5000000), many.wait())) for _ in range(40)]
[t.start() for t in threads]
[t.join() for t in threads]
"""


def test_other_user_later():
    """A process that becomes another user, starts threads and forks: all is recorded."""
    needs_root()
    code = f"import os; os.setuid({NOBODY})\n" + START_THREADS + 3 * harness.FORK_AND_WAIT
    result = run("/usr/bin/python3", "-c", code, options=["--heap"])
    equal(result.code, 0, "exit code", result)
    check("not recorded" not in result.err, "a note", result)
    trace = result.dump()
    equal(len(trace["processes"]), 4, "processes")
    equal(trace["lost"], 0, "lost")
    large = [e for e in result.dump(events=True)["events"] if e["kind"] == "alloc" and e["size"] > 5000000]
    equal(len(large), 40, "blocks of the threads")


def test_other_user_out_of_reach():
    """The same in a network of its own, where the collector has no name."""
    needs_root()
    code = (f"import ctypes, os; ctypes.CDLL(None).unshare(0x40000000); os.setuid({NOBODY})\n"
            + 3 * harness.FORK_AND_WAIT)
    result = run("/usr/bin/python3", "-c", code, options=["--heap"])
    equal(result.code, 0, "exit code", result)
    said_once(result, "processes of user nobody were not recorded")
    equal(len(result.dump()["processes"]), 1, "processes")


def test_chroot():
    """A process that changes its root, then forks."""
    needs_root()
    code = "import os; os.chroot('.')\n" + harness.FORK_AND_WAIT
    result = run("/usr/bin/python3", "-c", code, options=["--heap"])
    equal(result.code, 0, "exit code", result)
    said_once(result, "as in a chroot or container, were not recorded")
    contains(result.err, "start memledger inside it", "note")


def test_sandbox():
    """A program that does not see the session's folder."""
    needs_root()
    os.mkdir("sessions")
    folder = os.path.abspath("sessions")
    result = run("unshare", "--mount", "sh", "-c", f"mount -t tmpfs tmpfs {folder} && "
                 f"{program('ends')} exit 0 && {program('ends')} exit 4",
                 env=dict(os.environ, XDG_RUNTIME_DIR=folder))
    if result.code == 1:
        raise Skip(f"no mounts of our own here: {result.err}", machine=True)
    equal(result.code, 4, "exit code", result)
    said_once(result, "as in a chroot or container, were not recorded")


def test_launcher_of_others():
    """Programs that start another one without our variables."""
    with open("sudo", "w") as f:
        f.write('#!/bin/sh\nexec env -i "$@"\n')
    os.chmod("sudo", 0o755)
    result = run("./sudo", program("ends"), "exit", 5)
    equal(result.code, 5, "exit code", result)
    contains(result.err, "only sudo was recorded, not what it starts; put memledger after it",
             "note")
    check("--heap" not in result.err, "a way out that is none", result)


def recorded_by_nobody(copy):
    """A program run by a user who has not the rights that it gets."""
    os.chmod(".", 0o755)
    os.mkdir("out")
    os.chmod("out", 0o777)
    return plain(*AS_NOBODY, harness.MEMLEDGER, "run", "-o", "out/t.mled", f"./{copy}", "exit", "6",
                 env=dict(os.environ, XDG_RUNTIME_DIR=os.path.abspath("out")))


def bits_count():
    with open("/proc/self/status") as f:
        nosuid = os.statvfs(".").f_flag & os.ST_NOSUID
        if nosuid or "NoNewPrivs:\t1" in f.read():
            raise Skip("programs get no rights of their own here", machine=True)


def test_setuid():
    needs_root()
    bits_count()
    shutil.copy(program("ends"), "copy")
    # One that may be run and not be read, as sudo is in some distributions.
    for mode in (0o4755, 0o4711):
        os.chmod("copy", mode)
        done = recorded_by_nobody("copy")
        shutil.rmtree("out")
        equal(done.returncode, 6, "exit code", done)
        equal(done.stderr.count("runs with the rights of another user (setuid)"), 1, "message",
              done.stderr)
        contains(done.stderr, "sudo memledger run", "way out")
        check("ulimit" not in done.stderr, "another reason is given too", done.stderr)
    # For its owner it is a program like others.
    check("setuid" not in run("./copy", "exit", 0).err, "said where it is not so")


def test_setgid():
    """Root's rights would not help: the real group decides."""
    needs_root()
    bits_count()
    shutil.copy(program("ends"), "copy")
    os.chown("copy", 0, 1)
    os.chmod("copy", 0o2755)
    for result in recorded_by_nobody("copy"), plain(harness.MEMLEDGER, "run", "-o", "t.mled",
                                                    "./copy", "exit", "6"):
        equal(result.returncode, 6, "exit code", result)
        contains(result.stderr, "runs with the rights of another group (setgid)", "message")
        contains(result.stderr, "record a copy without that bit", "way out")
        check("sudo" not in result.stderr, "what does not help is advised", result.stderr)


def test_file_capabilities():
    needs_root()
    bits_count()
    shutil.copy(program("ends"), "copy")
    net_raw = 1 << 13
    try:
        os.setxattr("copy", "security.capability",
                    struct.pack("<5I", 0x02000001, net_raw, 0, 0, 0))
    except OSError as error:
        raise Skip(f"no file capabilities here: {error}", machine=True) from None
    done = recorded_by_nobody("copy")
    equal(done.returncode, 6, "exit code", done)
    contains(done.stderr, "has file capabilities", "message")
    contains(done.stderr, "record a copy without them", "way out")
    check("ulimit" not in done.stderr, "another reason is given too", done.stderr)


def test_version_said_once():
    """A recorder of another version than the command's, in many processes."""
    os.mkdir("session")
    with open("session/page", "wb") as f:
        f.write(struct.pack("<II", 0x474e524d, 9999) + bytes(8192 - 8))
    library = os.path.join(harness.LIBRARIES, "libmemledger.so")
    env = dict(os.environ, LD_PRELOAD=library, MEMLEDGER_SESSION=os.path.abspath("session"))
    done = plain("sh", "-c", 3 * f"{program('ends')} exit 0; ", env=env)
    equal(done.returncode, 0, "exit code", done.stderr)
    equal(done.stderr.count("different versions"), 1, "the number of messages", done.stderr)
    # Under a filter that the launcher had too.
    with open("session/page", "r+b") as f:
        f.write(struct.pack("<III", 0x474e524d, 9999, 0))
    done = plain(program("sandbox_itself"), "prctl", "deny:ptrace", "--", "env",
                 *[f"{name}={env[name]}" for name in ("LD_PRELOAD", "MEMLEDGER_SESSION")],
                 "MEMLEDGER_SECCOMP=2:1", program("ends"), "exit", "0")
    equal(done.stderr.count("different versions"), 1, "the number of messages", done.stderr)


def run_with_strange_torch(code):
    """Runs it where `torch` is a package that cannot be hooked."""
    build = os.path.dirname(os.path.dirname(os.path.dirname(harness.MEMLEDGER)))
    if not glob.glob(f"{build}/python/memledger/_native*.so"):
        raise Skip("no Python package in this build", machine=True)
    os.mkdir("torch")
    with open("torch/__init__.py", "w") as f:
        f.write("class Tensor: pass\n")
    result = run("/usr/bin/python3", "-c", code, options=("-f",),
                 env=dict(os.environ, PYTHONPATH=os.getcwd()))
    equal(result.code, 0, "exit code", result)
    return result


def test_names_said_once():
    """Names that cannot be had in several Python processes."""
    result = run_with_strange_torch("import subprocess, sys, torch\n"
                                    "subprocess.run([sys.executable, '-c', 'import torch'])\n")
    equal(result.err.count("cannot hook torch: module names are off"), 1, "the number of messages",
          result)


def test_names_without_environment():
    """A program that clears its environment before it imports PyTorch."""
    result = run_with_strange_torch("import os\nos.environ.clear()\nimport torch\n")
    contains(result.err, "cannot hook torch: module names are off", "message")


def test_names_without_stderr():
    """A program without a stderr that could be written to."""
    for statement in "sys.stderr = None", "sys.stderr.close()":
        run_with_strange_torch(f"import sys\n{statement}\nimport torch\n")
        shutil.rmtree("torch")


harness.main(globals())
