# mxnet_trace.py: what the tests of MXNet share: the Python that has it, and what a trace
# says of its storage.
#
# MXNET_VERSION is the one to test.
#
# SPDX-License-Identifier: Apache-2.0
import os

import pypi

VERSION = os.environ["MXNET_VERSION"]
IS_2 = VERSION.startswith("2")
FOLDER = os.path.join(os.environ["PYPI_FOLDER"], f"mxnet-{VERSION}")
PROBE_BYTES = 7000001  # as in mxnet_cases.py and in the examples' own_counter.py
NAIVE = {"MXNET_ENGINE_TYPE": "NaiveEngine"}


def python():
    return os.path.join(pypi.environment(os.environ["PYPI_REQUIREMENTS"], FOLDER), "bin/python")


def events(trace, *kinds, device="cpu"):
    spaces = [i for i, s in enumerate(trace["spaces"])
              if (s["device"], s["name"]) == (device, "mxnet")]
    return [e for e in trace["events"] if e["kind"] in kinds and e.get("space") in spaces]


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
