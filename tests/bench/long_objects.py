#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""long_objects.py ROUNDS: Python objects in 200,000 random places of a dict, some of them replaced
in each round. Up to 1.7 million blocks are live, with 17 events a round."""
import random
import sys

numbers = random.Random(1)
kept = {}
for i in range(int(sys.argv[1])):
    kept[numbers.randrange(200000)] = [str(i), (i, float(i)), {"n": i}]
