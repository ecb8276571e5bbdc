#!/usr/bin/env python3
# test_live_followers.py: `memledger live` that goes on looking shows the same as one that starts anew,
# also where it gets sums instead of events.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import signal
import subprocess
import sys

import harness
from harness import MEMLEDGER, check, contains, equal, program
from live_support import BURSTS, Training, answer, by_name, ended_state, go_on, live, on_request, state, table


def test_one_follower():
    """One process that reads on shows the same as many that start anew."""
    training = Training()
    follower = subprocess.Popen([MEMLEDGER, "live", "--json", "t.mled"], stdout=subprocess.PIPE,
                                text=True)
    while training.where != "optimizer 2":
        training.go_on()
        wanted = table("t.mled", "category")
        for _ in range(30):
            got = json.loads(follower.stdout.readline())
            if {r["name"]: r["bytes"] for r in got["rows"]} == wanted:
                break
        equal({r["name"]: r["bytes"] for r in got["rows"]}, wanted, f"a follower's at {training.where}")
    training.end()
    last = follower.stdout.read().splitlines()[-1]
    check(json.loads(last)["finished"], "the last line", last)
    equal(follower.wait(harness.PATIENCE_S), 0, "exit code of a follower")


CHURN = """
import sys
kept = [None] * 200
for line in sys.stdin:
    for i in range(100_000):
        kept[i * i % 200] = bytes(600 + i % 3000)
    print("done", flush=True)
"""


BOARD_HEAD_BYTES = 128 << 10  # nets follow it


def board_bytes(pid):
    """The size of the file in which a collector passes nets on, see net_board.h."""
    for name in os.listdir(f"/proc/{pid}/fd"):
        path = f"/proc/{pid}/fd/{name}"
        if os.path.islink(path) and "memfd:memledger-nets" in os.readlink(path):
            return os.stat(path).st_size
    return 0


def collector_of(trace):
    recordings = json.loads(live("--json"))["recordings"]
    return [r["recorder_pid"] for r in recordings if r["file"] == os.path.realpath(trace)][0]


def test_many_mallocs():
    """Blocks that come and go are not read one by one, and all numbers are those of a report."""
    process = harness.start(sys.executable, "-c", CHURN, stdin=subprocess.PIPE,
                            options=["--heap", "--sample-hz", "0"])
    go_on(process)
    harness.read_line(process)
    follower, collector = on_request(), collector_of("t.mled")

    def churn():
        answer(follower)
        go_on(process)
        harness.read_line(process)
        return board_bytes(collector) > BOARD_HEAD_BYTES

    harness.wait_until(churn, "nets")
    process.stdin.close()
    process.stdin = None
    harness.finish(process)
    summary, got = harness.report("summary", "t.mled"), answer(follower)
    for key in ["allocations", "frees", "peak_bytes", "peak_time_ns", "lost"]:
        equal(got[key], summary[key], key)
    follower.stdin.close()
    equal(follower.wait(harness.PATIENCE_S), 0, "exit code of a follower")


LONG_LIVED = CHURN.replace("i * i % 200", "i * 7919 % 20_000").replace("200", "20_000")


def numbers(now):
    """What does not depend on when the follower came, or on the clock."""
    return {key: now[key] for key in ("events", "bytes", "blocks", "peak_bytes", "peak_time_ns",
                                      "allocations", "frees", "lost")} | {
        "rows": [[row["name"], row["bytes"], row["blocks"]] for row in now["rows"]]}


def shows_the_same(follower, frees, what):
    """As one that reads every event. The collector may be behind."""
    got, wanted = {}, {}

    def is_same():
        got.update(numbers(answer(follower)))
        wanted.update(numbers(state("t.mled")))
        return got == wanted and got["frees"] >= frees

    try:
        harness.wait_until(is_same, what)
    except harness.Failure:
        check(got["frees"] >= frees, f"{what} has not seen all frees", got)
        equal(got, wanted, what)
        raise


def test_long_lived():
    """Followers that came at different times, and one that was stopped for a while, show the same
    as one that reads every event."""
    process = harness.start(sys.executable, "-c", LONG_LIVED, stdin=subprocess.PIPE,
                            options=["--heap", "--sample-hz", "0"])
    go_on(process)
    harness.read_line(process)
    followers = []
    for turn in range(6):
        if turn in (0, 2):
            followers.append(on_request())
        if turn == 3:
            followers[0].send_signal(signal.SIGSTOP)
        for _ in range(3):
            go_on(process)
            harness.read_line(process)
            answer(followers[-1])
        followers[0].send_signal(signal.SIGCONT)
        for number, follower in enumerate(followers):
            shows_the_same(follower, 200_000 * (turn + 1), f"follower {number} in turn {turn}")
    process.stdin.close()
    process.stdin = None
    harness.finish(process)
    for follower in followers:
        follower.stdin.close()
        equal(follower.wait(harness.PATIENCE_S), 0, "exit code of a follower")


