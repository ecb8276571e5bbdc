# perfetto_rules.py: what Chrome's trace viewer and Perfetto require of a JSON trace.
#
# After the format's own description and the errors that Perfetto's importer counts:
# phases that exist, fields that each needs, ends that have a beginning.
#
# SPDX-License-Identifier: Apache-2.0
import json
import math

FIELDS = {
    "B": ("name", "ts", "pid", "tid"),
    "E": ("ts", "pid", "tid"),
    "X": ("name", "ts", "dur", "pid", "tid"),
    "i": ("name", "ts", "pid", "tid", "s"),
    "C": ("name", "ts", "pid", "args"),
    "M": ("name", "pid", "args"),
    "b": ("name", "cat", "id", "ts", "pid", "tid"),
    "e": ("name", "cat", "id", "ts", "pid", "tid"),
    "s": ("name", "cat", "id", "ts", "pid", "tid"),
    "f": ("name", "cat", "id", "ts", "pid", "tid", "bp"),
}


def no_constants(name):
    raise ValueError(f"{name} is no JSON")


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file, parse_constant=no_constants)


def check_fields(event):
    wanted = FIELDS.get(event.get("ph"))
    if wanted is None:
        return f"no such phase: {event}"
    missing = [key for key in wanted if key not in event]
    if missing:
        return f"{missing} missing: {event}"
    for key in ("ts", "dur"):
        if key in event and not (isinstance(event[key], (int, float))
                                 and math.isfinite(event[key]) and event[key] >= 0):
            return f"{key} is no time: {event}"
    for key in ("pid", "tid"):
        if key in event and not (isinstance(event[key], int) and 0 <= event[key] < 2**31):
            return f"{key} is no number: {event}"
    return None


def check_values(event):
    """Of a counter: numbers, finite ones."""
    for value in event["args"].values():
        if isinstance(value, bool) or not isinstance(value, (int, float)) \
                or not math.isfinite(value):
            return f"no value of a counter: {event}"
    return None if event["args"] else f"a counter without values: {event}"


class Follower:
    """Beginnings and ends, as the viewer pairs them."""

    def __init__(self):
        self.slices = {}  # thread -> names that are open
        self.spans = set()
        self.flows = {}

    def take(self, event):
        phase = event["ph"]
        thread = (event["pid"], event.get("tid"))
        stack = self.slices.setdefault(thread, [])
        if phase == "B":
            stack.append(event["name"])
        elif phase == "E":
            if not stack:
                return f"an end without a beginning: {event}"
            if stack.pop() != event.get("name"):
                return f"ends another slice: {event}"
        elif phase in "sf":
            if not stack:
                return f"a flow outside of any slice: {event}"
            if phase == "s" and event["id"] in self.flows:
                return f"a flow that begins twice: {event}"
            if phase == "f" and self.flows.get(event["id"]) != "s":
                return f"a flow that ends without a beginning: {event}"
            self.flows[event["id"]] = phase
        elif phase in "be":
            span = (event["cat"], event["id"], event["name"])
            if (phase == "b") == (span in self.spans):
                return f"begun twice, or ended without: {event}"
            (self.spans.add if phase == "b" else self.spans.discard)(span)
        return None

    def rest(self):
        left = {thread: names for thread, names in self.slices.items() if names}
        return f"never ended: {left} {self.spans}" if left or self.spans else None


def errors(path):
    """All that is wrong with the file: nothing, hopefully."""
    trace = load(path)
    found, follower = [], Follower()
    if trace.get("displayTimeUnit") not in ("ms", "ns"):
        found.append("displayTimeUnit")
    # Both viewers sort by time and keep the order of what is equal.
    events = sorted(trace["traceEvents"], key=lambda e: e.get("ts", 0))
    for event in events:
        wrong = check_fields(event) or (check_values(event) if event["ph"] == "C" else None) \
            or follower.take(event)
        if wrong:
            found.append(wrong)
    rest = follower.rest()
    return found + ([rest] if rest else [])
