#!/usr/bin/env python3
# test_keep_window.py: what the trace of `run --keep` has of the time before its window, and what
# reports say of it.
#
# SPDX-License-Identifier: Apache-2.0
import json
import re

import harness
from harness import MEMLEDGER, check, contains, equal, finish, plain, program, report, run, start
from keeping import LIVE, last_number, new_told, watch

HIGHEST = 10**12  # bytes, more than all live blocks


def test_to_the_end():
    new_told()
    process = start(program("keeps_last"), "told", 4000000, HIGHEST,
                    options=["-f", "--keep", "16MiB", "--sample-hz", "0"])
    watch(process, "t.mled", lambda: False)
    result = finish(process)
    equal(result.code, 0, "exit code", result)
    n, summary = last_number("t.mled")
    equal(n, 4000000, "the last number")
    window = summary["health"]["window"]
    # The window may begin between a free and its allocation.
    allocations = window["allocations_before"] + summary["allocations"] - LIVE
    check(allocations in (4000001, 4000000), f"{allocations} allocations")
    live = json.loads(plain(MEMLEDGER, "live", "--once", "--json", "t.mled").stdout)
    equal(live["allocations"], 4000001, "allocations since the start")
    for part in (live, *live["devices"], *live["processes"], *live["spaces"]):
        equal(part["peak_bytes"], HIGHEST, "the peak, which was before the window", part)
    events = re.search(r"([\d,]+) events", result.err).group(1).replace(",", "")
    equal(live["events"], int(events), "events since the start", result.err)
    contains(plain(MEMLEDGER, "summary", "t.mled").stdout, "the window begins at", "summary")
    contains(result.err, "the last of them in", "the closing note")
    checked = plain(MEMLEDGER, "check", "--max-peak", "1TB", "t.mled")
    equal(checked.returncode, 1, "exit code of a check", checked.stdout)
    contains(checked.stdout, "dropped events", "a check")
    checked = plain(MEMLEDGER, "check", "--max-leaks", "1TB", "t.mled")
    equal(checked.returncode, 0, "exit code of a check for leaks", checked.stdout)


def test_a_time():
    new_told()
    result = run(program("keeps_last"), "told", 3000000,
                 options=["-f", "--keep", "50ms"])
    equal(result.code, 0, "exit code", result)
    n, summary = last_number("t.mled")
    equal(n, 3000000, "the last number")
    window = summary["health"]["window"]
    kept_ns = summary["duration_ns"] - window["begin_ns"]
    check(kept_ns >= 50000000, f"only {kept_ns} ns are kept")


def events_since(time_ns):
    """Their number, counted in text: as objects a million events take long."""
    said = plain(MEMLEDGER, "events", "--json", "t.mled").stdout
    return sum(int(time) >= time_ns for time in re.findall(r'"time_ns":\s*(\d+)', said))


def test_before_the_window():
    """A cache of constant size. Of the time before the window only those blocks are known that
    outlived it, which would look like growth."""
    result = run(program("keeps_many"), 50000, 3000000, options=["-f", "--heap", "--keep", "16MiB"])
    equal(result.code, 0, "exit code", result)
    summary = report("summary", "t.mled")
    equal(summary["lost"], 0, "lost")
    window = summary["health"]["window"]
    begin_ns, live = window["begin_ns"], summary["live_bytes"]
    equal(window["kept_ns"], summary["duration_ns"] - begin_ns, "kept")
    check(summary["peak_time_ns"] >= begin_ns, "the peak is before the window")
    contains(plain(MEMLEDGER, "summary", "t.mled").stdout, "kept: the last ", "summary")

    for command in (["table"], ["tree"], ["ledger", "--device", "cpu"]):
        early = plain(MEMLEDGER, *command, "--at", f"{begin_ns - 1}ns", "t.mled")
        equal(early.returncode, 1, f"exit code of {command[0]}", early.stdout)
        contains(early.stderr, "the first time is", command[0])
        contains(early.stderr, f"({begin_ns}ns)", command[0])
    first = report("table", "t.mled", "--at", f"{begin_ns}ns")
    check(live * 0.9 < first["bytes"] < live * 1.1, f"{first['bytes']} bytes, {live} at the end")

    leaks = report("leaks", "t.mled")
    equal(leaks["leaks"], [], "what grows")
    check(leaks["from_ns"] > begin_ns, "leaks begin before the window")
    check(leaks["from_bytes"] > live * 0.9, f"{leaks['from_bytes']} bytes, {live} at the end")
    plot = report("plot", "t.mled")
    column_ns = (plot["to_ns"] - plot["from_ns"]) / (len(plot["times_ns"]) - 1)
    check(plot["from_ns"] > begin_ns - 2 * column_ns, f"the plot begins at {plot['from_ns']}")
    before = plain(MEMLEDGER, "plot", "--to", f"{begin_ns}ns", "t.mled")
    equal(before.returncode, 1, "exit code of plot", before.stdout)
    contains(before.stderr, "was not kept", "plot --to")
    stats = report("stats", "t.mled")
    equal(stats["duration_ns"], window["kept_ns"], "the time that a rate is about")
    rate = events_since(begin_ns) / window["kept_ns"] * 1e9
    check(abs(stats["events_per_second"] / rate - 1) < 0.01,
          f"{stats['events_per_second']} events a second, expected {rate}")


harness.main(globals())