def test_slow_after_fast():
    """A follower reads on when a program that was fast allocates now and then. The memory of old
    nets is given back meanwhile, and a series can begin afterwards."""
    process = harness.start(sys.executable, "-c", BURSTS, stdin=subprocess.PIPE,
                            options=["--heap", "--sample-hz", "0"])

    def burst(slow_allocations):
        process.stdin.write(f"{slow_allocations}\n")
        process.stdin.flush()
        harness.read_line(process)

    burst(0)
    follower, collector = on_request(), collector_of("t.mled")

    def publishes():
        answer(follower)
        burst(0)
        return board_bytes(collector) > BOARD_HEAD_BYTES

    harness.wait_until(publishes, "nets")
    burst(0)
    answer(follower)
    burst(150)

    def shows_all():
        return numbers(answer(follower)) == numbers(state("t.mled"))

    def gives_memory_back():
        answer(follower)
        return board_bytes(collector) == BOARD_HEAD_BYTES

    harness.wait_until(shows_all, "the numbers of all events")
    harness.wait_until(gives_memory_back, "an empty board", harness.PATIENCE_S)
    harness.wait_until(publishes, "nets again")
    harness.wait_until(shows_all, "the numbers after that")
    process.stdin.close()
    process.stdin = None
    harness.finish(process)
    follower.stdin.close()
    equal(follower.wait(harness.PATIENCE_S), 0, "exit code of a follower")


KEYS = ("category", "module", "label", "scope")


def test_fast_training():
    """Blocks that a training allocates and frees within one events block, and the scopes around
    them, are not read one by one. All numbers are those of a report, in every group."""
    training = Training()
    while training.where != "begin 1":  # gradients and state exist
        training.go_on()
    followers = {by: on_request("--by", by, "--top", "1000") for by in KEYS}

    def train():
        for follower in followers.values():
            answer(follower)
        training.pass_quickly(4000)
        return board_bytes(collector_of("t.mled")) > BOARD_HEAD_BYTES

    def compare():
        for by, follower in followers.items():
            equal(by_name(answer(follower)), table("t.mled", by), f"live by {by} at {training.where}")
        now, summary = answer(followers["category"]), harness.report("summary", "t.mled")
        for key in ["events", "allocations", "frees", "peak_bytes", "peak_time_ns"]:
            equal(now[key], summary[key], f"{key} at {training.where}")

    harness.wait_until(train, "nets")
    for _ in range(3):
        train()
    compare()
    while training.where != "backward 1":
        training.go_on()
        train()
        compare()
    training.leave()
    for follower in followers.values():
        follower.stdin.close()
        equal(follower.wait(harness.PATIENCE_S), 0, "exit code of a follower")


def test_replaced():
    """Another recording takes the file; a follower changes over."""
    training = Training()
    follower = subprocess.Popen([MEMLEDGER, "live", "--json", "t.mled"], stdout=subprocess.PIPE,
                                text=True)
    first = json.loads(follower.stdout.readline())
    os.rename("t.mled", "old.mled")
    other = harness.start(program("emit"), 1000, 1000, stdin=subprocess.PIPE)
    harness.read_line(other)
    for _ in range(30):
        line = json.loads(follower.stdout.readline())
        if "emit" in line["command"]:
            break
    contains(line["command"], "emit", "the command after the change")
    check(line["start_wall_ns"] != first["start_wall_ns"], "another recording")
    training.leave()
    harness.finish(other)
    follower.kill()
    follower.wait()


def test_replaced_after_its_end():
    """`run -f` overwrites a recording that has ended; a follower changes over."""
    ended_state("block 1 1000")
    follower = on_request()
    equal(answer(follower)["bytes"], 1000, "the first recording")
    ended_state("block 1 3000", "block 2 500")
    now = answer(follower)
    equal((now["bytes"], now["finished"]), (3500, True), "the second recording", now)
    follower.stdin.close()
    equal(follower.wait(harness.PATIENCE_S), 0, "exit code of a follower")


harness.main(globals())
