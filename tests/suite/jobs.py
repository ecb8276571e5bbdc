# jobs.py: builds and tests as jobs, which of them begins next, and how long they will take.
#
# SPDX-License-Identifier: Apache-2.0
import os
import re
import secrets
import signal
import subprocess
import time

import machine

SKIPPED = 77  # the exit code of a test that cannot run here
MARK = "SUITE_JOB"  # in the environment of all that a job starts
THIS_RUN = secrets.token_hex(8)  # no pid: a suite in a container may have the same
MOST_S_TO_DIE = 10  # after SIGKILL; a process that waits for a driver or a disk may never end


class Job:
    """`load`: how many cores it keeps busy. `after`: a job that must have passed before. `alone`:
    it runs by itself."""

    def __init__(self, folder, name, command, seconds, cpu_seconds, *, load=None, after=None, suites=(),
                 is_build=False, limit_s=None, alone=False, cwd=None, env=None):
        self.folder, self.name, self.command, self.cwd, self.env = folder, name, command, cwd, env
        self.seconds, self.cpu_seconds = seconds, cpu_seconds
        self.expected_cpu_seconds = cpu_seconds
        self.load = cpu_seconds / max(seconds, 0.01) if load is None else load
        self.after, self.suites, self.is_build = after, suites, is_build
        self.limit_s, self.alone = limit_s, alone
        self.process, self.result, self.words = None, None, ""

    def __str__(self):
        return self.name if self.folder == "plain" else f"{self.name} ({self.folder})"

    def start(self, log):
        os.makedirs(os.path.dirname(log), exist_ok=True)
        self.log, self.began = log, time.monotonic()
        self.process, self.result, self.words = None, None, ""
        self.mark = f"{MARK}={THIS_RUN}-{self.folder}-{self.name}"
        with open(log, "wb") as output:
            try:
                # A session of its own, so that a Ctrl-C reaches only the scheduler, which ends it.
                self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=output,
                                                stderr=subprocess.STDOUT, start_new_session=True,
                                                preexec_fn=set_default_signals, cwd=self.cwd,
                                                env=(self.env or os.environ) | dict([self.mark.split("=")]))
            except OSError as error:
                self.words = f"cannot start: {error}"

    def took(self):
        return time.monotonic() - self.began

    def steps(self):
        """Of a build: how many are done, and how many there are, as ninja has printed last; None: unknown."""
        if not self.is_build:
            return None
        with open(self.log, "rb") as log:
            log.seek(0, os.SEEK_END)
            log.seek(max(log.tell() - 4096, 0))
            printed = re.findall(rb"^\[(\d+)/(\d+)\]", log.read(), re.M)
        return tuple(map(int, printed[-1])) if printed else None

    def seconds_left(self):
        """Of a job that runs: at its own pace if it is a build, which may have much or little to do."""
        done, steps = self.steps() or (0, 1)
        if done > steps / 20:
            return self.took() * (steps - done) / done
        return max(self.seconds - self.took(), 0)

    def has_ended(self):
        """Sets `result` (passed, failed or skipped), `words` (the reason of a failure), `seconds` and
        `cpu_seconds`."""
        if not self.process:
            self.seconds, self.cpu_seconds, self.result = 0, 0, "failed"
            return True
        if self.limit_s and self.took() > self.limit_s and not self.words:
            self.words = f"timed out after {self.limit_s} s"
            self.end()
        pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
        if pid == 0 and not (self.words and self.took() > self.limit_s + 2 * MOST_S_TO_DIE):
            return False
        self.seconds = self.took()
        if pid == 0:
            self.words += f"; process {self.process.pid} cannot be killed"
            self.cpu_seconds, self.result = 0, "failed"
            return True
        code = self.process.returncode = os.waitstatus_to_exitcode(status)
        self.cpu_seconds = usage.ru_utime + usage.ru_stime
        self.words = self.words or self.failure_of(code)
        self.result = "failed" if self.words else "skipped" if code else "passed"
        if self.result == "failed":
            self.end_the_rest()
        return True

    def failure_of(self, code):
        if code < 0:
            return f"signal {-code}"
        return f"exit code {code}" if code and (self.is_build or code != SKIPPED) else ""

    def end(self):
        """Kills its process and everything that this has started, also in sessions of their own and
        after the end of whatever started it."""
        if not self.process or self.process.returncode is not None:
            return
        if self.is_build:
            self.interrupt()
        kill([*descendants(self.process.pid), self.process.pid])
        self.end_the_rest()

    def end_the_rest(self):
        """Until none is left: one may start another after the look at all processes."""
        found, until = marked(self.mark), time.monotonic() + MOST_S_TO_DIE
        while found and time.monotonic() < until:
            kill(found)
            time.sleep(0.01)
            found = marked(self.mark)

    def interrupt(self):
        """Ninja removes what it has half written."""
        kill([self.process.pid], signal.SIGINT)
        until = time.monotonic() + 5
        while os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None \
                and time.monotonic() < until:
            time.sleep(0.01)


