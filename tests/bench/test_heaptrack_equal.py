#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Allocations, peak and bytes never freed equal heaptrack's, to the byte.

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
            b = recorders.by_memledger(argv, mine).as_json()
            print("%s %s: heaptrack %s, memledger %s"
                  % ("ok    " if a == b else "NOT OK", name, a, b))
            failed += a != b
        return 1 if failed else 0
    finally:
        ctx.close()


if __name__ == "__main__":
    sys.exit(main())
