#!/usr/bin/env python3
# test_containers.py: memledger attach for processes in containers with files of their own.
#
# SPDX-License-Identifier: Apache-2.0
import os
import signal
import subprocess

import harness
from attaching import begin, end
from container import NOBODY, Container, become
from harness import MEMLEDGER, Skip, check, contains, equal


def start(*command, **settings):
    if os.geteuid() != 0:
        raise Skip("only root enters a container", machine=True)
    return Container(*command, **settings)


def on_request(**settings):
    """See on_request.c."""
    container = start("on_request", **settings)
    equal(container.ask("nothing"), "ok", "first answer")
    return container


def record(container, *requests):
    """Attaches, asks, ends."""
    attached = begin(container.pid(), "--heap")
    for request in requests:
        equal(container.ask(request), "ok", request)
    end(attached)
    equal(container.left(), [], "what is left in the container")


def live_bytes():
    return harness.report("summary", "t.mled")["live_bytes"]


def check_recordings(container):
    for i in range(3):
        record(container, f"malloc {i} {100 + i}")
        equal(live_bytes(), 100 + i, f"bytes live at the end of recording {i}")
    equal(container.end()[1], 0, "exit code of the program")


def test_again_and_again():
    check_recordings(on_request())


def test_another_user():
    check_recordings(on_request(user=1234))


def test_user_namespace():
    check_recordings(on_request(user_space=True))


def test_without_root():
    """A user records a process in a user namespace of their own."""
    os.chmod(".", 0o777)
    as_nobody = become(NOBODY)
    if os.geteuid() != 0 or subprocess.run([*as_nobody, MEMLEDGER, "--version"],
                                           capture_output=True).returncode:
        raise Skip("another user cannot run this memledger", machine=True)
    container = on_request(user_space=True, owner=NOBODY)
    for _ in range(2):
        done = harness.plain(*as_nobody, MEMLEDGER, "attach", "-f", "--heap", "-o", "t.mled",
                             "--for", "10ms", container.pid())
        if "ptrace" in done.stderr:
            raise Skip(done.stderr, machine=True)
        equal(done.returncode, 0, "exit code of attach", done.stderr)
        equal(container.left(), [], "what is left in the container")
    equal(container.ask("malloc 1 100"), "ok", "answer of the program")
    equal(container.end()[1], 0, "exit code of the program")


def test_filter():
    """A filter that answers with errors, as those of container engines do."""
    check_recordings(on_request(within=["contained"]))


def test_harmful_filter():
    container = on_request(within=["contained", "--kill"])
    done = harness.plain(MEMLEDGER, "attach", container.pid())
    equal(done.returncode, 1, "exit code", done.stderr)
    contains(done.stderr, "system call 27", "message")
    contains(done.stderr, "--security-opt seccomp", "message")
    equal(container.ask("malloc 1 100"), "ok", "answer of the program")
    equal(container.left(), [], "what is left in the container")
    equal(container.end()[1], 0, "exit code of the program")


def test_commands():
    """Pause, resume, live and detach know the process by the number that it has here."""
    container = on_request()
    attached = begin(container.pid(), "--heap")
    pid = container.pid()
    for verb, said in (("pause", "is paused"), ("resume", "is resumed")):
        contains(harness.plain(MEMLEDGER, verb, pid).stderr, said, verb)
    equal(container.ask("malloc 1 1000"), "ok", "answer")
    harness.wait_until(
        lambda: str(pid) in harness.plain(MEMLEDGER, "live", "--once", pid).stdout,
        "the process in the live view")
    contains(harness.plain(MEMLEDGER, "detach", pid).stderr, "has ended", "detach")
    equal(attached.wait(harness.PATIENCE_S), 0, "exit code of attach")
    equal(container.left(), [], "what is left in the container")
    equal(container.end()[1], 0, "exit code of the program")


PYTHON = "import os, sys\nprint('ok', flush=True)\nfor line in sys.stdin:\n    exec(line)\n"


def python():
    """Executes the lines that it gets."""
    container = start("/usr/bin/python3", "-c", PYTHON)
    equal(harness.read_line(container.process), "ok", "first line")
    return container


