# lines_work.py ROUNDS: a Python program that builds, writes, reads and sorts dictionaries, fifteen
# functions deep.
#
# SPDX-License-Identifier: Apache-2.0
import json
import sys

DEPTH = 12


def build(count):
    return {str(i): [i, str(i * 7), {"half": i / 2}] for i in range(count)}


def through_json(table):
    return json.loads(json.dumps(table))


def work(count):
    table = through_json(build(count))
    return sorted(table, key=lambda key: str(table[key][1]))


def deep(depth, count):
    return work(count) if depth == 0 else deep(depth - 1, count)


print(sum(len(deep(DEPTH, 2000)) for _ in range(int(sys.argv[1]))))
