#!/usr/bin/env python3
# test_heap_part.py: --heap=sample and --heap=large. Estimates by function are within the error that
# they state, blocks of the large mode are all those of a full recording that are large enough.
#
# SPDX-License-Identifier: Apache-2.0
import collections
import functools
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import harness
from harness import balanced, check, contains, equal, plain, report, run

SITES = harness.program("heap_stacks/heap_sites")
FUNCTIONS = ("small", "medium", "large", "growing")
OPTIONS = ["-q", "-f", "--sample-hz=0"]
FIGURES = ("allocated_bytes", "leaked_bytes", "calls")

# The threads and the seed are the same in each run, so the samples are, too: a bound of four
# standard errors either always holds or never.
SEED = "20"
BOUND = 4


def record(heap, *program, options=(), seed=SEED):
    os.environ["MEMLEDGER_HEAP_SEED"] = seed
    result = run(*(program or (SITES,)), options=OPTIONS + [f"--heap={heap}", *options])
    equal(result.code, 0, "exit code", result)
    return result


def costs(result):
    """function -> its figures, and the report."""
    table = report("table", result.trace, "--by", "function", "--of", "allocated", "-n", "100")
    return {g["function"]: g for g in table["groups"]}, table


@functools.cache
def full():
    return costs(record("malloc", options=["--stacks=native"]))[0]


def test_estimates_are_within_their_error():
    for mean in (512 << 10, 64 << 10):
        result = record(f"sample:{mean}")
        balanced(result.dump())
        found, table = costs(result)
        for name in FUNCTIONS:
            for figure in FIGURES:
                error = found[name]["standard_error"][figure]
                check(figure == "calls" or error >= 2 * mean, "an error for blocks without a sample",
                      found[name])
                off = abs(found[name][figure] - full()[name][figure])
                if found[name][figure]:
                    check(off <= BOUND * error + 1, f"{figure} of {name}, {mean}",
                          (found[name], full()[name]))
                else:  # no sample: there can only have been little
                    check(off <= 5 * mean, f"{figure} of {name}, {mean}", off)
        total = table["total"]
        check(total["standard_error"]["allocated_bytes"] < total["allocated_bytes"] / 10,
              "the error of the total", total)


def test_estimates_are_right_on_average():
    """The sums over many seeds have a small error."""
    seeds, sums, variance = 12, collections.Counter(), collections.Counter()
    for seed in range(1, seeds + 1):
        total = costs(record("sample:256KiB", seed=str(seed)))[1]["total"]
        for figure in FIGURES:
            sums[figure] += total[figure]
            variance[figure] += total["standard_error"][figure] ** 2
    expected = report("table", record("malloc", options=["--stacks=native"]).trace, "--by",
                      "function", "--of", "allocated")["total"]
    for figure in FIGURES:
        off = abs(sums[figure] - seeds * expected[figure])
        check(off <= BOUND * variance[figure] ** 0.5, figure, (sums, expected))


def test_forked_workers_have_their_own_samples():
    """Both children do the same at the same addresses."""
    code = ("import os\n"
            "def work(): return len([bytes(1000) for _ in range(100000)])\n"
            "work()\n"
            "for _ in range(2):\n"
            "    if os.fork() == 0:\n"
            "        work()\n"
            "        os._exit(0)\n"
            "    os.wait()\n")
    result = record("sample", sys.executable, "-c", code, seed="0")
    found = collections.defaultdict(list)
    for event in report("events", result.trace, "--kind", "alloc")["events"]:
        found[event["pid"]].append(event["address"])
    check(len(found) == 3, "processes", list(found))
    first, second = list(found.values())[1:]
    check(min(len(first), len(second)) > 50, "samples", found)
    check(len(set(first) & set(second)) < len(first) / 2, "the same samples", (first, second))


def test_totals_are_within_their_error():
    """Of all reports that count: the number of calls, and the bytes that were never freed."""
    truth = report("summary", record("malloc").trace)
    trace = record("sample:65536").trace
    summary, stats = report("summary", trace), report("stats", trace)
    health = summary["health"]
    for figure, error, wanted in (
            ("allocations", "allocations_standard_error", truth["allocations"]),
            ("peak_bytes", "peak_standard_error_bytes", truth["peak_bytes"])):
        check(abs(health[figure] - wanted) <= BOUND * health[error] + 1, figure, (health, wanted))
        equal(summary[figure], health[figure], f"{figure} of the summary")
    check(abs(stats["allocations"] - health["allocations"]) <= 65, "stats counts the same", stats)
    equal(stats["temporary_allocations"], None, "temporary ones are not known of samples")


