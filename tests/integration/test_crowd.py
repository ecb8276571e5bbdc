#!/usr/bin/env python3
# test_crowd.py: more threads and processes than there are processors, all of which wait for the
# collector, and a collector that gets no processor: nothing is lost, and no thread polls. A
# stopped collector costs the crowd a moment, and losses are counted.
#
# SPDX-License-Identifier: Apache-2.0
import contextlib
import os
import select
import signal
import subprocess
import sys

import harness
from harness import check, collector_of, equal, finish, program, read_line, start
from kernel_counts import times_asleep, wait_until_asleep

RING_BYTES = 65536
WORDS_OF_PAIR = 5
HALF_RING_PAIRS = RING_BYTES // 8 // 2 // WORDS_OF_PAIR
# Looks at the collector that a waiting thread makes in a second, and as many again.
LOOKS_PER_S = 20
SLEEPS_ELSEWHERE = 4  # of a thread: at the start line, at its end


def begin(how, count, pairs):
    # In our session: the kernel may share processors out by session first.
    process = start(program("crowd"), how, count, pairs, stdin=subprocess.PIPE,
                    options=["-f", f"--ring-size={RING_BYTES}"], start_new_session=False)
    equal(read_line(process), "ready", "first line")
    return process, collector_of(process)


def go_on(process):
    process.stdin.write("\n")
    process.stdin.flush()


def each_thread(pid, change):
    """Changes the process's threads; one may end meanwhile, such as the sampler's without a GPU."""
    for thread in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(ProcessLookupError):
            change(int(thread))


def pin(pid, processor):
    each_thread(pid, lambda thread: os.sched_setaffinity(thread, {processor}))


@contextlib.contextmanager
def hogs(count, processor):
    """Processes that do nothing but use a processor."""
    code = f"import os; os.sched_setaffinity(0, {{{processor}}})\nprint(flush=True)\nwhile True: pass"
    processes = []
    try:
        for _ in range(count):
            processes.append(subprocess.Popen([sys.executable, "-Sc", code], text=True,
                                              stdout=subprocess.PIPE))
        for process in processes:
            process.stdout.readline()
        yield
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def schedule(pid, policy):
    each_thread(pid, lambda thread: os.sched_setscheduler(thread, policy, os.sched_param(0)))


@contextlib.contextmanager
def starved(collector):
    """That process wants to run, but hardly ever may, until the end of this."""
    processors = os.sched_getaffinity(0)
    processor = min(processors)
    pin(collector, processor)
    schedule(collector, os.SCHED_IDLE)
    with hogs(8, processor):
        yield
    with contextlib.suppress(PermissionError):  # other users may have to be patient
        schedule(collector, os.SCHED_OTHER)
    each_thread(collector, lambda thread: os.sched_setaffinity(thread, processors))


def is_readable(file):
    """Whether there is something to read now."""
    return bool(select.select([file], [], [], 0)[0])


def target_of(process, collector):
    [target] = set(harness.children(process.pid)) - {collector}
    return target


def sleeps_of_threads(pid):
    """Voluntary context switches of all threads that have not ended."""
    sleeps = []
    with contextlib.suppress(FileNotFoundError):
        each_thread(pid, lambda thread: sleeps.append(times_asleep(thread)))
    return sum(sleeps)


def check_all_there(result, count, pairs):
    equal(result.code, 0, "exit code", result)
    trace = result.dump()
    harness.balanced(trace)
    equal((trace["kinds"]["alloc"], trace["kinds"]["free"]), (count * pairs, count * pairs),
          "allocations and frees")
    return trace


def test_threads_on_one_processor():
    """Each sleeps until half of its ring is free, and is woken then."""
    count, pairs = 100, 20 * HALF_RING_PAIRS
    process, collector = begin("threads", count, pairs)
    processor = min(os.sched_getaffinity(0))
    for pid in harness.children(process.pid):
        pin(pid, processor)
    go_on(process)
    result = finish(process)
    check_all_there(result, count, pairs)
    switches, seconds = map(int, result.out.split()[-2:])
    wakes = count * pairs // HALF_RING_PAIRS
    limit = 4 * wakes + count * (SLEEPS_ELSEWHERE + LOOKS_PER_S * (seconds + 1))
    check(switches < limit, f"{switches} sleeps where {limit} are plenty: threads poll", result)


