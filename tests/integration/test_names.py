#!/usr/bin/env python3
# test_names.py: more names and spaces than most programs have are recorded, and those beyond
# the limits are counted and reported.
#
# SPDX-License-Identifier: Apache-2.0
import harness
from harness import MEMLEDGER, check, contains, equal, plain, program, report, run

BLOCK = 1000  # bytes in each hundredth scope


def even(spaces):
    """Bytes that many_names leaves in its spaces."""
    return sum(range(2, spaces + 1, 2))


def scopes(trace):
    """Blocks by scope, as the table shows them."""
    groups = report("table", trace, "--by", "scope", "--top", "1000000")["groups"]
    return {group["scope"]: (group["blocks"], group["bytes"]) for group in groups}


def test_a_thousand_spaces():
    """One block at the same address in each: none is taken for another."""
    for spaces in (253, 254, 255, 256, 300, 1000):
        result = run(program("many_names"), 0, spaces, options=["-qf"])
        equal(result.code, 0, "exit code", result)
        found = report("summary", result.trace)
        equal((found["allocations"], found["frees"], found["live_bytes"]),
              (spaces, (spaces + 1) // 2, even(spaces)), f"totals with {spaces} spaces")
        equal(found["health"]["replaced"] + found["health"]["unknown_frees"], 0, "mixed up")
        equal(len(result.dump()["spaces"]), spaces, "spaces")


def test_more_spaces_than_there_are_numbers():
    """The closing note and every report name what was refused."""
    result = run(program("many_names"), 0, 65600, options=["-f"])
    equal(result.code, 0, "exit code", result)
    contains(result.err, "spaces were refused, and allocations in them are missing", "note")
    found = report("summary", result.trace)
    # "blocks" is the first; 65 more are asked for than there are, those of odd size twice.
    equal((found["allocations"], found["health"]["spaces_refused"]), (65534, 66 + 33), "recorded")
    contains(plain(MEMLEDGER, "summary", result.trace).stdout, "99 spaces were refused", "warning")


def test_a_million_names():
    """Each scope has its own."""
    result = run(program("many_names"), 1200000, 0, options=["-qf"])
    equal(result.code, 0, "exit code", result)
    found = report("summary", result.trace)
    equal((found["live_bytes"], found["health"]["names_folded"]), (12000 * BLOCK, 0), "recorded")
    by_scope = scopes(result.trace)
    equal(len(by_scope), 12000, "scopes with a block")
    equal(set(by_scope.values()), {(1, BLOCK)}, "one block in each")


def test_no_room_for_more_names():
    """In little address space the names that come last become one, below the same parent."""
    result = run("sh", "-c", 'ulimit -v 220000; exec "$@"', "sh", program("many_names"), 1000000,
                 0, options=["-f"])
    equal(result.code, 0, "exit code", result)
    contains(result.err, 'names were recorded as "(other names)"', "note")
    found = report("summary", result.trace)
    folded = found["health"]["names_folded"]
    equal((found["live_bytes"], found["lost"]), (10000 * BLOCK, 0), "recorded and lost")
    check(0 < folded < 1000000, "names folded", folded)
    by_scope = scopes(result.trace)
    blocks = len(range(0, 1000000, 100)) - len(range(0, 1000000 - folded, 100))
    equal(by_scope["outer > (other names)"], (blocks, blocks * BLOCK), "folded")
    equal(by_scope["outer > scope 0"], (1, BLOCK), "one that had room")
    check("outer > scope 999900" not in by_scope, "one that had none", by_scope)
    check(None not in by_scope, "blocks without a scope", by_scope.get(None))
    contains(plain(MEMLEDGER, "summary", result.trace).stdout, "were recorded as \"(other names)\"",
             "warning")


def test_more_objects_than_there_are_numbers():
    """A million have one; the others are counted."""
    result = run(program("many_names"), 0, 0, 1 << 20, options=["-qf"])
    equal(result.code, 0, "exit code", result)
    found = report("summary", result.trace)
    equal(found["health"]["lost_not_followed"], 1, "objects without a number")


harness.main(globals())
