#!/usr/bin/env python3
# test_disk_full.py: no room for the trace. The program is unharmed, the file is
# good, and recorded and lost events add up.
#
# SPDX-License-Identifier: Apache-2.0
import contextlib
import os
import resource
import subprocess
import sys

import harness
from harness import Skip, check, contains, equal, plain, program, run

EVENTS = 2000000
# Samples would be among what is counted, and nobody knows how many.
EXACT = ("--sample-hz", "0")
# The collector's own: the end of the thread and of the process.
ENDS = 2


def check_books(result, message):
    """Every event that was made is either in the file or counted there."""
    equal(result.code, 7, "exit code", result)
    contains(result.out, f"done {EVENTS}", "output")
    contains(result.err, message, "note")
    contains(result.err, "events were lost", "note")
    trace = result.dump()
    check(trace["has_index"], "no footer")
    check(trace["lost_not_written"] > 0, "nothing was lost, so nothing was tested", result)
    check(trace["kinds"].get("alloc"), "nothing fitted", result)
    recorded = sum(n for kind, n in trace["kinds"].items() if kind != "lost")
    equal(recorded + trace["lost"], EVENTS + ENDS, "recorded and lost together", trace["kinds"])
    equal(harness.report("summary", result.trace)["lost"], trace["lost"], "lost in the summary")
    check(f"{trace['lost']:,} events were lost" in result.err, "the note has another number",
          result, trace["lost"])


@contextlib.contextmanager
def small_disk(kib):
    if os.geteuid():
        raise Skip("only root may mount a tmpfs", machine=True)
    os.mkdir("disk")
    mounted = plain("mount", "-t", "tmpfs", "-o", f"size={kib}k", "tmpfs", "disk")
    if mounted.returncode:
        raise Skip(f"no tmpfs can be mounted here: {mounted.stderr}", machine=True)
    try:
        yield
    finally:
        plain("umount", "-l", "disk")


def test_tmpfs_full():
    with small_disk(1024):
        check_books(run(program("emit"), EVENTS, trace="disk/t.mled", options=EXACT),
                    "disk/t.mled could not be written to its end: No space left on device")


def test_tmpfs_tiny():
    """Not even the first block fits: the file says how much is missing."""
    with small_disk(16):
        result = run(program("emit"), EVENTS, trace="disk/t.mled", options=EXACT)
        equal(result.code, 7, "exit code", result)
        trace = result.dump()
        check(trace["has_index"], "no footer")
        recorded = sum(n for kind, n in trace["kinds"].items() if kind != "lost")
        equal(recorded + trace["lost"], EVENTS + ENDS, "recorded and lost together",
              trace["kinds"])


def test_disk_full_before():
    """No room even for the file's header: refused, the program is not started."""
    with small_disk(4):
        with contextlib.suppress(OSError), open("disk/filler", "wb") as f:
            f.write(bytes(8192))
        result = run("touch", "ran", trace="disk/t.mled")
        equal(result.code, 1, "exit code", result)
        contains(result.err, "No space left on device", "message")
        check(not os.path.exists("ran"), "the program was started")


FILLS_THE_DISK = """
from memledger.mxnet import profiler
profiler.set_config(gpu_memory_profile_filename_prefix="held", filename="held.json")
profiler.set_state("run")
counter = profiler.Counter(profiler.Domain("d"), "c")
for i in range(200000):
    counter.set_value(i * i * 7919 % 1000003)
profiler.dump()
"""


def test_trace_so_far():
    """A program that exports it while it runs learns that some of it is missing."""
    with small_disk(64):
        result = run(sys.executable, "-c", FILLS_THE_DISK, trace="disk/t.mled", options=EXACT)
    equal(result.code, 0, "exit code", result)
    contains(result.err, "cannot write the memory profile: ", "warning")
    contains(result.err, "t.mled could not be written to its end: No space left on device; ",
             "warning")


# Those that are long enough of a long trace.
FORMATS = ("mxnet-csv", "mxnet-log", "tbd-log", "chrome", "csv", "json", "sqlite",
           "torch-snapshot")


def export_fails(format_name, output, reason, **settings):
    done = plain(harness.MEMLEDGER, "export", "-f", "--format", format_name, "-o", output, "t.mled",
                 **settings)
    equal(done.returncode, 1, f"exit code of {format_name}", done)
    equal(done.stderr, f"memledger: {output}: cannot write: {reason}\n", format_name)


def test_exports():
    """A full disk is called that, and the file that was there stays."""
    run(program("emit"), 100000)
    with small_disk(64):
        with open("disk/x", "w") as f:
            f.write("precious")
        for name in FORMATS:
            export_fails(name, "disk/x", "No space left on device")
            equal(os.listdir("disk"), ["x"], f"what {name} leaves")
        with open("disk/x") as f:
            equal(f.read(), "precious", "the file that was there")
    for name in ("pprof", "speedscope"):
        export_fails(name, "/dev/full", "No space left on device")
    with open("x", "w") as f:
        f.write("precious")
    for name in FORMATS:
        export_fails(name, "x", "File too large", preexec_fn=limit_files(16))
    with open("x") as f:
        equal(f.read(), "precious", "the file that was there")
    equal(sorted(os.listdir()), ["disk", "t.mled", "x"], "what is left")


def limit_files(kib):
    def set_limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (kib * 1024, resource.RLIM_INFINITY))
    return set_limit


def test_file_limit():
    """The collector meets RLIMIT_FSIZE; the program lifts it for itself."""
    result = run("sh", "-c", f"ulimit -S -f unlimited; exec {program('emit')} {EVENTS}",
                 options=EXACT, preexec_fn=limit_files(1024))
    check_books(result, "t.mled could not be written to its end: File too large")
    contains(result.err, "1 process was not recorded", "note on the shell under the limit")


def test_file_limit_for_all():
    """A program under the limit cannot have rings, and must not get SIGXFSZ."""
    result = run(program("emit"), 1000, preexec_fn=limit_files(64))
    equal(result.code, 7, "exit code", result)
    contains(result.err, "1 process was not recorded: no room for the recorder's buffers", "note")
    trace = result.dump()
    equal(trace["lost"], 1000, "lost")
    equal(trace["kinds"].get("alloc"), None, "allocations")


def test_file_limit_nothing():
    result = run(program("emit"), 1000, preexec_fn=limit_files(0))
    equal(result.code, 1, "exit code", result)
    contains(result.err, "File too large", "message")


def test_stays_readable():
    """A reader that comes while the file is being written sees whole blocks."""
    process = harness.start(program("emit"), 200000, 200000, stdin=subprocess.PIPE)
    harness.read_line(process)
    harness.wait_until(harness.allocations_so_far, "the first block on disk")
    trace = harness.dump("t.mled")
    check(not trace["has_index"] and trace["kinds"].get("alloc"), "what a reader sees", trace)
    process.stdin.write("\n")
    equal(harness.finish(process).code, 7, "exit code")


harness.main(globals())
