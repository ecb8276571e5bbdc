#!/usr/bin/env python3
# test_live.py: a recording that is watched while it goes on: its numbers are those of the other
# commands at the same moment, in text, JSON and lines; and the list of recordings.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import re
import shutil
import signal
import subprocess
import sys

import harness
from harness import MEMLEDGER, Skip, check, contains, equal, program
from live_support import (BURSTS, Training, at_one_moment, by_name, ended_state, listed, live, program_of, rows, state,
                          table)


def test_equals_table():
    """At each pause of a training, by each key."""
    training = Training()
    while True:
        for by in ("category", "module", "process", "device", "label", "scope"):
            equal(rows("t.mled", by), table("t.mled", by), f"live by {by} at {training.where}")
        if training.where == "gradients 0":
            equal(rows("t.mled", "category").get("gradient"), 3 * 102400, "before they are named")
        now = state("t.mled")
        summary = harness.report("summary", "t.mled")
        equal(now["peak_bytes"], summary["peak_bytes"], f"the peak at {training.where}")
        equal(now["allocations"], summary["allocations"], f"allocations at {training.where}")
        check(summary["health"]["being_written"], "a summary meanwhile")
        if training.where == "optimizer 2":
            break
        training.go_on()
    training.end()
    ended = state("t.mled")
    check(ended["finished"] and not ended["being_recorded"], "the state afterwards")
    equal((ended["steps"], ended["step"]), (3, 2), "steps, and the last one")
    check(ended["bytes"] > 0, "live memory at the end", ended)
    for by in ("category", "module", "process", "device", "label", "scope"):
        equal(rows("t.mled", by), table("t.mled", by), f"live by {by} after the end")


def test_ended():
    """The last memory of a recording that has ended, its peak, and where to look for more."""
    now = ended_state("block 1 1000", "block 2 500", "unblock 2")
    equal((now["bytes"], now["peak_bytes"], now["all_freed"]), (1000, 1500, False), "what is left", now)
    equal([(row["bytes"], row["blocks"]) for row in now["rows"]], [(1000, 1)], "rows", now)
    [process] = now["processes"]
    equal((process["ended"], process["bytes"]), (True, 1000), "the process", now)
    summary = harness.report("summary", "t.mled")
    equal((now["allocations"], now["frees"]), (summary["allocations"], summary["frees"]), "totals", now)
    text = live("--once", "t.mled")
    contains(text, "t.mled: ended", "state")
    contains(" ".join(text.split()), "memledger summary t.mled and memledger view t.mled show", "next commands")
    contains(text, "at end", "the title of the column")
    now = ended_state("block 1 1000", "block 2 500", "unblock 1", "unblock 2")
    equal((now["bytes"], now["peak_bytes"], now["all_freed"]), (500, 1500, True), "the last memory", now)
    equal((now["allocations"], now["frees"]), (2, 2), "totals of the whole recording", now)
    contains(live("--once", "t.mled"), "the program freed everything", "text")
    page = harness.plain(MEMLEDGER, "metrics", "--once", "t.mled")
    equal(re.findall(r"(?m)^memledger_live_bytes\{.*\} [1-9]", page.stdout), [], "metrics of an ended program")


def test_paused():
    training = Training()
    equal(state("t.mled")["paused"], False, "before the pause")
    pid = str(state("t.mled")["processes"][0]["pid"])
    equal(harness.plain(MEMLEDGER, "pause", pid).returncode, 0, "exit code of pause")
    harness.wait_until(lambda: state("t.mled")["paused"], "a paused recording")
    check(state("t.mled")["paused_at_ns"] <= state("t.mled")["time_ns"], "since when")
    contains(live("--once", "t.mled").splitlines()[1], "t.mled: paused for ", "the first line")
    equal(harness.plain(MEMLEDGER, "resume", pid).returncode, 0, "exit code of resume")
    harness.wait_until(lambda: not state("t.mled")["paused"], "a recording that goes on")
    contains(live("--once", "t.mled"), "t.mled: recording, last event ", "after the pause")
    training.process.kill()
    training.leave()


