#!/usr/bin/env python3
# test_checkpoints.py: reports on an instant are the same, byte for byte, with checkpoints and
# without; and the cache that checkpoints are kept in.
#
# SPDX-License-Identifier: Apache-2.0
import os
import random
import shutil
import signal
import subprocess
import sys

import harness
from harness import MEMLEDGER, check, equal, plain, report, run

TRACES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "traces")
COMMANDS = [["table", "--by", "module,category,label,stack,thread"], ["table", "--csv"], ["tree"],
            ["layers"], ["groups"], ["fragmentation"], ["ledger"], ["summary"],
            ["summary", "--device", "cuda:0"]]
# Leaves freed memory, labels none, and runs long enough for several checkpoints.
PROGRAM = ("import json\n"
           "kept = []\n"
           "for i in range(60):\n"
           "    kept.append(json.loads(json.dumps([[str(k)] * (k % 7) for k in range(500)])))\n"
           "    if i % 3: kept.pop(0)\n")


# So many blocks that checkpoints of all of them would be too large.
MANY_BLOCKS = ("import random\n"
               "numbers, kept = random.Random(1), {}\n"
               "for i in range(60000):\n"
               "    kept[numbers.randrange(40000)] = [str(i), (i, float(i))]\n")


def cache():
    folder = os.path.join(os.getcwd(), "cache")
    os.environ["XDG_CACHE_HOME"] = folder
    return os.path.join(folder, "memledger", "checkpoints")


def ask(when, words, trace):
    json = [] if "--csv" in words else ["--json"]
    done = plain(MEMLEDGER, *words, *json, "--checkpoints", when, trace)
    return done.returncode, done.stdout, done.stderr


def instants(trace, count):
    """The named ones, and random times, some of them after the end."""
    seconds = report("summary", trace)["duration_ns"] / 1e9
    numbers = random.Random(trace)
    times = [f"{numbers.uniform(0, seconds * 1.05):.9f}s" for _ in range(count)]
    return ["peak", "end", "oom", "step:2", "step:2:end", "0s"] + times


def same(trace, commands, count):
    """The first answer with checkpoints makes them, the others use them."""
    for words in commands:
        for at in instants(trace, count):
            equal(ask("always", words + ["--at", at], trace),
                  ask("never", words + ["--at", at], trace), f"{words} --at {at} of {trace}")


def test_reports_are_the_same():
    files = cache()
    for name in ("gpt", "gpu", "mxnet", "oom", "train-cut"):
        same(os.path.join(TRACES, name + ".mled"), COMMANDS, 1)
    equal(len(os.listdir(files)), 5, "files of checkpoints")


def test_a_recording_of_malloc():
    cache()
    trace = run("env", "PYTHONMALLOC=malloc", sys.executable, "-c", PROGRAM, trace="heap.mled",
                options=["-q", "--heap", "--sample-hz", "0"]).trace
    check(report("summary", trace)["events"] > 500000, "too short for several checkpoints")
    # Calls are refused, since there are no stacks, or there is nothing to show.
    same(trace, [["table", "--by", "thread,space"], ["tree", "--by", "callees"]], 6)


def test_many_live_blocks():
    files = cache()
    trace = run("env", "PYTHONMALLOC=malloc", sys.executable, "-S", "-c", MANY_BLOCKS,
                trace="many.mled", options=["-q", "--heap", "--sample-hz", "0"]).trace
    for words in (["summary"], ["table", "--by", "thread,space"], ["tree"]):
        for at in instants(trace, 3)[-3:] + ["end"]:
            equal(ask("always", words + ["--at", at], trace),
                  ask("never", words + ["--at", at], trace), f"{words} --at {at}")
    (name,) = os.listdir(files)
    with open(os.path.join(files, name), "rb") as file:
        whole = file.read()
    check(13 in kinds_of(whole), "no outlines among the checkpoints", kinds_of(whole))
    for window in windows(trace, 4):
        words = ["--by", "category", "--width", "700", *window]
        equal(timeline("always", words, trace), timeline("never", words, trace), f"{words}")