def test_forked():
    """A child has another number there, too, and so has its parent."""
    container = python()
    attached = begin(container.pid(), "--heap")
    code = ("child = os.fork() or [bytes(100000), os._exit(0)]; os.waitpid(child, 0); "
            "print('done', flush=True)")
    pid = container.pid()
    equal(container.ask(code), "done", "answer")
    end(attached)
    processes = harness.dump("t.mled")["processes"]
    equal([p["how"] for p in processes], ["started", "forked"], "processes")
    equal((processes[0]["pid"], processes[1]["parent"]), (pid, 0), "parent of the child", processes)
    equal(container.end()[1], 0, "exit code of the program")


def test_symbols():
    """Functions are looked up in the container's files, which have no such name here."""
    container = on_request()
    attached = subprocess.Popen([MEMLEDGER, "attach", "--heap", "-o", "t.mled",
                                 str(container.pid())], stderr=subprocess.PIPE, text=True,
                                env=dict(os.environ, MEMLEDGER_STACKS="native"))
    contains(attached.stderr.readline(), "recording process", "the first line")
    equal(container.ask("malloc 1 1000"), "ok", "answer")
    equal(container.end()[1], 0, "exit code of the program")
    equal(attached.wait(harness.PATIENCE_S), 0, "exit code of attach")
    stacks = harness.plain(MEMLEDGER, "table", "--by", "stack", "t.mled").stdout
    contains(stacks, "main", "functions")


def test_end_of_the_program():
    container = on_request()
    attached = begin(container.pid(), "--heap")
    os.kill(container.pid(), signal.SIGKILL)
    equal(attached.wait(harness.PATIENCE_S), 0, "exit code of attach")
    container.end()
    equal(os.listdir("root/tmp"), [], "what is left in the container")


def test_killed_command():
    """The recording goes on without the command, and takes its files away at the end."""
    container = on_request()
    attached = begin(container.pid(), "--heap")
    attached.kill()
    attached.wait()
    equal(container.ask("malloc 1 1000"), "ok", "answer")
    contains(harness.plain(MEMLEDGER, "detach", container.pid()).stderr, "has ended", "detach")
    harness.wait_until(lambda: not container.left(), "the end of the recording")
    equal(live_bytes(), 1000, "bytes live at the end")
    equal(container.end()[1], 0, "exit code of the program")


def test_python():
    """Each recording brings the package along."""
    container = python()
    for _ in range(2):
        attached = begin(container.pid(), "--heap")
        check(any(path.endswith("memledger/__init__.py") for path in container.left()),
              "the package is in the container", container.left())
        end(attached)
        equal(container.left(), [], "what is left in the container")
    equal(container.end()[1], 0, "exit code of the program")


def test_changed_root():
    """A process that changes its root later is still found, and its recording ended."""
    container = python()
    attached = begin(container.pid(), "--heap")
    equal(container.ask("os.chroot('home'); print('in', flush=True)"), "in", "answer")
    contains(harness.plain(MEMLEDGER, "detach", container.pid()).stderr, "has ended", "detach")
    equal(attached.wait(harness.PATIENCE_S), 0, "exit code of attach")
    equal(os.listdir("root/tmp"), [], "what is left in the container")
    equal(container.end()[1], 0, "exit code of the program")


def open_files(pid):
    return [os.readlink(f"/proc/{pid}/fd/{name}") for name in sorted(os.listdir(f"/proc/{pid}/fd"))]


def test_no_execution():
    """A container that can write no file that it may execute."""
    container = on_request(user=1234)
    os.chmod("root/tmp", 0o755)
    before = open_files(container.pid())
    for i in range(2):
        record(container, f"malloc {i} {100 + i}")
        equal(live_bytes(), 100 + i, f"bytes live at the end of recording {i}")
    equal(open_files(container.pid()), before, "open files of the program")
    equal(container.end()[1], 0, "exit code of the program")


def test_no_place():
    """A container without a folder that can take the recorder."""
    container = on_request(user=1234, shm_mode="755")
    os.chmod("root/tmp", 0o755)
    done = harness.plain(MEMLEDGER, "attach", container.pid())
    equal(done.returncode, 1, "exit code", done.stderr)
    contains(done.stderr, "--tmpfs /tmp:exec", "message")
    equal(container.ask("malloc 1 100"), "ok", "answer of the program")
    equal(container.end()[1], 0, "exit code of the program")


if __name__ == "__main__":
    harness.main(globals())
