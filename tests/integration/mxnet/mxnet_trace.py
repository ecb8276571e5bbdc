# mxnet_trace.py: reads a trace's figures of MXNet's storage.
#
# SPDX-License-Identifier: Apache-2.0
from mxnet_run import events

PROBE_BYTES = 7000001  # as in mxnet_cases.py and in the examples' own_counter.py


def follow(trace, device="cpu"):
    """(size of what was born, 0 for a free; live bytes after it) for each event."""
    sizes, live = {}, 0
    for e in events(trace, "alloc", "free", device=device):
        key = e["space"], e["addr"]
        size = e["size"] if e["kind"] == "alloc" else 0
        live += size or -sizes.pop(key)
        if size:
            sizes[key] = size
        yield size, live


def live_at_end(trace, device="cpu"):
    return [live for _, live in follow(trace, device)][-1]


def live_at_probes(trace, steps):
    """Live bytes when the probe of each step was born, with it."""
    return [live for size, live in follow(trace) if 0 <= size - PROBE_BYTES < steps]
