#!/usr/bin/env python3
# test_address_space.py: a limit on address space (ulimit -v). The recorder takes a small share
# of what is left, or nothing and says so; a program that nearly fills its limit ends as it does
# without memledger.
#
# SPDX-License-Identifier: Apache-2.0
import os

import harness
from harness import check, contains, equal, plain, program, run

UNRECORDED = "not recorded: no room for the recorder's buffers"
WAY_OUT = "--ring-size"

# What the recorder may take: its library, and a few hundredths of the rest.
LIBRARY_KIB = 2048
SHARE = 1 / 32

# One arena, not one of 64 MiB for each thread as long as there is room; and blocks are not filled.
ENV = dict(os.environ, MALLOC_ARENA_MAX="1", MALLOC_PERTURB_="0")


def limited(kib, *command):
    """A shell that sets the limit for the program only."""
    return ["sh", "-c", f'ulimit -v {kib}; exec "$@"', "sh", *map(str, command)]


def most(kib, threads):
    """How many KiB the program can have by itself."""
    done = plain(*limited(kib, program("fills_room"), "all", threads), env=ENV)
    equal(done.returncode, 0, f"exit code in {kib} KiB, alone", done.stdout, done.stderr)
    return int(done.stdout)


def same(kib, wanted, threads, options):
    """Returns whether the program was recorded."""
    command = limited(kib, program("fills_room"), wanted, threads)
    alone = plain(*command, env=ENV)
    result = run(*command, options=["-q", "-f", *options], env=ENV)
    what = f"{wanted} KiB and {threads} threads in {kib} KiB with {options}"
    equal((result.code, result.out), (alone.returncode, alone.stdout), what, result)
    trace = result.dump()
    if UNRECORDED in result.err:
        contains(result.err, WAY_OUT, "the note")
        equal(result.err.count("memledger:"), 2 if trace["lost"] else 1, "notes", result)
    else:
        equal(trace["lost"], 0, f"lost of {what}", result)
        check("room" in [s["name"] for s in trace["spaces"]], f"no names of {what}", trace)
    return UNRECORDED not in result.err


def in_limits(threads, limits, options):
    recorded = []
    for kib in limits:
        least = int(most(kib, threads) * (1 - SHARE)) - LIBRARY_KIB
        check(least > 0, f"{kib} KiB are too few for the program itself")
        recorded.append(same(kib, least, threads, options))
        same(kib, 2 * kib, threads, options)
    check(recorded[-1], f"not recorded in {limits[-1]} KiB")


# More than the first two tables of names hold.
NAMES = 40000

LIMITS = [9000, 20000, 120000, 1000000]


def test_recorder_alone():
    in_limits(0, LIMITS, ())


def test_heap():
    in_limits(0, LIMITS, ("--heap",))


def test_heap_and_mappings():
    in_limits(0, LIMITS, ("--heap=all",))


def test_threads():
    """More than a ring set has rings: further sets are made from what is left by then."""
    for options in ((), ("--heap",)):
        in_limits(24, [60000, 200000, 1000000], options)


def test_rings_that_were_asked_for():
    """--ring-size is the way out that the note names: it records where the note came."""
    for kib in range(12000, 5000, -500):
        emit = limited(kib, program("emit"), 1000)
        if UNRECORDED in run(*emit, options=["-q", "-f"]).err:
            break
    else:
        raise harness.Failure("every limit has room for the recorder")
    result = run(*emit, options=["-q", "-f", "--ring-size", "64KiB"])
    equal((result.code, result.out), (7, "done 1000\n"), f"in {kib} KiB", result)
    check(UNRECORDED not in result.err, f"not recorded in {kib} KiB", result)
    equal(result.dump()["kinds"]["alloc"], 500, "recorded")


def names_of(trace):
    """How many blocks have the name of their scope; the others must be among the other names."""
    named = folded = 0
    for event in trace["events"]:
        if event["kind"] != "alloc":
            continue
        scope = event.get("scope") or ""
        named += scope.startswith(f"name {event['size']} ")
        folded += scope == "(other names)"
    equal(named + folded, 2 * NAMES, "right names, and other names")
    return named


def test_many_names():
    """One table after the other; in little room some names are folded and none is wrong."""
    equal(names_of(run(program("names_twice"), NAMES).dump(events=True)), 2 * NAMES, "with a name")
    result = run(*limited(20000, program("names_twice"), NAMES), options=["-f"])
    equal(result.code, 0, "exit code", result)
    named = names_of(result.dump(events=True))
    check(1000 < named < 2 * NAMES, f"{named} blocks have a name in 20 MB")


def test_replies():
    """What the collector answers is not mapped in a limit, but can be read."""
    for kib in 20000, 200000:
        result = run(*limited(kib, program("profiler/profiler_api"), "table"), options=["-f"])
        equal(result.code, 0, f"exit code in {kib} KiB", result)
        contains(result.out, "Profile Statistics:", f"the answer in {kib} KiB")
        contains(result.out, "\ncounter ", f"the answer in {kib} KiB")


def test_own_limit():
    """A program that limits itself, in absolute terms, when the recorder is already there."""
    for options in ((), ("--heap",)):
        result = run(program("limits_itself"), 64 << 10, 32 << 10, options=["-q", "-f", *options])
        equal(result.code, 0, f"exit code with {options}", result)
        equal(result.dump()["lost"], 0, f"lost with {options}", result)


def test_cancelled():
    """To look how much room is left is no cancellation point."""
    for options in ((), ("--heap",)):
        result = run(*limited(200000, program("cancelled"), "forked"), options=["-q", "-f", *options])
        equal(result.code, 0, f"exit code with {options}", result)


harness.main(globals())