def test_paused_from_the_start():
    """There is no event yet: the process is known nevertheless, and every view says what to do."""
    run = harness.start("sh", "-c", "true; /bin/true; exec cat", stdin=subprocess.PIPE,
                        options=["--heap", "--paused", "--sample-hz", "0"])
    pid = program_of(run)
    harness.wait_until(lambda: [p["command"] for p in state("t.mled")["processes"]
                                if not p["ended"]] == ["cat"], "the last program")
    ours = listed()
    equal((ours["pid"], ours["paused"]), (pid, True), "process and state in the list", ours)
    row = next(line for line in live().splitlines() if os.path.realpath("t.mled") in line)
    equal(row.split()[:2], [str(pid), "paused"], "the row in the list", row)
    hint = f"(memledger resume {pid} continues it)"
    text = live("--once", "t.mled")
    contains(text, hint, "the state")
    contains(text, "no memory recorded so far", "the state without memory")
    contains(text, "ended without recorded memory", "processes that are not listed")
    check("(ended)" not in text, "a process that ended without memory", text)
    follower = subprocess.Popen([MEMLEDGER, "live", "t.mled"], stdout=subprocess.PIPE, text=True)
    line = follower.stdout.readline()
    contains(line, "no memory recorded so far; paused for ", "the first line in a pipe")
    contains(line, hint, "the first line in a pipe")
    follower.kill()
    follower.wait()
    equal(harness.plain(MEMLEDGER, "resume", pid).returncode, 0, "exit code of resume")
    harness.wait_until(lambda: not listed()["paused"], "a list without the pause")
    harness.finish(run)


def test_process_in_the_list():
    """The one that runs, not the first: a start script ends, or replaces itself."""
    run = harness.start("sh", "-c", "/bin/true; echo; read line; exec cat", stdin=subprocess.PIPE,
                        options=["--heap", "--sample-hz", "0"])
    harness.read_line(run)
    pid = program_of(run)
    equal(listed()["pid"], pid, "the process in the list")
    equal(json.loads(live("--once", "--json", str(run.pid)))["file"], os.path.realpath("t.mled"),
          "the file of memledger run")
    harness.finish(run)


def test_growth_of_a_slow_program():
    """A single look knows what has grown within the last minute, also if one block of the trace
    has all events."""
    run = harness.start(program("on_request"), stdin=subprocess.PIPE,
                        options=["--sample-hz", "0"])

    def ask(request):
        run.stdin.write(request + "\n")
        run.stdin.flush()
        equal(harness.read_line(run), "ok", request)

    def second():
        now = state("t.mled")
        return now["time_ns"] // 1_000_000_000 if now["bytes"] else 0

    ask("block 1 1000")
    first = harness.wait_until(second, "the first block")
    harness.wait_until(lambda: second() > first, "the next second")
    ask("block 2 5000")
    now = harness.wait_until(lambda: (lambda s: s["bytes"] == 6000 and s)(state("t.mled")),
                             "the second block")
    for part in "devices", "processes":
        equal([p["minute_growth_bytes"] for p in now[part]], [5000], f"growth of {part}", now)
    harness.finish(run)


def test_functions_without_names():
    """Names of native functions come at the end: until then there are addresses, and a note."""
    process = harness.start(sys.executable, "-c", BURSTS, stdin=subprocess.PIPE,
                            options=["--heap", "--stacks", "native", "--sample-hz", "0"])
    process.stdin.write("0\n")
    process.stdin.flush()
    harness.read_line(process)
    note = "names follow when the recording ends"

    def has_address():
        return any(re.fullmatch(r"[^ ]+\+0x[0-9a-f]+", row["name"])
                   for row in state("t.mled", "function")["rows"])

    harness.wait_until(has_address, "a function's address")
    # The last of many events come up to a second after those before them.
    harness.wait_until(lambda: state("t.mled")["frees"] >= 80_000, "all events of the burst")
    look = ("--once", "--json", "--by", "function", "--top", "1000", "t.mled")
    all_rows, wanted = at_one_moment(lambda: json.loads(live(*look)), lambda: table("t.mled", "function"))
    equal(by_name(all_rows), wanted, "live by function")
    check(state("t.mled", "stack")["awaits_names"], "names to come in stacks")
    contains(live("--once", "--by", "function", "t.mled"), note, "the note")
    check(note not in live("--once", "--by", "category", "t.mled"), "a note without functions")
    process.stdin.close()
    process.stdin = None
    harness.finish(process)
    ended = state("t.mled", "function")
    check(not ended["awaits_names"], "names to come at the end")
    check(not any("+0x" in row["name"] for row in ended["rows"]), "addresses at the end", ended)


