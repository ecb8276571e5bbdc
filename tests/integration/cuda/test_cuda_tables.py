#!/usr/bin/env python3
# test_cuda_tables.py: what the book of the CUDA driver and the tables of stacks have no room for is
# counted, and every report says so. The driver is the stand-in (docs/testing.md).
#
# SPDX-License-Identifier: Apache-2.0
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import harness
from harness import MEMLEDGER, check, contains, equal, plain, program, report, with_standin

POOLS, BLOCKS, ITEMS = 256, 3 << 16, 1 << 16  # as in cuda_state.h and cuda_blocks.c
EACH = 16  # blocks that are made at a time
CALLERS = program("cuda/cuda_callers")
CONTEXTS = 3  # items of each start of the driver: two devices are counted, one gets a context


def said(result, health, message):
    """The number of a counter, which the note of the run and the summary give, too."""
    number = report("summary", result.trace)["health"].get(health, 0)
    if number:
        text = f"{number:,} {message}"
        contains(result.err, text, "the note of the run")
        contains(plain(MEMLEDGER, "summary", result.trace).stdout, text, "the summary")
    return number


def record(*script):
    result = harness.run(program("cuda_steps_dlsym"), "init", "retain", *script,
                         options=("-qf", "--sample-hz", "0"),
                         env=with_standin(STANDIN_TOTAL_MIB=8000000))
    equal(result.code, 0, "exit code", result)
    check('"result": 0' in result.out.splitlines()[-1], "the driver refused", result)
    return result


def not_followed(result):
    return said(result, "lost_not_followed", "blocks and objects were not followed to their end")


def lost(*script):
    """Blocks and objects that were not followed."""
    return not_followed(record(*script))


def live_blocks(result):
    """By space, at the end."""
    groups = report("table", result.trace, "--by", "space", "--at", "end")["groups"]
    return {group["space"]: group["blocks"] for group in groups}


def test_pools():
    script = [step for i in range(300) for step in ("pool", f"from-pool:4K:{1 + 2 * i}")]
    equal(lost(*script), 300 - POOLS, "pools")


def test_blocks_and_mappings():
    """Handles that were made while there was room are mapped when there is none."""
    rounds = BLOCKS // EACH + 1
    script = ["reserve:2M", "create:2M", *(EACH - 1) * ["alloc:4K"], f"again:{rounds - 1}"]
    each_round = 1 + 1 + EACH  # objects: the context, the range, the blocks
    maps = [f"map:{1 + i * each_round}:{2 + i * each_round}" for i in range(10)]
    result = record(*script, *maps)
    equal(not_followed(result), rounds * EACH - BLOCKS + len(maps), "blocks and mappings")
    live = live_blocks(result)
    equal(live["cuda:0/cuda memory"] + live["cuda:0/cuda virtual"], BLOCKS, "recorded blocks", live)


def test_items():
    """A pool that grows with each block: one item of the book each time."""
    rounds = ITEMS // 100 + 1
    result = record(*100 * ["async:32M"], f"again:{rounds - 1}")
    equal(not_followed(result), rounds * 100 + CONTEXTS - ITEMS, "items")
    equal(result.dump()["kinds"]["alloc"], rounds * 100 + ITEMS, "blocks and items")


def call(*arguments, limits=":"):
    """What the program prints is the same as without memledger; its blocks are all recorded."""
    shell = ["sh", "-c", f'{limits}; exec "$@"', "sh", CALLERS, *map(str, arguments)]
    alone = plain(*shell, env=with_standin())
    contains(alone.stdout, "results 0, ", "the output alone")
    result = harness.run(*shell, options=("-qf", "--sample-hz", "0"), env=with_standin())
    equal((result.code, result.out), (0, alone.stdout), "code and output", result)
    blocks = [e for e in report("events", result.trace, "--kind", "alloc")["events"]
              if e["space"] == "cuda memory"]
    equal(f"results 0, {len(blocks)} blocks\n", result.out, "recorded blocks")
    return result, blocks


def details_lost(result):
    return said(result, "details_lost", "stacks, libraries, scopes or labels were not recorded")


def test_stacks():
    """The tables are shorter in little address space, so that fewer stacks fill them."""
    result, blocks = call("recursion", 11)
    check(all(b["stack"] for b in blocks), "a block without a stack")
    equal(details_lost(result), 0, "stacks without room")
    result, blocks = call("recursion", 11, limits="ulimit -v 60000")
    bare = [b for b in blocks if not b.get("stack")]
    check(0 < len(bare) < len(blocks), f"{len(bare)} of {len(blocks)} blocks have no stack")
    equal(details_lost(result), len(bare), "stacks without room")


def test_libraries():
    """A stack in a library that had no room has its address. The library counts once, although
    the recorder meets it at each look."""
    plugins = [f"./{i}.so" for i in range(700)]
    for plugin in plugins:
        shutil.copy(program("cuda/libcuda_called_plugin.so"), plugin)
    result, blocks = call("plugins", 1 << 20, *plugins)
    equal({b["stack"][1]["function"] for b in blocks}, {"run_plugin"}, "their callers")
    libraries = len(result.dump()["libraries"])
    equal(details_lost(result), 0, "libraries without room")
    for room_kib in range(19800, 17000, -200):
        result, blocks = call("plugins", room_kib, *plugins)
        known = len(result.dump()["libraries"])
        if known < libraries:
            break
    innermost = {b["stack"][0]["function"] for b in blocks}
    equal(innermost, {"allocate"}, "functions that allocate")
    check(all(b["stack"][1].get("function") is None for b in blocks), "a name without a library")
    equal(details_lost(result), libraries - known, "libraries without room")


harness.main(globals())
