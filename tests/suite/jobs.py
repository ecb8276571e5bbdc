# jobs.py: builds and tests as jobs, which of them begins next, and how long they will take.
#
# SPDX-License-Identifier: Apache-2.0
import os
import signal
import subprocess
import time

SKIPPED = 77  # the exit code of a test that cannot run here
# A limit only ends what hangs: others may have the processor for most of the time.
PATIENCE = 10


class Job:
    """`load`: how many cores it keeps busy. `after`: a job that must have passed before."""

    def __init__(self, folder, name, command, seconds, cpu_seconds, **settings):
        self.folder, self.name, self.command = folder, name, command
        self.seconds, self.cpu_seconds = seconds, cpu_seconds
        self.load = settings.pop("load", cpu_seconds / max(seconds, 0.01))
        self.after = settings.pop("after", None)
        self.suites = settings.pop("suites", ["build"])
        self.limit_s = settings.pop("limit_s", None)
        self.alone = settings.pop("alone", False)
        self.settings = settings  # cwd and env of the process
        self.result = None  # passed, failed or skipped

    def __str__(self):
        return self.name if self.folder == "plain" else f"{self.name} ({self.folder})"

    @property
    def is_build(self):
        return self.suites == ["build"]

    def start(self, log):
        os.makedirs(os.path.dirname(log), exist_ok=True)
        self.log, self.began = log, time.monotonic()
        with open(log, "wb") as output:
            # A session of its own, so that all of it can be ended.
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=output,
                                            stderr=subprocess.STDOUT, start_new_session=True,
                                            **self.settings)

    def took(self):
        return time.monotonic() - self.began

    def has_ended(self):
        """Sets `result`, `words` (what to say of a failure), `seconds` and `cpu_seconds`."""
        pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
        if pid == 0:
            if self.limit_s and self.took() > self.limit_s:
                self.words = f"no end after {self.limit_s} s"
                self.end()
                pid, status, usage = os.wait4(self.process.pid, 0)
            else:
                return False
        else:
            self.words = ""
        code = self.process.returncode = os.waitstatus_to_exitcode(status)
        self.expected_cpu_seconds = self.cpu_seconds
        self.seconds, self.cpu_seconds = self.took(), usage.ru_utime + usage.ru_stime
        self.result = {0: "passed", SKIPPED: "skipped"}.get(code, "failed")
        if self.words or (self.is_build and code):
            self.result = "failed"
        elif self.result == "failed":
            self.words = f"signal {-code}" if code < 0 else f"exit code {code}"
        return True

    def end(self):
        """Ends the process and what it has started."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


class Queue:
    """Jobs that wait and jobs that run. The longest that fits begins first: the loads of those that
    run together do not exceed the cores, so that tests that mostly wait run beside many others."""

    AT_ONCE = 5  # for each core: each test has processes and memory of its own
    MORE = 0.25  # of a core: loads are averages

    def __init__(self, jobs, cores):
        self.cores = cores
        self.waiting = sorted(jobs, key=lambda job: (not job.is_build, -job.seconds))
        self.running, self.ended = [], []
        self.began = time.monotonic()

    def fits(self, job):
        if not self.running:
            return True
        if job.alone or any(other.alone for other in self.running):
            return False
        load = sum(other.load for other in self.running) + min(job.load, self.cores)
        return load <= self.cores + self.MORE and len(self.running) < self.AT_ONCE * self.cores

    def take(self):
        """The next one to start, or None."""
        for job in self.waiting:
            if job.after and job.after.result != "passed":
                continue
            if self.fits(job):
                self.waiting.remove(job)
                self.running.append(job)
                return job
        return None

    def look(self):
        """Those that have just ended. What needs one that failed is dropped."""
        just_ended = [job for job in self.running if job.has_ended()]
        for job in just_ended:
            self.running.remove(job)
            self.ended.append(job)
        self.waiting = [job for job in self.waiting
                        if not (job.after and job.after.result == "failed")]
        return just_ended

    def seconds_left(self):
        """By the expected times, at the pace so far."""
        longest = max([job.seconds - job.took() for job in self.running] +
                      [job.seconds for job in self.waiting] + [0])
        left = sum(job.cpu_seconds for job in self.waiting)
        left += sum(max(job.cpu_seconds - job.took() * job.load, 0) for job in self.running)
        pace = self.cores * 0.9
        elapsed = time.monotonic() - self.began
        done = sum(job.expected_cpu_seconds for job in self.ended) + \
            sum(min(job.took() * job.load, job.cpu_seconds) for job in self.running)
        if elapsed > 30:
            pace = max(done / elapsed, 0.05)
        return max(longest, left / pace)
