#!/usr/bin/env python3
# test_collector.py: the collector dies or hangs while a program runs. The program continues,
# waits a second at most, and losses are counted.
#
# SPDX-License-Identifier: Apache-2.0
import os
import resource
import signal
import subprocess

import harness
from harness import (check, collector_of, contains, equal, finish, program, read_line, start,
                     wait_until)
from kernel_counts import counting_sleeps, wait_until_asleep

# More than the default ring holds: 131,072 words, 5 for a pair of events.
FULL = 300000


def begin(*counts, **settings):
    process = start(program("emit"), *counts, stdin=subprocess.PIPE, **settings)
    equal(read_line(process), str(counts[0]), "events so far")
    return process, collector_of(process)


def go_on(process):
    process.stdin.write("\n")
    process.stdin.flush()


def check_few_sleeps(sleeps, waiters):
    """Fewer than if each had waited for a second. Whoever waits for the collector looks at it every
    0.1 s, and counts no look as more than 0.2 s."""
    limit = 40 + 5 * waiters
    check(int(sleeps) < limit, f"{sleeps} sleeps where {limit} are plenty: each waited by itself")


def test_killed():
    """The program ends by itself; what was written opens without its footer."""
    process, collector = begin(200000, FULL)
    wait_until(harness.allocations_so_far, "the first block on disk")
    os.kill(collector, signal.SIGKILL)
    go_on(process)
    result = finish(process)
    equal(result.code, 7, "exit code", result)
    contains(result.out, f"done {200000 + FULL}", "output")
    contains(result.err, "the collector was killed; t.mled holds what it had written", "note")
    check("events of" not in result.err, "the note counts events that may not be there", result)
    trace = result.dump()
    check(not trace["has_index"], "a killed collector wrote a footer")
    check(0 < trace["kinds"]["alloc"] <= 100000 + FULL, "events in the trace", trace["kinds"])
    check(harness.report("summary", "t.mled")["health"]["cut_short"], "not said to be cut short")


def test_killed_at_once():
    """Before anything was written: the file is there and opens."""
    process, collector = begin(2, FULL)
    os.kill(collector, signal.SIGKILL)
    go_on(process)
    result = finish(process)
    equal(result.code, 7, "exit code", result)
    result.dump()


def test_children_after_death():
    """Processes that start without a collector are not held up."""
    process = start(*counting_sleeps(
        "sh", "-c", 'read line; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18; '
        f'do {program("ends")} exit 0; done; exit 5'), stdin=subprocess.PIPE)
    os.kill(collector_of(process), signal.SIGKILL)
    go_on(process)
    result = finish(process)
    equal(result.code, 5, "exit code", result)
    check_few_sleeps(result.out, 18)


def test_stopped():
    """A full ring and a collector that stands still: the program drops, counts
    and goes on; then all is recorded again, under the names given meanwhile."""
    process, collector = begin(1000, FULL, 1000)
    os.kill(collector, signal.SIGSTOP)
    go_on(process)
    equal(read_line(process), str(1000 + FULL), "events so far, with the collector stopped")
    os.kill(collector, signal.SIGCONT)
    go_on(process)
    result = finish(process)
    total = 2000 + FULL
    equal(result.code, 7, "exit code", result)
    contains(result.out, f"done {total}", "output")
    contains(result.err, "events were lost", "note")
    trace = result.dump()
    recorded = trace["kinds"]["alloc"] + trace["kinds"]["free"]
    check(trace["lost"] > 0, "nothing was lost, so nothing was tested")
    check(trace["has_index"], "no footer")
    equal(recorded + trace["lost"], total, "recorded and lost together", trace["lost"])
    equal(trace["lost_ring_full"], trace["lost"], "lost for a full ring")
    for verb in ("summary", "stats"):
        report = harness.report(verb, "t.mled")
        lost = report["lost"] if "lost" in report else report["health"]["lost"]
        equal(lost, trace["lost"], f"lost in memledger {verb}")


