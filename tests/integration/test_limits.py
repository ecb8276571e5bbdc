#!/usr/bin/env python3
# test_limits.py: no memory, no descriptors for the recorder. The program runs
# on as it would without, and that it was not recorded is seen.
#
# SPDX-License-Identifier: Apache-2.0
import os
import resource

import harness
from harness import check, contains, equal, program, run


def limited(limits, *command):
    """A shell that sets limits for the program only."""
    return ["sh", "-c", f'{limits}; exec "$@"', "sh", *map(str, command)]


def test_no_memory_for_rings():
    """Less address space than a ring set takes."""
    result = run(*limited("ulimit -v 40000", program("emit"), 1000))
    equal(result.code, 7, "exit code", result)
    contains(result.out, "done 1000", "output")
    contains(result.err, "1 process was not recorded: no room for the recorder's buffers", "note")
    contains(result.err, "1,000 events were lost", "note")
    trace = result.dump()
    equal((trace["kinds"].get("alloc"), trace["lost"]), (None, 1000), "recorded and lost")


def test_no_memory_for_names():
    """Enough for rings, not for the tables of names: events come without them."""
    result = run(*limited("ulimit -v 120000", program("emit"), 1000))
    equal(result.code, 7, "exit code", result)
    trace = result.dump()
    equal((trace["kinds"]["alloc"], trace["lost"]), (500, 0), "recorded and lost")


def test_names_after_a_limit():
    """A program that leaves itself little room before its first name has names all the same."""
    result = run(program("limits_itself"))
    equal(result.code, 0, "exit code", result)
    trace = result.dump()
    equal([(s["device"], s["name"]) for s in trace["spaces"]], [("cpu", "late")], "spaces")


def test_no_memory_for_more_rings():
    """The 65th thread gets none: what it does is counted."""
    result = run(*limited("ulimit -s 64; ulimit -v 200000", program("threads"), 100, 100))
    equal(result.code, 0, "exit code", result)
    trace = result.dump()
    recorded = trace["kinds"]["alloc"] + trace["kinds"]["free"]
    check(trace["lost"] > 0, "nothing was lost, so nothing was tested")
    equal(recorded + trace["lost"], 2000, "recorded and lost together", trace["kinds"])


def test_no_descriptors():
    """One, which the loader needs as well, but none for the socket."""
    result = run(*limited("ulimit -n 4", program("emit"), 1000))
    equal(result.code, 7, "exit code with 4 descriptors", result)
    contains(result.err, "1 process was not recorded", "note")
    equal(result.dump()["lost"], 1000, "lost")
    result = run(*limited("ulimit -n 5", program("emit"), 1000), options=["-f"])
    equal(result.dump()["kinds"]["alloc"], 500, "allocations with 5 descriptors")


def test_launcher_without_descriptors():
    """Refused with a message; never half a run."""
    for number in range(4, 16):
        result = run("touch", f"ran {number}", options=["-f"], preexec_fn=lambda:
                     resource.setrlimit(resource.RLIMIT_NOFILE, (number, number)))
        ran = os.path.exists(f"ran {number}")
        if ran:
            equal(result.code, 0, f"exit code with {number} descriptors", result)
        else:
            equal(result.code, 1, f"exit code with {number} descriptors", result)
            contains(result.err, "memledger: ", "message")
    check(ran, "15 descriptors are not enough", result)


def test_many_processes():
    """The collector needs descriptors for each: it takes what the limit allows."""
    result = run(program("families"), "storm", 60, preexec_fn=lambda:
                 resource.setrlimit(resource.RLIMIT_NOFILE, (24, 512)))
    equal(result.code, 0, "exit code", result)
    trace = result.dump()
    equal((trace["kinds"]["alloc"], trace["lost"]), (61, 0), "recorded and lost")


harness.main(globals())
