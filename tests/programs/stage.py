# stage.py: a folder and an ordinary user for a program that does not run as root, and a
# server that is started, talked to and stopped.
#
# SPDX-License-Identifier: Apache-2.0
import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from outcome import Failure, check, end_group, own_words

PATIENCE_S = 600  # long: this only ends what hangs


def as_user(command):
    """The command as the user nobody, where we are root; PostgreSQL and Chromium's sandbox
    ask for that."""
    if os.getuid() != 0:
        return list(command)
    nobody = pwd.getpwnam("nobody")
    return ["setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups",
            *command]


@contextlib.contextmanager
def folder():
    """An empty folder that this user may write to."""
    path = tempfile.mkdtemp(prefix="programs-")
    if os.getuid() == 0:
        nobody = pwd.getpwnam("nobody")
        os.chown(path, nobody.pw_uid, nobody.pw_gid)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def environment(path):
    return dict(os.environ, HOME=path, TMPDIR=path, LC_ALL="C", TERM="dumb")


def ask(command, path, timeout_s=PATIENCE_S):
    """A client's exit code and output; the server is what is recorded, not this."""
    done = subprocess.run(as_user(command), cwd=path, env=environment(path), capture_output=True,
                          stdin=subprocess.DEVNULL, text=True, timeout=timeout_s)
    return done.returncode, done.stdout, done.stderr


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    """A server in a session of its own, its output in a file. `as_started`: with all the rights
    that we have."""

    def __init__(self, command, path, log="server.log", as_started=False):
        self.log = os.path.join(path, log)
        if not as_started:
            command = as_user(command)
        with open(self.log, "wb") as out:
            self.process = subprocess.Popen(command, cwd=path, env=environment(path),
                                            stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                            start_new_session=True)

    def output(self):
        with open(self.log, errors="replace") as f:
            return own_words(f.read())

    def wait_until(self, answers):
        """`answers` is asked until it says yes."""
        end = time.monotonic() + PATIENCE_S
        while not answers():
            check(self.process.poll() is None, "the server has ended", self.output())
            check(time.monotonic() < end, "the server does not answer", self.output())
            time.sleep(0.05)

    def stop(self, signal_number):
        """Asks it to end; returns its exit code."""
        self.process.send_signal(signal_number)
        try:
            return self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            raise Failure(f"no end after signal {signal_number}\n{self.output()}") from None
        finally:
            end_group(self.process)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            with contextlib.suppress(Failure):
                self.stop(signal.SIGTERM)
        end_group(self.process)
