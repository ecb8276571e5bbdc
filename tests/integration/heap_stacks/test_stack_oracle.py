#!/usr/bin/env python3
# test_stack_oracle.py: stacks of five programs are libunwind's, frame by frame; a small part of what
# stack_oracle.py compares.
#
# SPDX-License-Identifier: Apache-2.0
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import harness
import stack_oracle
from harness import check, equal

STACKS = 1500


def test_equal_to_libunwind():
    found = stack_oracle.results(STACKS)
    for name, result in found.items():
        if not result:
            print(f"{name}: not here")
            continue
        same, early, different, first = result
        print(f"{name}: {same} equal, {early} end early")
        equal(different, 0, f"stacks of {name} that differ", first)
        check(same >= STACKS // 4, f"stacks of {name}", same)
        check(early <= same / 100, f"stacks of {name} that end early", early)
    check(sum(1 for result in found.values() if result) >= 4, "programs", found)


harness.main(globals())