def test_stopped_names():
    """Names that were first used while nobody listened are not lost for good."""
    process = start(program("late_names"), stdin=subprocess.PIPE)
    equal(read_line(process), "ready", "first line")
    collector = collector_of(process)
    os.kill(collector, signal.SIGSTOP)
    go_on(process)
    equal(read_line(process), "named", "with the collector stopped")
    written = os.path.getsize("t.mled")
    os.kill(collector, signal.SIGCONT)
    wait_until(lambda: os.path.getsize("t.mled") > written, "the collector empties the ring")
    go_on(process)
    result = finish(process)
    equal(result.code, 0, "exit code", result)
    trace = result.dump(events=True)
    check(trace["lost"] > 0, "nothing was lost, so nothing was tested")
    scopes = {e["scope"] for e in trace["events"] if e["kind"] == "alloc" and e["size"] == 77}
    equal(scopes, {"named while the ring was full"}, "scope of the last allocation")


def test_stopped_once_per_run():
    """Many threads and processes meet the same standstill: they do not each
    wait a second."""
    process = start(*counting_sleeps(program("stand_still"), "12", "12"), stdin=subprocess.PIPE)
    equal(read_line(process), "ready", "first line")
    collector = collector_of(process)
    os.kill(collector, signal.SIGSTOP)
    go_on(process)
    equal(read_line(process), "done", "with the collector stopped")
    sleeps = read_line(process)
    os.kill(collector, signal.SIGCONT)
    equal(finish(process).code, 0, "exit code")
    check_few_sleeps(sleeps, 24)


def test_started_meanwhile():
    """A program that starts when the collector stands still and its queue is
    full is recorded as soon as it moves again; until then its events are counted."""
    fill = "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do /bin/true; done"
    process = start("sh", "-c", f"echo ready; read line; {fill}; exec {program('emit')} 1000 1000",
                    stdin=subprocess.PIPE)
    equal(read_line(process), "ready", "first line")
    collector = collector_of(process)
    with open("/proc/sys/net/unix/max_dgram_qlen") as f:
        queue = int(f.read())
    if queue > 13:
        process.kill()
        raise harness.Skip(f"the kernel queues {queue} messages, more than are sent", machine=True)
    os.kill(collector, signal.SIGSTOP)
    go_on(process)
    equal(read_line(process), "1000", "events so far, with the collector stopped")
    os.kill(collector, signal.SIGCONT)
    # The program finds a place in the queue again.
    wait_until_asleep(collector, 20, "rounds of the collector")
    go_on(process)
    result = finish(process)
    equal(result.code, 7, "exit code", result)
    trace = result.dump()
    recorded = trace["kinds"]["alloc"] + trace["kinds"]["free"]
    equal((recorded, trace["lost"]), (1000, 1000), "recorded and lost")
    equal([s["name"] for s in trace["spaces"]], ["emitted"], "spaces")


def link_of(pid, fd):
    """What a descriptor is of; one may be closed while we look."""
    try:
        return os.readlink(f"/proc/{pid}/fd/{fd}")
    except FileNotFoundError:
        return ""


def processes_held(pid):
    """How many processes it has descriptors for."""
    return sum("pidfd" in link_of(pid, fd) for fd in os.listdir(f"/proc/{pid}/fd"))


def kept_descriptors(pid):
    """Without those that it opens for a moment."""
    kept = None
    for _ in range(20):
        now = set(map(int, os.listdir(f"/proc/{pid}/fd")))
        kept = now if kept is None else kept & now
        wait_until_asleep(pid, 1, "a round of the collector")
    return kept


def test_set_not_taken():
    """A collector that is out of descriptors lives on, but does not empty what it
    could not take in: nobody waits for that for ever."""
    process = start("sh", "-c", f"echo ready; read line; exec {program('emit')} {FULL}",
                    stdin=subprocess.PIPE)
    equal(read_line(process), "ready", "first line")
    collector = collector_of(process)
    # One for the program it was started with, one for the shell as a target.
    harness.wait_until(lambda: processes_held(collector) == 2, "the shell to be taken in")
    used = kept_descriptors(collector)
    lowest_free = min(set(range(len(used) + 1)) - used)
    resource.prlimit(collector, resource.RLIMIT_NOFILE, (lowest_free, lowest_free))
    go_on(process)
    result = finish(process)
    equal(result.code, 7, "exit code", result)
    contains(result.err, "1 process was not recorded", "note")
    trace = result.dump()
    equal(trace["kinds"].get("alloc"), None, "allocations")
    check(trace["lost"] > 0, "what did not fit into the rings is not counted")


harness.main(globals())
