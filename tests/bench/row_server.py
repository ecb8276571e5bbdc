# SPDX-License-Identifier: Apache-2.0
"""The server behind `memledger view`: its first timeline, random zooms, random instants."""
import os

from bench_table import Row, count
from long_traces import long_trace
from view_probe import COLUMNS, line, probe

TRACES = ("training-10m", "python-10m", "training-100m", "python-100m")


def row(ctx):
    r = Row("server", "The server of memledger view, asked as the page asks", ["", "events", "MiB"] + COLUMNS)
    for name in TRACES:
        trace = long_trace(ctx, name)
        events = ctx.contents(trace)["events"]
        figures = probe(ctx.memledger, trace)
        r.line(name, count(events), "%.0f" % (os.path.getsize(trace) / 2**20), *line(figures))
        r.data[name] = dict(figures, events=events)
    r.note("200 random windows, from the whole run to a millionth of it, and 200 random instants")
    return r
