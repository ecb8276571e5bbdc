#!/usr/bin/env python3
# test_stray_writes.py: a program that writes over the recorder's memory. It continues, the
# collector survives, and the file is valid, whatever it contains.
#
# SPDX-License-Identifier: Apache-2.0
import harness
from harness import check, equal, program, run


def scribbled(*arguments):
    result = run(program("scribble"), *arguments, options=["-f", "-q"])
    equal(result.code, 0, "exit code (2: nothing to write over)", result)
    check("collector was killed" not in result.err, "the collector died", result)
    trace = result.dump()
    check(trace["has_index"], "no footer", result)
    return trace


def test_position_set_back():
    trace = scribbled("head")
    check(trace["lost_damaged"] > 0 or trace["kinds"]["alloc"] >= 300000, "not noticed", trace)


def test_words():
    scribbled("words")


def test_state():
    scribbled("state")


def test_tail():
    """The ring looks full for ever: the program waits, but not for ever."""
    trace = scribbled("tail")
    check(trace["lost"] > 0 or trace["kinds"]["alloc"] == 301000, "not counted", trace)


def test_random():
    for seed in range(10):
        scribbled("all", seed)


harness.main(globals())