def test_one_file_for_each_trace_and_version_of_it():
    files = cache()
    shutil.copy(os.path.join(TRACES, "gpt.mled"), "a.mled")
    expected = ask("never", ["tree"], "a.mled")
    check(not os.path.exists(files), "a file although none was wanted")
    ask("auto", ["tree"], "a.mled")
    check(not os.path.exists(files), "a file for a short trace")
    equal(ask("always", ["tree"], "a.mled"), expected, "the first report")
    (name,) = os.listdir(files)
    path = os.path.join(files, name)
    equal(os.stat(path).st_mode & 0o777, 0o600, "mode")
    first = os.stat(path).st_ino
    equal(ask("always", ["tree"], "a.mled"), expected, "the second report")
    equal(os.stat(path).st_ino, first, "the file that the second report used")
    os.utime("a.mled", (1, 1))
    equal(ask("always", ["tree"], "a.mled"), expected, "the report after a change")
    equal(os.listdir(files), [name], "files after a change")
    check(os.stat(path).st_ino != first, "checkpoints of the trace before its change")


def test_damaged_files_are_made_again():
    files = cache()
    shutil.copy(os.path.join(TRACES, "gpt.mled"), "a.mled")
    expected = ask("never", ["table"], "a.mled")
    ask("always", ["table"], "a.mled")
    path = os.path.join(files, os.listdir(files)[0])
    with open(path, "rb") as file:
        whole = file.read()
    for at in range(0, len(whole), len(whole) // 20):
        with open(path, "wb") as file:
            file.write(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1:])
        equal(ask("always", ["table"], "a.mled"), expected, f"report, damage at byte {at}")
        with open(path, "rb") as file:
            equal(file.read(), whole, f"file made again after damage at byte {at}")
        with open(path, "wb") as file:
            file.write(whole[:at])
        equal(ask("always", ["table"], "a.mled"), expected, f"report, cut at byte {at}")


def test_no_place_for_them():
    shutil.copy(os.path.join(TRACES, "gpt.mled"), "a.mled")
    expected = ask("never", ["tree"], "a.mled")
    with open("file", "w", encoding="utf-8"):
        pass
    for folder in (os.path.abspath("file"), "/proc/none"):
        os.environ["XDG_CACHE_HOME"] = folder
        equal(ask("always", ["tree"], "a.mled"), expected, f"report with {folder}")
    os.environ["XDG_CACHE_HOME"] = "relative"
    os.environ["HOME"] = os.getcwd()
    equal(ask("always", ["tree"], "a.mled"), expected, "report with a relative folder")
    equal(os.listdir(os.path.join(".cache", "memledger")), ["checkpoints"], "in ~/.cache")
    check(not os.path.exists("relative"), "a relative XDG_CACHE_HOME was used")


def blocks_of(whole):
    """(offset, type) of the blocks of a file."""
    at, blocks = 64, []
    while whole[at:at + 4] == b"MLBK":
        blocks.append((at, whole[at + 4]))
        at += 48 + int.from_bytes(whole[at + 8:at + 12], "little")
    return blocks


def kinds_of(whole):
    return {kind for _, kind in blocks_of(whole)}


def timeline(when, words, trace):
    done = plain(MEMLEDGER, "plot", "--json", "--checkpoints", when, *words, trace)
    return done.returncode, done.stdout, done.stderr


def windows(trace, count):
    """The whole run, and random parts of it, down to a few events."""
    end = report("summary", trace)["duration_ns"]
    numbers = random.Random(trace)
    yield []
    for _ in range(count):
        length = max(int(end * 10 ** numbers.uniform(-5, 0)), 2)
        start = numbers.randrange(max(end - length, 1))
        yield ["--from", f"{start}ns", "--to", f"{start + length}ns"]


def same_timelines(trace, count, when="always"):
    for by in ("category", "module", "device", "process"):
        for window in windows(trace, count):
            words = ["--by", by, "--width", "700", *window]
            equal(timeline(when, words, trace), timeline("never", words, trace),
                  f"{words} of {trace}")


