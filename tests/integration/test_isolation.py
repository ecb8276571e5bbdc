#!/usr/bin/env python3
# test_isolation.py: the recorder does not interfere: it touches and keeps no descriptor of the
# program, errno and the environment stay, libraries can be loaded and unloaded.
#
# SPDX-License-Identifier: Apache-2.0
import os
import subprocess

import harness
from harness import check, contains, equal, plain, program, run


def test_dlopen():
    result = run(program("opens_plugin"), program("libplugin.so"), 200)
    equal(result.code, 0, "exit code", result)
    equal(result.out, "200\n", "times the plugin was recorded")
    trace = result.dump(events=True)
    harness.balanced(trace)
    equal(trace["kinds"]["alloc"], 200, "allocations")
    equal({e["scope"] for e in trace["events"] if e["kind"] == "alloc"}, {"in the plugin"},
          "scopes")
    equal(len(trace["spaces"]), 1, "spaces")


def test_dlopen_without_recorder():
    equal(plain(program("opens_plugin"), program("libplugin.so"), 3).stdout, "0\n",
          "times the plugin was recorded")


def test_descriptors():
    """The same descriptors as without us, before, during and after; and none of
    the program's own is used by us, though it has closed all that it knew of."""
    without = plain(program("descriptors"))
    equal(without.returncode, 0, "exit code without memledger", without)
    result = run(program("descriptors"), options=["-q"])
    equal(result.code, 0, "exit code (2: a descriptor was clobbered)", result)
    equal(result.out, without.stdout, "descriptors", result)
    trace = result.dump()
    equal(trace["lost"], 0, "lost")
    equal(trace["kinds"]["alloc"], 82 * 50000, "allocations")


def test_closed_streams():
    """Started without standard input, output and error."""
    done = plain("sh", "-c", '"$0" run -q -o t.mled "$1" exit 3 <&- >&- 2>&-', harness.MEMLEDGER,
                 program("ends"))
    equal(done.returncode, 3, "exit code", done)
    equal(harness.dump("t.mled")["kinds"]["alloc"], 2, "allocations")
    # The shell hands these numbers to files of its own: nothing of ours is in them.
    with open("out", "w") as out:
        plain(harness.MEMLEDGER, "run", "-f", "-o", "t.mled", "sh", "-c",
              "exec <&- >&- 2>&-; exec >file; /bin/echo text", stdout=out,
              stderr=subprocess.DEVNULL, capture_output=False)
    equal(open("file").read(), "text\n", "a file in the place of standard input")
    equal(open("out").read(), "", "output")


def test_errno_and_malloc():
    """Every function keeps errno, and none calls malloc."""
    for command in ([harness.MEMLEDGER, "run", "-q", "-o", "t.mled"], []):
        done = plain(*command, program("calls_quietly"))
        equal((done.returncode, done.stdout), (0, ""), "functions that do", done.stderr)


def test_user_preload():
    """The user's own LD_PRELOAD stays, in the program and in its children."""
    environment = dict(os.environ, LD_PRELOAD=program("libpreloaded.so"))
    line = [harness.MEMLEDGER, "run", "-q", "-o", "t.mled", "sh", "-c",
            program("ends") + " exit 0; echo $LD_PRELOAD"]
    done = plain(*line, env=environment)
    equal(done.returncode, 0, "exit code", done)
    lines = done.stdout.splitlines()
    # memledger itself is preloaded too; its fork, the collector, says nothing more.
    equal(lines[:-1], 3 * ["preloaded"], "preloaded in memledger, sh and ends")
    check(lines[-1].endswith(":" + program("libpreloaded.so")), "LD_PRELOAD", lines[-1])
    equal(harness.dump("t.mled")["kinds"]["alloc"], 2, "allocations")


def preload(**variables):
    library = os.path.join(harness.LIBRARIES, "libmemledger.so")
    return plain(program("ends"), "exit", 3, env=dict(os.environ, LD_PRELOAD=library, **variables))


def test_session_of_nobody():
    """The library without a session, or with one that is over, is silent."""
    os.mkdir("empty")
    os.mkdir("short")
    open("short/page", "w").close()
    os.mkdir("other")
    with open("other/page", "wb") as f:
        f.write(bytes(4096))
    os.mkdir("folder")
    os.mkdir("folder/page")
    for session in (None, "", "/no/such/folder", "empty", "short", "folder", "x" * 5000):
        done = preload(**({} if session is None else {"MEMLEDGER_SESSION": session}))
        equal((done.returncode, done.stdout, done.stderr), (3, "", ""),
              f"with MEMLEDGER_SESSION={session}")
    done = preload(MEMLEDGER_SESSION="other")
    equal(done.returncode, 3, "exit code with a page of another version")
    contains(done.stderr, "different versions", "message")


def test_session_cleared():
    """A program may clear its environment, then fork."""
    code = "import os\nos.environ.clear()\n" + harness.FORK_AND_WAIT
    result = run("/usr/bin/python3", "-c", code, options=["--heap"])
    equal(result.code, 0, "exit code", result)
    hows = [p["how"] for p in result.dump()["processes"]]
    equal(hows, ["started", "forked"], "processes")


def test_environment():
    """What a program can see: the preload and AddressSanitizer's leave for it, the session, who
    gets NVTX ranges, where Python looks first, and in a container that memledger is under its
    filter."""
    without = set(plain("env").stdout.splitlines())
    result = run("env", options=["-q"])
    added = {line.split("=")[0] for line in set(result.out.splitlines()) - without}
    always = {"ASAN_OPTIONS", "LD_PRELOAD", "MEMLEDGER_SESSION", "NVTX_INJECTION64_PATH"}
    with open("/proc/self/status") as status:
        if "Seccomp:\t0" not in status.read():
            always.add("MEMLEDGER_SECCOMP")
    check(added in (always, always | {"PYTHONPATH"}), "variables added", added)
    lost = {line.split("=")[0] for line in without - set(result.out.splitlines())}
    check(lost <= {"PYTHONPATH"}, "variables lost", lost)  # it may have had a value
    result = run("env", options=["-qf", "--names", "off"])
    added = {line.split("=")[0] for line in set(result.out.splitlines()) - without}
    equal(added, always, "variables added without names")


harness.main(globals())
