#!/usr/bin/env python3
# test_groups.py: keyword dictionaries of the user's own, and what they make of a trace.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os

import harness
from harness import MEMLEDGER, check, contains, equal, plain

TRACES = os.environ["TEST_TRACES"]
MIB = 1 << 20


def groups(*options, code=0):
    done = plain(MEMLEDGER, "groups", *options, cwd=os.getcwd())
    equal(done.returncode, code, f"exit code of groups {options}", done.stderr)
    return done


def trace(name):
    return os.path.join(TRACES, f"{name}.mled")


def dictionary(text, name="mine.txt"):
    with open(name, "w") as file:
        file.write(text)
    return name


def sums(*options):
    """{category: bytes} of the first dictionary, and all of it."""
    run = json.loads(groups("--json", *options).stdout)["runs"][0]
    first = run["dictionaries"][0]
    return {g["category"]: g["bytes"] for g in first["groups"]}, first


def test_own_dictionary():
    mine = dictionary("others = The rest\n[Head]\n/head|CrossEntropy/\n[Blocks]\nlayers.\n")
    found, whole = sums("-d", mine, trace("gpt"))
    equal(found["Head"], 20 * MIB, "bytes of the head")
    equal(sum(found.values()), whole["total_bytes"], "the sum of all")
    equal(whole["dictionary"], mine, "the name of the dictionary")
    check("The rest" in found and whole["match"] == "first", "settings", whole)


def test_all_matches():
    mine = dictionary("match = all\n[Weights]\nweight\n[Arguments]\nin_arg:\n")
    both, whole = sums("-d", mine, trace("gpt"))
    first, _ = sums("-d", mine, "--match", "first", trace("gpt"))
    check(both["Arguments"] > first["Arguments"], "all matches are no more than the first")
    check(sum(both.values()) > whole["total_bytes"], "nothing counts twice", both)
    clashes = [c["tag"] for c in whole["clashes"]]
    equal(len(clashes), len(set(clashes)), "clashes of each tag")
    text = groups("-d", mine, trace("gpt")).stdout
    contains(text, "Tag in_arg:embed.weight is considered match for multiple entries "
             "(weight, in_arg:) in the keyword dictionary.", "the warning")


def test_expected():
    by_hand, whole = sums("-d", "mxnet", "--expected", "1GiB", trace("gpt"))
    equal(by_hand["Untrackable"], 1024 * MIB - whole["total_bytes"], "what is untrackable")
    less, _ = sums("-d", "mxnet", "--expected", "1MiB", trace("gpt"))
    check(less["Untrackable"] < 0, "more than was expected", less)
    sampled, whole = sums("-d", "mxnet", "--expected", "auto", "--at", "end", trace("mxnet"))
    equal(whole["expected_bytes"], 324 * MIB, "what was sampled")
    equal(sum(sampled.values()), 324 * MIB, "the sum with what is untrackable")
    done = groups("--expected", "auto", trace("modules"), code=1)
    contains(done.stderr, "no samples", "the error")


def test_several_traces():
    runs = json.loads(groups("--json", "-d", "torch", trace("gpt"), trace("modules")).stdout)
    equal([os.path.basename(run["file"]) for run in runs["runs"]], ["gpt.mled", "modules.mled"],
          "the runs")


def test_mistakes():
    done = groups("-d", dictionary("[A]\n/(/\n"), trace("gpt"), code=1)
    contains(done.stderr, "mine.txt, line 2: ", "the error")
    done = groups("--gross", "--at", "end", trace("gpt"), code=2)
    contains(done.stderr, "--gross is the whole run", "the error")
    done = groups("--expected", "lots", trace("gpt"), code=2)
    contains(done.stderr, "'lots' is neither auto nor a size", "the error")
    groups("--style", "tbd", "--json", trace("gpt"), code=2)
    for option in (("--at", "end"), ("--expected", "1GiB")):
        done = groups("--style", "tbd", *option, trace("gpt"), code=2)
        contains(done.stderr, "it has no --at and no --expected", "error")
    done = groups("-d", ".", trace("gpt"), code=1)
    contains(done.stderr, ".: Is a directory", "error")
    groups("-d", os.getcwd(), trace("gpt"), code=1)
    with open("binary", "wb") as file:
        file.write(b"[A]\n\0b\n")
    groups("-d", "binary", trace("gpt"), code=1)


harness.main(globals())