def test_all_reports_have_the_same_totals():
    """A sample stands for a number of blocks that is not whole; groups lose no parts of them."""
    result = record("sample:16384")
    allocations = report("summary", result.trace)["allocations"]
    equal(report("stats", result.trace)["allocations"], allocations, "of stats")
    for by in ("function", "stack", "thread"):
        table = report("table", result.trace, "--of", "calls", "--by", by, "-n", "2")
        equal(table["total"]["calls"], allocations, f"of table --of calls --by {by}")
    equal(table["health"]["allocations"], allocations, "of the remark above reports")


def test_reports_say_that_they_estimate():
    result = record("sample")
    for command in (["summary"], ["table", "--by", "stack"], ["table"], ["leaks"],
                    ["table", "--by", "function", "--of", "allocated"]):
        text = plain(harness.MEMLEDGER, *command, result.trace).stdout
        contains(text, "malloc was sampled, every 512.0 KiB on average", " ".join(command))
    contains(text, "± ", "errors of groups")
    health = report("summary", result.trace)["health"]
    equal(health["sampled_bytes"], 512 << 10, "bytes between two samples")
    check(0 < health["peak_standard_error_bytes"] < health["peak_bytes"] / 4, "error", health)
    event = report("events", result.trace, "--kind", "alloc", "-n", "1")["events"][0]
    check(event["bytes"] >= 512 << 10 and event["requested_bytes"] <= event["bytes"], "event", event)
    check(event["stack"], "a sample has a stack", event)


def test_nothing_recorded():
    for heap, words in (("sample:1GiB", "was sampled"), ("large:1GiB", "was large enough")):
        result = record(heap, "true")
        contains(plain(harness.MEMLEDGER, "summary", result.trace).stdout,
                 f"no block of malloc {words}", heap)


def test_samples_without_stacks():
    result = record("sample", options=["--stacks=none"])
    event = report("events", result.trace, "--kind", "alloc", "-n", "1")["events"][0]
    check("stack" not in event, "stack", event)


def sizes(result, least):
    """How often each size occurs in an event of each kind."""
    kept = collections.Counter()
    for event in report("events", result.trace)["events"]:
        if event["kind"] in ("alloc", "free", "move") and event.get("bytes", 0) >= least:
            kept[event["kind"], event["bytes"]] += 1
    return kept


def test_large_blocks():
    least = 5000
    everything = sizes(record("malloc"), least)
    result = record(f"large:{least}")
    balanced(result.dump())
    found = sizes(result, 0)
    wrong = list(((found - everything) + (everything - found)).items())
    equal(wrong[:5], [], "blocks from 5,000 bytes on")
    contains(plain(harness.MEMLEDGER, "summary", result.trace).stdout,
             "only blocks of 4.9 KiB or more were recorded", "summary")


def test_large_is_everything():
    """The set of recorded blocks, with all blocks of programs with threads, children, handlers."""
    for name in ("threads", "signals", "processes"):
        program = harness.program(f"heap/heap_{name}")
        everything = record("malloc", program).dump()["kinds"]
        found = record("large:1", program).dump()
        equal(found["unknown_frees"], 0, f"frees of {name}")
        for key in ("alloc", "free", "move"):
            ours, all_of_them = found["kinds"].get(key, 0), everything.get(key, 0)
            check(abs(ours - all_of_them) <= all_of_them / 100, f"{key} of {name}",
                  (ours, all_of_them))


def test_wrong_values():
    for value, words in (("large", "needs a size"), ("large:", "is not a size"),
                         ("sample:none", "is not a size"), ("sample:0", "from 1 to"),
                         ("malloc:5", "is not one of"), ("samples", "is not one of")):
        done = plain(harness.MEMLEDGER, "run", f"--heap={value}", "true")
        equal(done.returncode, 2, f"exit code of --heap={value}", done.stderr)
        contains(done.stderr, words, f"--heap={value}")


harness.main(globals())
