# stopping.py: runs whose collector does not end, for test_stop.py and test_lifeless_collector.py.
#
# SPDX-License-Identifier: Apache-2.0
import atexit
import contextlib
import os
import signal

import harness
from harness import check, children, collector_of, equal, program, start

# Whoever starts the tests may ignore it, as nohup does; then `run` would have to, too.
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Launchers and collectors, of which a failed test must leave none behind.
started = []


def end_what_is_left():
    own = os.stat(harness.MEMLEDGER)
    for pid in started:
        with contextlib.suppress(OSError):
            exe = os.stat(f"/proc/{pid}/exe")
            if (exe.st_dev, exe.st_ino) == (own.st_dev, own.st_ino):
                os.kill(pid, signal.SIGKILL)


atexit.register(end_what_is_left)


@contextlib.contextmanager
def sessions_here():
    """Where session folders are made, so that what is left of them is seen."""
    os.mkdir("sessions")
    before = os.environ.get("XDG_RUNTIME_DIR")
    os.environ["XDG_RUNTIME_DIR"] = os.path.abspath("sessions")
    try:
        yield
    finally:
        del os.environ["XDG_RUNTIME_DIR"]
        if before is not None:
            os.environ["XDG_RUNTIME_DIR"] = before


def wait_until_reaped(pid):
    harness.wait_until(lambda: not harness.state_and_parent(pid)[0], "the launcher to see the end")


def ended_with_stopped_collector(*options):
    """The program is over, its collector stands still, the launcher waits for it."""
    process = start(program("ends"), "wait", options=options)
    equal(harness.read_line(process), "ready", "first line")
    collector = collector_of(process)
    started.extend([process.pid, collector])
    pid, = set(children(process.pid)) - {collector}
    os.kill(collector, signal.SIGSTOP)
    os.kill(process.pid, signal.SIGTERM)
    wait_until_reaped(pid)
    return process, collector


def check_finished_alone(collector):
    """The one that was left behind completes the trace and cleans up."""
    harness.signal_process(collector, signal.SIGCONT)
    harness.wait_until(lambda: not harness.runs(collector), "the collector's end")
    check(harness.dump("t.mled")["has_index"], "no footer")
    equal(os.listdir("sessions"), [], "what is left of the session")