def test_list_and_process():
    training = Training()
    recordings = json.loads(live("--json"))["recordings"]
    ours = [r for r in recordings if r["file"] == os.path.realpath("t.mled")]
    equal(len(ours), 1, "recordings in the list", recordings)
    contains(live(), os.path.realpath("t.mled"), "the list")
    pid = state("t.mled")["processes"][0]["pid"]
    equal(json.loads(live("--once", "--json", str(pid)))["file"], os.path.realpath("t.mled"),
          "the file of a process")
    none = harness.plain(MEMLEDGER, "live", "--once", "1")
    equal(none.returncode, 1, "exit code for a process that is not recorded")
    contains(none.stderr, "is not being recorded", "the error")
    training.leave()


def test_other_user():
    """A process that another user records is not known to this one."""
    if os.geteuid() or not shutil.which("setpriv"):
        raise Skip("only root can become another user, with setpriv", machine=True)
    as_nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    if harness.plain(*as_nobody, "test", "-x", MEMLEDGER).returncode:
        raise Skip("the build folder is closed to other users", machine=True)
    training = Training()
    pid = state("t.mled")["processes"][0]["pid"]
    done = harness.plain(*as_nobody, MEMLEDGER, "live", "--once", str(pid))
    equal(done.returncode, 1, "exit code", done.stderr)
    contains(done.stderr, f"sudo memledger live {pid} shows it", "message")
    training.leave()


def test_no_lines():
    """The same words as those of table."""
    equal(harness.run(program("keeps")).code, 0, "exit code")
    table = harness.plain(MEMLEDGER, "table", "--at", "end", "--by", "line", "t.mled").stdout
    text = live("--once", "--by", "line", "t.mled")
    for words in "(no line)", next(l for l in table.splitlines() if l.startswith("No block has")):
        contains(table, words, "table")
        contains(text, words, "live")


def test_ended_processes():
    """Those that run are listed; of those that ended, the largest."""
    process = harness.start("sh", "-c", "for i in 1 2 3 4 5; do sleep 0; done; cat",
                            stdin=subprocess.PIPE, options=["--heap"])

    def ended():
        return [p for p in state("t.mled")["processes"] if p["ended"] and p["peak_bytes"]]
    harness.wait_until(lambda: os.path.exists("t.mled") and os.path.getsize("t.mled"), "the file")
    harness.wait_until(lambda: len(ended()) >= 5, "ended processes")
    text = live("--once", "-n", "2", "t.mled")
    equal(text.count("(ended)"), 2, "ended processes that are listed", text)
    contains(text, f"{len(ended()) - 2} more processes ended", "the others")
    contains(text, "cat", "the process that runs")
    equal(live("--once", "t.mled").count("(ended)"), len(ended()), "with the default")
    harness.finish(process)


def test_damaged():
    """Commands without --salvage name one that has it."""
    equal(harness.run(program("keeps")).code, 0, "exit code")
    with open("t.mled", "r+b") as file:
        file.seek(80)  # in the first block
        file.write(b"\xff" * 8)
    for verb in (("live", "--once"), ("metrics", "--once"), ("symbolize",)):
        done = harness.plain(MEMLEDGER, *verb, "t.mled")
        equal(done.returncode, 1, f"exit code of {verb[0]}", done.stderr)
        contains(done.stderr, "; memledger summary --salvage reads the rest", verb[0])
    contains(harness.plain(MEMLEDGER, "table", "t.mled").stderr, "; --salvage reads the rest", "table")
    equal(harness.plain(MEMLEDGER, "summary", "--salvage", "t.mled").returncode, 0, "exit code of summary")


def test_json_lines():
    """Each object is one line, and each row has every key: null stands for a growth that is not
    known yet."""
    training = Training()
    text = live("--once", "--json", "t.mled")
    equal(len(text.splitlines()), 1, "lines of an object", text)
    equal([row["minute_growth_bytes"] for row in json.loads(text)["rows"]], [None],
          "growth at the first look", text)
    equal(set(json.loads(text)["rest"]), {"rows", "bytes", "blocks"}, "keys of the rest", text)
    follower = subprocess.Popen([MEMLEDGER, "live", "--json", "t.mled"], stdout=subprocess.PIPE,
                                text=True)
    objects = [json.loads(follower.stdout.readline()) for _ in range(2)]
    equal([[row["minute_growth_bytes"] for row in o["rows"]] for o in objects], [[None], [0]],
          "growth at the first and the second look", objects)
    follower.kill()
    follower.wait()
    training.leave()


def test_killed_recorder():
    training = Training()
    os.kill(harness.collector_of(training.process), signal.SIGKILL)
    training.leave()
    contains(live("--once", "t.mled"), "not finished: its recorder is gone", "a killed recorder's")


harness.main(globals())
