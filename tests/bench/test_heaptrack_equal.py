#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Allocations, peak, bytes never freed, and bytes at the peak by function equal heaptrack's, to
the byte.

Skipped (77) where heaptrack is not installed, except in CI.
"""
import os
import sys

from bench_context import Context
from equal_programs import Recorders, programs


def main():
    ctx = Context(quick=True)
    try:
        if not ctx.heaptrack:
            print("heaptrack is not installed")
            return 1 if os.environ.get("CI") else 77
        recorders = Recorders(ctx)
        failed = 0
        for name, (argv, env, steady) in programs(ctx).items():
            if not steady:
                continue
            theirs, mine = recorders.environments(env)
            a = recorders.by_heaptrack(argv, theirs).as_json()
            b = recorders.by_memledger(argv, mine, stacks=True).as_json()
            print("%s %s: heaptrack %s, memledger %s"
                  % ("ok    " if a == b else "NOT OK", name, a, b))
            failed += a != b
            differ, count = recorders.functions_at_peak()
            print("%s %s: %d functions at the peak, %d differ %s"
                  % ("NOT OK" if differ else "ok    ", name, count, len(differ), differ or ""))
            failed += bool(differ)
        return 1 if failed else 0
    finally:
        ctx.close()


if __name__ == "__main__":
    sys.exit(main())
