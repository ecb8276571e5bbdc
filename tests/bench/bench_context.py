# SPDX-License-Identifier: Apache-2.0
"""Where things are, how much is measured, and what this machine is."""
import datetime
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from bench_run import Failed, run

HERE = pathlib.Path(__file__).resolve().parent

FULL = {
    "events": 50_000_000,        # one thread
    "thread_events": 10_000_000, # each thread, saturated
    "busy_events": 4_000_000,    # each thread, with work in between
    "heap_events": 5_000_000,
    "steps": 2_000,
    "paced_steps": 200,
    "analysis_steps": 3_000,     # of 3,300 events each
    "analysis_events": 10_000_000,
    "instant_steps": 30_300,
    "instant_rounds": 6_000_000, # of 17 events each
    "passes": 8,
    "repeat": 5,
    "heap_repeat": 7,
    "stack_depths": (3, 15, 40),
    "stack_threads": (1, 4),
    "stack_repeat": 5,
    "program_repeat": 3,
    "program_sample_repeat": 9,
    "program_size": 1,           # of the work that programs get
    "many_stacks": 1_000_000,
    "plugin_loads": 10_000,
    "start_repeat": 30,
    "sleep_ms": 3_000,
    "turn_steps": 3,             # of a program that takes turns
    "torch_programs": 4,         # of each recorder
    "torch_turns": 40,
    "torch_profiler_programs": 1, # it keeps everything in memory
    "torch_profiler_turns": 20,
    "switched_turns": 24,
    "switched_steps": 30,        # of a block
    "switched_seconds": 600,     # of a way, at most
    "mxnet_programs": 4,
    "mxnet_turns": 40,
    "mxnet_profiler_programs": 2,
    "mxnet_profiler_turns": 20,
    "snapshot_entries": 1_000_000,
    "import_repeat": 3,
    "crowd_threads": (2, 64, 200, 500),
    "crowd_ms": 3_000,
    "crowd_repeat": 3,
    "fork_children": 500,        # all at once
    "fork_mallocs": 40_000,      # of each: more than a ring holds
    "fork_runs": 10,
    "live_s": 20,
    "attach_times": 50,
    "attach_pieces": 20,
    "view_questions": 200,
    "view_steps": 3_030,
    "view_long_steps": 30_300,
    "view_events": 10_000_000,
    "view_long_events": 92_000_000,
    "view_doublings": 6,
    "view_snapshot": 20_000,
    "view_stacks": 80_000,
}
QUICK = {
    "events": 1_000_000,
    "thread_events": 200_000,
    "busy_events": 100_000,
    "heap_events": 200_000,
    "steps": 20,
    "paced_steps": 5,
    "analysis_steps": 20,
    "analysis_events": 100_000,
    "instant_steps": 200,
    "instant_rounds": 30_000,
    "passes": 2,
    "repeat": 1,
    "heap_repeat": 1,
    "stack_depths": (3,),
    "stack_threads": (1, 4),
    "stack_repeat": 1,
    "program_repeat": 1,
    "program_sample_repeat": 1,
    "program_size": 0,
    "many_stacks": 5_000,
    "plugin_loads": 50,
    "start_repeat": 2,
    "sleep_ms": 200,
    "turn_steps": 1,
    "torch_programs": 1,
    "torch_turns": 2,
    "torch_profiler_programs": 1,
    "torch_profiler_turns": 1,
    "switched_turns": 2,
    "switched_steps": 4,
    "switched_seconds": 60,
    "mxnet_programs": 1,
    "mxnet_turns": 2,
    "mxnet_profiler_programs": 1,
    "mxnet_profiler_turns": 1,
    "snapshot_entries": 20_000,
    "import_repeat": 1,
    "crowd_threads": (2, 16),
    "crowd_ms": 100,
    "crowd_repeat": 1,
    "fork_children": 10,
    "fork_mallocs": 1_000,
    "fork_runs": 1,
    "live_s": 2,
    "attach_times": 2,
    "attach_pieces": 2,
    "view_questions": 4,
    "view_steps": 20,
    "view_long_steps": 30,
    "view_events": 100_000,
    "view_long_events": 200_000,
    "view_doublings": 1,
    "view_snapshot": 5_000,
    "view_stacks": 1_000,
}


class Context:
    """Shared by all rows; keeps what one row measured for the others."""

    def __init__(self, quick):
        root = HERE.parent.parent
        self.build = pathlib.Path(os.environ.get("BUILD_DIR") or root / "build").resolve()
        self.memledger = os.environ.get("MEMLEDGER") or str(self.build / "src/cli/memledger")
        self.programs = pathlib.Path(os.environ.get("BENCH_PROGRAMS") or
                                     self.build / "tests/bench")
        self.memray = shutil.which(os.environ.get("MEMRAY", "memray"))
        # The tests know the same variable.
        self.torch_python = os.environ.get("TORCH_PYTHON") or sys.executable
        self.heaptrack = shutil.which("heaptrack")
        self.quick = quick
        self.sizes = dict(QUICK if quick else FULL)
        self.cores = len(os.sched_getaffinity(0))
        (self.build / "bench").mkdir(parents=True, exist_ok=True)
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="run-", dir=self.build / "bench"))
        self._known = {}

    def close(self):
        shutil.rmtree(self.dir, ignore_errors=True)

    def once(self, measure):
        """The result of measure(self), which is called the first time only."""
        if measure not in self._known:
            self._known[measure] = measure(self)
        return self._known[measure]

    def program(self, name):
        return str(self.programs / name)

    def file(self, name):
        return str(self.dir / name)

    def recorded(self, trace, argv, heap=False, options=()):
        """The command that records argv into the trace."""
        return [self.memledger, "run", "-q", "-f", "-o", trace, *options] + \
               (["--heap"] if heap else []) + ["--"] + list(argv)

    def contents(self, trace, repeat=1):
        """What bench_read says of a trace."""
        return run([self.program("bench_read"), "--repeat", repeat, trace]).out

    def python(self):
        """The interpreter that memray lives in, else this one."""
        if self.memray:
            beside = pathlib.Path(self.memray).with_name("python3")
            if beside.exists():
                return str(beside)
        return sys.executable


def check_count(contents, expected, what):
    """A trace must hold what was reported; lost events are counted in it."""
    found = contents["events"] + contents["lost"]
    if found < expected:
        raise Failed("%s: %d events reported, %d in the trace, %d lost"
                     % (what, expected, contents["events"], contents["lost"]))


def _first_line(argv):
    try:
        out = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             stdin=subprocess.DEVNULL, check=False).stdout
        return out.decode("utf-8", "replace").splitlines()[0].strip()
    except (OSError, IndexError):
        return None


def _cpu_name():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        for line in f:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return "unknown"


def describe(ctx):
    """The machine and the versions, for the head of the report."""
    heaptrack = _first_line([ctx.heaptrack, "--version"]) if ctx.heaptrack else None
    memray = _first_line([ctx.memray, "--version"]) if ctx.memray else None
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "cpu": _cpu_name(),
        "cores": ctx.cores,
        "load_before": round(os.getloadavg()[0], 2),
        "memledger": (_first_line([ctx.memledger, "--version"]) or "?").split()[-1],
        "memray": memray.split()[-1] if memray else None,
        "heaptrack": heaptrack.split()[-1] if heaptrack else None,
        "python": (_first_line([ctx.python(), "--version"]) or "?").split()[-1],
        "quick": ctx.quick,
    }