def set_default_signals():
    """A shell without job control starts `make test &` with SIGINT and SIGQUIT ignored, nohup with
    SIGHUP, and programs inherit that."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


def kill(pids, number=signal.SIGKILL):
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            pass


def processes():
    return map(int, filter(str.isdigit, os.listdir("/proc")))


def marked(mark):
    """The pids of the processes that have this word in their environment, without zombies."""
    found = []
    for pid in processes():
        try:
            with open(f"/proc/{pid}/environ", "rb") as environ:
                if mark.encode() in environ.read().split(b"\0"):
                    found.append(pid)
        except OSError:
            pass  # it has ended, or is another user's
    return found


def parents():
    """@return pid -> the pid of its parent"""
    found = {}
    for pid in processes():
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
                found[pid] = int(stat.read().rpartition(")")[2].split()[1])
        except OSError:
            pass  # it has ended
    return found


def descendants(pid):
    parent, found = parents(), [pid]
    for ancestor in found:
        found += [child for child, its in parent.items() if its == ancestor]
    return found[1:]


class Queue:
    """Jobs that wait and jobs that run. The longest that fits begins first: the loads of those that
    run together do not exceed the cores, so that tests that mostly wait run beside many others."""

    AT_ONCE = 5  # for each core, but no more than GiB of memory: each test starts processes
    SLACK_CORES = 0.25  # loads are averages

    def __init__(self, jobs, cores):
        self.cores = cores
        self.most = max(1, min(self.AT_ONCE * cores, int(machine.memory_gib())))
        builds = [job for job in jobs if job.is_build]  # in this order: most tests need the first
        tests = [job for job in jobs if not job.is_build]
        self.waiting = builds + sorted(tests, key=lambda job: -job.seconds)
        self.running, self.ended = [], []
        self.began = time.monotonic()

    def fits(self, job):
        if not self.running:
            return True
        if job.alone or any(other.alone for other in self.running):
            return False
        load = sum(other.load for other in self.running) + min(job.load, self.cores)
        return load <= self.cores + self.SLACK_CORES and len(self.running) < self.most

    def take(self):
        """The next one to start, or None."""
        for job in self.waiting:
            if (not job.after or job.after.result == "passed") and self.fits(job):
                self.waiting.remove(job)
                self.running.append(job)
                return job
        return None

    def look(self):
        """Those that have just ended. Drops tests whose build failed."""
        just_ended = [job for job in self.running if job.has_ended()]
        for job in just_ended:
            self.running.remove(job)
            self.ended.append(job)
        self.waiting = [job for job in self.waiting
                        if not (job.after and job.after.result == "failed")]
        return just_ended

    def seconds_left(self):
        """By the expected times, at the pace so far."""
        left_of_running = [(job.seconds_left(), job.load) for job in self.running]
        longest = max([seconds for seconds, _ in left_of_running] + [job.seconds for job in self.waiting] + [0])
        left = sum(job.cpu_seconds for job in self.waiting)
        left += sum(seconds * load for seconds, load in left_of_running)
        elapsed = time.monotonic() - self.began
        done = sum(job.expected_cpu_seconds for job in self.ended) + \
            sum(min(job.took() * job.load, job.cpu_seconds) for job in self.running)
        # As if a usual minute had gone before: the first seconds say little.
        pace = (done + self.cores * 0.9 * 60) / (elapsed + 60)
        return max(longest, left / pace)
