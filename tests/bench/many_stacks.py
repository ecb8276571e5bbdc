# SPDX-License-Identifier: Apache-2.0
"""Keeps one block for each of COUNT different Python stacks.

    python3 many_stacks.py COUNT
"""
import sys

BRANCHES = 10  # lines from which a function calls itself
BYTES = 600    # more than pymalloc takes

KEPT = []
SOURCE = "def grow(number, depth):\n    if depth == 0:\n        KEPT.append(bytearray(BYTES))\n" + "".join(
    f"    elif number % {BRANCHES} == {i}:\n        grow(number // {BRANCHES}, depth - 1)\n"
    for i in range(BRANCHES))
exec(compile(SOURCE, __file__, "exec"))  # pylint: disable=exec-used

count = int(sys.argv[1])
for number in range(count):
    grow(number, len(str(count - 1)))  # pylint: disable=undefined-variable