def test_timelines_are_the_same():
    cache()
    for name in ("gpt", "gpu", "oom"):
        same_timelines(os.path.join(TRACES, name + ".mled"), 3)


def record(name, *options, times=1):
    return run("env", "PYTHONMALLOC=malloc", sys.executable, "-c", PROGRAM * times, trace=name,
               options=["-q", "--heap", *options]).trace


def same_own(trace):
    same_timelines(trace, 3, "auto")
    for at in instants(trace, 3):
        equal(ask("auto", ["table", "--at", at], trace), ask("never", ["table", "--at", at], trace),
              f"table --at {at}")


def test_a_trace_with_its_own():
    files = cache()
    trace = record("own.mled", "--checkpoints", "always")
    same_own(trace)
    words = ["events", "--from", "200ms", "-n", "500"]
    equal(ask("auto", words, trace), ask("never", words, trace), "events from a time on")
    check(not os.path.exists(files), "a file in the cache although the trace has checkpoints")


def begin(trace):
    """Records a program that waits for a line after its work."""
    process = harness.start("env", "PYTHONMALLOC=malloc", sys.executable, "-c",
                            PROGRAM + "print('done', flush=True)\ninput()\n",
                            options=["--heap", "--checkpoints", "always"], trace=trace,
                            stdin=subprocess.PIPE)
    equal(harness.read_line(process), "done", "output")
    return process


def test_after_a_killed_program():
    """The launcher adds them to the trace."""
    files = cache()
    process = begin("program.mled")
    program = [pid for pid in harness.children(process.pid) if pid != harness.collector_of(process)]
    os.kill(program[0], signal.SIGKILL)
    harness.finish(process)
    same_own("program.mled")
    check(not os.path.exists(files), "the trace has them")


def test_after_a_killed_collector():
    """The trace stays as it is; the launcher puts them into the cache."""
    files = cache()
    process = begin("collector.mled")
    os.kill(harness.collector_of(process), signal.SIGKILL)
    process.stdin.write("\n")
    process.stdin.flush()
    harness.finish(process)
    check(report("summary", "collector.mled")["health"]["cut_short"], "not said to be cut short")
    equal(len(os.listdir(files)), 1, "files in the cache")
    same("collector.mled", [["table"]], 3)


def test_after_a_killed_launcher():
    """The collector completes the trace, and the first question makes them."""
    files = cache()
    process = begin("launcher.mled")
    os.kill(process.pid, signal.SIGKILL)
    process.stdin.write("\n")
    process.stdin.flush()
    process.wait()
    harness.wait_until(lambda: not report("summary", "launcher.mled")["health"]["cut_short"],
                       "the end of the trace")
    same("launcher.mled", [["table"]], 3)
    equal(len(os.listdir(files)), 1, "files in the cache")


def test_its_own_make_the_trace_little_larger():
    cache()
    plain_bytes = os.path.getsize(record("plain.mled", "--checkpoints", "never", times=4))
    own_bytes = os.path.getsize(record("own.mled", "--checkpoints", "always", times=4))
    check(own_bytes < 1.05 * plain_bytes, "bytes with checkpoints", own_bytes, plain_bytes)


def test_damage_to_its_own():
    """Reports read the trace from its start where a checkpoint is damaged."""
    cache()
    trace = record("own.mled", "--checkpoints", "always")
    with open(trace, "rb") as file:
        whole = file.read()
    blocks, kinds = blocks_of(whole), kinds_of(whole)
    check({3, 6, 7, 9} <= kinds, "no checkpoints in the trace", kinds)
    expected = timeline("never", [], trace), ask("never", ["table"], trace)
    for kind in (3, 6, 7, 9):
        place = max(start for start, its_kind in blocks if its_kind == kind) + 60
        with open(trace, "wb") as file:
            file.write(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1:])
        equal((timeline("auto", [], trace), ask("auto", ["table"], trace)), expected,
              f"reports, block of type {kind} damaged")


harness.main(globals())