def test_forks_beside_hogs():
    """Processes that all say hello at once and fill their rings."""
    count, pairs = 60, 4 * HALF_RING_PAIRS
    process, _ = begin("forks", count, pairs)
    with hogs(3, min(os.sched_getaffinity(0))):
        go_on(process)
        result = finish(process)
    trace = check_all_there(result, count, pairs)
    equal(len(trace["processes"]), 1 + count, "processes")


def test_collector_without_processor():
    """One that wants to run and may not is not stuck, however long that takes."""
    count, pairs = 4, 400 * HALF_RING_PAIRS
    process, collector = begin("threads", count, pairs)
    target = target_of(process, collector)
    with starved(collector):
        go_on(process)
        # For a stopped collector, which shows no sign of life either, they would wait a quarter of this.
        enough = count * 2 * LOOKS_PER_S
        harness.wait_until(lambda: is_readable(process.stdout) or sleeps_of_threads(target) >= enough,
                           f"{enough} sleeps of the crowd")
        check(not is_readable(process.stdout), "the crowd ended: it did not wait for the collector")
    result = finish(process)
    check_all_there(result, count, pairs)


def test_signal_beside_collector_without_processor():
    """A thread that waits for the collector keeps a signal from the program for a second."""
    # More than the collector could take in while anybody waits.
    process, collector = begin("forks", 1, 100000 * HALF_RING_PAIRS)
    target = target_of(process, collector)
    with starved(collector):
        go_on(process)
        child = harness.wait_until(lambda: next(iter(harness.children(target)), None), "the child")
        wait_until_asleep(child, 10, "a child that waits for the collector")
        check(not is_readable(process.stdout), "the child has ended: it did not wait")
        os.kill(target, signal.SIGSTOP)  # what the kernel counts of the child stays after its end
        before = times_asleep(child)
        os.kill(child, signal.SIGTERM)
        harness.wait_until(lambda: not harness.runs(child), "the child's end")
        sleeps = times_asleep(child) - before
        os.kill(target, signal.SIGCONT)
    check(sleeps < LOOKS_PER_S, f"the child kept SIGTERM waiting for {sleeps} sleeps")
    equal(finish(process).code, 4, "how the program ended")


def test_stopped():
    """A crowd waits when the collector is stopped. It goes on, and what was lost is counted."""
    count, pairs = 64, 10 * HALF_RING_PAIRS
    process, collector = begin("threads", count, pairs)
    os.kill(collector, signal.SIGSTOP)
    go_on(process)
    done, sleeps, _ = read_line(process).split()
    equal(done, "done", "how the crowd ended")
    os.kill(collector, signal.SIGCONT)
    result = finish(process)
    equal(result.code, 0, "exit code", result)
    trace = result.dump()
    check(trace["lost"] > 0, "nothing was lost, so nothing was tested")
    equal(trace["kinds"]["alloc"] + trace["kinds"]["free"] + trace["lost"], 2 * count * pairs,
          "recorded and lost together")
    # One second, which all wait at the same time.
    limit = count * (SLEEPS_ELSEWHERE + LOOKS_PER_S)
    check(int(sleeps) < limit, f"{sleeps} sleeps where {limit} are plenty: waits are repeated")


def test_stopped_and_continued_at_once():
    """A stop that is shorter than the limit costs nothing."""
    count, pairs = 8, 10 * HALF_RING_PAIRS
    process, collector = begin("threads", count, pairs)
    os.kill(collector, signal.SIGSTOP)
    go_on(process)
    os.kill(collector, signal.SIGCONT)
    check_all_there(finish(process), count, pairs)


harness.main(globals())
