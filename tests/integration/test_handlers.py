#!/usr/bin/env python3
# test_handlers.py: signal handlers that record. No deadlock, nothing lost or
# nothing uncounted, the books balance and the scopes are right.
#
# SPDX-License-Identifier: Apache-2.0
import harness
from harness import check, contains, equal, program, run


def check_counts(*arguments):
    """Every event is in the trace or counted as lost."""
    result = run(program("in_handlers"), *arguments, options=["-f"])
    equal(result.code, 0, "exit code (4: errno was changed in a handler)", result)
    events, handlers = map(int, result.out.split())
    check(handlers > 100, f"only {handlers} handlers ran: nothing was tested")
    trace = result.dump()
    recorded = sum(trace["kinds"][kind] for kind in ("push", "alloc", "label", "free", "pop"))
    equal(recorded + trace["lost"], events, "recorded and lost together", trace["kinds"])
    equal(trace["kinds"]["push"], trace["kinds"]["pop"], "pushes and pops")
    equal(trace["replaced"], 0, "replaced")
    return result, trace, events


def check_handlers(*arguments):
    result, trace, events = check_counts(*arguments)
    # Handlers that leave the program no time to end a record fill its buffer.
    check(trace["lost"] < events / 100, "lost", trace["lost"])
    if not trace["lost"]:
        harness.balanced(trace)
        equal(trace["live_bytes"], 0, "live at the end")
    return result


def test_one_thread():
    check_handlers(400, 1)


def test_threads():
    check_handlers(400, 6)


def test_alternate_stack():
    check_handlers(200, 2, "altstack")


def test_sandbox():
    """Where signals cannot be held off while records are moved, and nobody waits for long."""
    result, trace, events = check_counts(300, 3, "sandbox")
    check(trace["lost"] < events / 2, "lost", trace["lost"])
    contains(result.err, "1 process entered a seccomp sandbox", "note")


def check_jumps(*arguments):
    """A record that is jumped out of is lost, or not: no other is, and none twice."""
    result = run(program("jumps_out"), *arguments, options=["-f", "-q"])
    equal(result.code, 0, "exit code", result)
    made, jumps = map(int, result.out.split())
    check(jumps > 100, f"only {jumps} jumps: nothing was tested")
    trace = result.dump()
    check(trace["lost"] <= jumps, f"{trace['lost']} events lost by {jumps} jumps")
    recorded = trace["kinds"]["alloc"]
    check(made - trace["lost"] <= recorded <= made + jumps,
          f"{recorded} recorded of {made}, {trace['lost']} lost, {jumps} jumps")


def test_jumps():
    check_jumps(1000)


def test_jumps_on_alternate_stack():
    check_jumps(1000, "altstack")


def test_names():
    """What a handler names is named, also when it interrupts a thread that is
    naming something."""
    result = check_handlers(100, 2)
    trace = result.dump(events=True)
    for event in trace["events"]:
        if event["kind"] == "label":
            check(event["label"], "a label without a name", event)
            equal(event["scope"].split(" > ")[-1], event["label"], "innermost scope")


harness.main(globals())
