#!/usr/bin/env python3
# test_autograd_layout.py: autograd's nodes belong to the modules that made them; nodes with
# another layout are left alone, and a message says so. With a double in PyTorch's place.
#
# SPDX-License-Identifier: Apache-2.0
import harness
from harness import MEMLEDGER, contains, equal, plain, program, report, run

NODES = 20


def scopes_of(layout):
    """How the run went, and the scopes of the blocks that its nodes took."""
    result = run(program("runs_nodes"), layout, options=["-qf"])
    equal((result.code, result.out), (0, f"{NODES}\n"), "exit code and output", result)
    groups = report("table", result.trace, "--by", "scope")["groups"]
    return result, {group["scope"]: group["blocks"] for group in groups}


def test_known_layouts():
    for layout in ("weak", "counted"):
        result, scopes = scopes_of(layout)
        equal(result.err, "", f"the message about {layout}")
        equal(scopes, {"backward: net": NODES}, f"scopes of {layout}")


def test_other_layout():
    result, scopes = scopes_of("other")
    equal(result.err.count("cannot read this PyTorch's autograd"), 1, "notes", result)
    equal([scope for scope in scopes if "net" in (scope or "")], [], "scopes with a module")
    equal(report("summary", result.trace)["health"]["left_alone"], ["autograd"], "health")
    contains(plain(MEMLEDGER, "summary", result.trace).stdout,
             "memory of backward passes has no modules", "what the summary says")


harness.main(globals())
