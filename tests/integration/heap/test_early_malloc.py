#!/usr/bin/env python3
# test_early_malloc.py: programs whose first malloc comes from a library's constructor, or from
# the loader, while libc holds a lock. They must end as they do without memledger.
#
# SPDX-License-Identifier: Apache-2.0
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import harness
from harness import check, equal, plain, run

EARLY_BYTES, MAIN_BYTES = 1234, 4321


def compare(command, options=(), env=None):
    """Under memledger as alone; returns the sizes of the recorded allocations."""
    alone = plain(*command, env=env)
    result = run(*command, options=["-q", "-f", *options], env=env)
    what = f"{command} {options} {env.get('EARLY_MALLOC') if env else ''}"
    equal((result.code, result.out, result.err), (alone.returncode, alone.stdout, alone.stderr),
          f"exit code, output and messages of {what}")
    trace = result.dump(events=True)
    equal(trace["lost"], 0, "lost")
    return [event["size"] for event in trace["events"] if event["kind"] == "alloc"]


def early(place, options=("--heap",), wanted=(EARLY_BYTES, MAIN_BYTES)):
    sizes = compare([harness.program("heap/early_main")], options,
                    dict(os.environ, EARLY_MALLOC=place))
    for size in wanted:
        equal(sizes.count(size), 1, f"allocations of {size} bytes", sizes)


def in_all_ways(place):
    early(place)
    early(place, ("--heap=all",))
    early(place, ("--heap", "--stacks=native"))
    early(place, (), ())


def test_plain():
    in_all_ways("plain")


def test_under_the_lock_of_locales():
    """newlocale allocates while it holds it, as libp11-kit's constructor has it do."""
    in_all_ways("locale")


def test_under_the_lock_of_loaded_libraries():
    in_all_ways("callback")


def test_under_locks_of_streams():
    in_all_ways("stdio")


def test_on_another_thread():
    """The first thread waits for it, and holds locks of the loader's and of a stream."""
    in_all_ways("thread")


def test_in_a_fork_handler():
    in_all_ways("fork_handler")


def test_in_a_look_up_that_fails():
    """dlerror must then tell of the program's failure, and of none of the recorder's."""
    in_all_ways("failed_look_up")


def test_before_the_recorder_is_relocated():
    """The resolver of an indirect function allocates: served, but too early to be recorded."""
    program = [harness.program("heap/early_ifunc_main")]
    check(plain(*program).returncode == 3, "the program fails by itself")
    for options in (("--heap",), ("--heap=all",)):
        sizes = compare(program, options)
        equal(sizes.count(MAIN_BYTES), 1, "allocations of the program", sizes)
        equal(sizes.count(2 * EARLY_BYTES), 1, "allocations that take over", sizes)


harness.main(globals())
