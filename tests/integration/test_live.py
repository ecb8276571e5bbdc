#!/usr/bin/env python3
# test_live.py: a recording that is watched while it goes on: its numbers are those of the other
# commands at the same moment, in text, JSON, lines and on a terminal (tmux).
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import harness
from harness import MEMLEDGER, Skip, check, contains, equal, program


QUIET_S = 1.1  # the collector writes the last events of a burst within a second


def start_training():
    # Samples are events, too: without them the program is quiet while it waits.
    process = harness.start(program("trains"), 3, "wait", stdin=subprocess.PIPE,
                            options=["--sample-hz", "0"])
    return process, harness.read_line(process)


def go_on(process):
    process.stdin.write("\n")
    process.stdin.flush()


def live(*arguments):
    result = harness.plain(MEMLEDGER, "live", *arguments)
    equal(result.returncode, 0, "exit code of live", result.stderr)
    return result.stdout


def state(trace, by="category"):
    return json.loads(live("--once", "--json", "--by", by, trace))


def settled(trace, since_ns=0):
    """The state when everything that the program did so far is in the file: it did something since
    that time of the wall clock, and nothing new has come for a while."""
    seen = {}

    def is_settled():
        now = state(trace)
        if now["events"] != seen.get("events"):
            seen.update(now, at=time.monotonic())
        return (now["start_wall_ns"] + now["last_event_ns"] >= since_ns and now["events"] > 0
                and time.monotonic() - seen["at"] > QUIET_S)

    harness.wait_until(is_settled, "a quiet moment", 20)
    return seen


def next_pause(process):
    """The next place at which the program waits."""
    since_ns = time.time_ns()
    go_on(process)
    where = harness.read_line(process)
    settled("t.mled", since_ns)
    return where


def table(trace, by):
    groups = harness.report("table", trace, "--at", "end", "--by", by, "--top", "1000")["groups"]
    sums = {}
    for group in groups:  # labels are split by category
        name = group[by] if isinstance(group.get(by), str) else ""
        sums[name] = sums.get(name, 0) + group["bytes"]
    return sums


def rows(trace, by):
    return {row["name"]: row["bytes"] for row in state(trace, by)["rows"]}


def test_equals_table():
    """At each pause of a training, by each key."""
    process, where = start_training()
    settled("t.mled")
    while True:
        for by in ("category", "module", "process", "device", "label", "scope"):
            equal(rows("t.mled", by), table("t.mled", by), f"live by {by} at {where}")
        if where == "gradients 0":
            equal(rows("t.mled", "category").get("gradient"), 3 * 102400, "before they are named")
        now = state("t.mled")
        summary = harness.report("summary", "t.mled")
        equal(now["peak_bytes"], summary["peak_bytes"], f"the peak at {where}")
        equal(now["allocations"], summary["allocations"], f"allocations at {where}")
        check(summary["health"]["being_written"], "a summary meanwhile")
        if where == "optimizer 2":
            break
        where = next_pause(process)
    go_on(process)
    harness.finish(process)
    ended = state("t.mled")
    check(ended["finished"] and not ended["being_recorded"], "the state afterwards")
    equal((ended["steps"], ended["step"]), (3, 2), "steps, and the last one")
    check(ended["bytes"] > 0, "live memory at the end", ended)
    for by in ("category", "module", "process", "device", "label", "scope"):
        equal(rows("t.mled", by), table("t.mled", by), f"live by {by} after the end")


def ended_state(*requests):
    """Of a program that does what on_request is asked for; a follower sees the same as `--once`."""
    process = harness.start(program("on_request"), stdin=subprocess.PIPE,
                            options=["-f", "--sample-hz", "0"])
    for request in ("nothing", *requests):
        print(request, file=process.stdin, flush=True)
        equal(harness.read_line(process), "ok", request)
    follower = subprocess.Popen([MEMLEDGER, "live", "--json", "t.mled"], stdout=subprocess.PIPE,
                                text=True)
    harness.finish(process)
    last = json.loads(follower.communicate(timeout=harness.PATIENCE_S)[0].splitlines()[-1])
    now = state("t.mled")
    for key in ("finished", "bytes", "blocks", "peak_bytes", "events", "frees", "at_end_ns", "all_freed"):
        equal(last[key], now[key], f"{key} for a follower")
    return now


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


def test_one_follower():
    """One process that reads on shows the same as many that start anew."""
    process, where = start_training()
    follower = subprocess.Popen([MEMLEDGER, "live", "--json", "t.mled"], stdout=subprocess.PIPE,
                                text=True)
    while where != "optimizer 2":
        where = next_pause(process)
        wanted = table("t.mled", "category")
        for _ in range(30):
            got = json.loads(follower.stdout.readline())
            if {r["name"]: r["bytes"] for r in got["rows"]} == wanted:
                break
        equal({r["name"]: r["bytes"] for r in got["rows"]}, wanted, f"a follower's at {where}")
    go_on(process)
    harness.finish(process)
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


def on_request(*options):
    return subprocess.Popen([MEMLEDGER, "live", "--on-request", *options, "t.mled"],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def answer(follower):
    go_on(follower)
    return json.loads(follower.stdout.readline())


def numbers(now):
    """What does not depend on when the follower came, or on the clock."""
    return {key: now[key] for key in ("events", "bytes", "blocks", "peak_bytes", "peak_time_ns",
                                      "allocations", "frees", "lost")} | {
        "rows": [[row["name"], row["bytes"], row["blocks"]] for row in now["rows"]]}


def shows_the_same(follower, frees, what):
    """As one that reads every event. The collector may be behind."""
    end = time.monotonic() + harness.PATIENCE_S
    while True:
        got, wanted = numbers(answer(follower)), numbers(state("t.mled"))
        if got == wanted and got["frees"] >= frees:
            return
        if time.monotonic() > end:
            break
        time.sleep(0.05)
    check(got["frees"] >= frees, f"{what} has not seen all frees", got)
    equal(got, wanted, what)


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


BURSTS = """
import sys, time
kept = [None] * 20_000
for line in sys.stdin:
    for i in range(100_000):
        kept[i * 7919 % 20_000] = bytes(600 + i % 3000)
    for i in range(int(line)):
        kept[i] = bytes(600 + i)
        time.sleep(0.01)
    print("done", flush=True)
"""


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


def by_name(now):
    return {row["name"]: row["bytes"] for row in now["rows"]}


def test_fast_training():
    """Blocks that a training allocates and frees within one events block, and the scopes around
    them, are not read one by one. All numbers are those of a report, in every group."""
    process, _ = start_training()
    where = next_pause(process)
    while where != "begin 1":  # gradients and state exist
        where = next_pause(process)
    followers = {by: on_request("--by", by, "--top", "1000") for by in KEYS}

    def train():
        since_ns = time.time_ns()
        for follower in followers.values():
            answer(follower)
        process.stdin.write("4000\n")
        process.stdin.flush()
        equal(harness.read_line(process), where, "the same place")
        settled("t.mled", since_ns)
        return board_bytes(collector_of("t.mled")) > BOARD_HEAD_BYTES

    def compare():
        for by, follower in followers.items():
            equal(by_name(answer(follower)), table("t.mled", by), f"live by {by} at {where}")
        now, summary = answer(followers["category"]), harness.report("summary", "t.mled")
        for key in ["events", "allocations", "frees", "peak_bytes", "peak_time_ns"]:
            equal(now[key], summary[key], f"{key} at {where}")

    harness.wait_until(train, "nets")
    for _ in range(3):
        train()
    compare()
    while where != "backward 1":
        where = next_pause(process)
        train()
        compare()
    process.stdin.close()
    process.stdin = None
    harness.finish(process)
    for follower in followers.values():
        follower.stdin.close()
        equal(follower.wait(harness.PATIENCE_S), 0, "exit code of a follower")


def test_paused():
    process, _ = start_training()
    equal(settled("t.mled")["paused"], False, "before the pause")
    pid = str(state("t.mled")["processes"][0]["pid"])
    equal(harness.plain(MEMLEDGER, "pause", pid).returncode, 0, "exit code of pause")
    harness.wait_until(lambda: state("t.mled")["paused"], "a paused recording")
    check(state("t.mled")["paused_at_ns"] <= state("t.mled")["time_ns"], "since when")
    contains(live("--once", "t.mled").splitlines()[1], "t.mled: paused for ", "the first line")
    equal(harness.plain(MEMLEDGER, "resume", pid).returncode, 0, "exit code of resume")
    harness.wait_until(lambda: not state("t.mled")["paused"], "a recording that goes on")
    contains(live("--once", "t.mled"), "t.mled: recording, last event ", "after the pause")
    process.kill()
    harness.finish(process)


def listed(trace="t.mled"):
    """Its entry in the list of recordings, once it is there."""
    wanted = os.path.realpath(trace)
    return harness.wait_until(lambda: next((r for r in json.loads(live("--json"))["recordings"]
                                            if r["file"] == wanted and r["pid"]), None),
                              "a process in the list")


def program_of(run):
    other = harness.collector_of(run)
    return harness.wait_until(lambda: next((pid for pid in harness.children(run.pid)
                                            if pid != other), None), "the program")


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
    settled("t.mled")
    all_rows = json.loads(live("--once", "--json", "--by", "function", "--top", "1000", "t.mled"))
    equal(by_name(all_rows), table("t.mled", "function"), "live by function")
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
    process, _ = start_training()
    recordings = json.loads(live("--json"))["recordings"]
    ours = [r for r in recordings if r["file"] == os.path.realpath("t.mled")]
    equal(len(ours), 1, "recordings in the list", recordings)
    contains(live(), os.path.realpath("t.mled"), "the list")
    pid = settled("t.mled")["processes"][0]["pid"]
    equal(json.loads(live("--once", "--json", str(pid)))["file"], os.path.realpath("t.mled"),
          "the file of a process")
    none = harness.plain(MEMLEDGER, "live", "--once", "1")
    equal(none.returncode, 1, "exit code for a process that is not recorded")
    contains(none.stderr, "is not being recorded", "the error")
    harness.finish(process)


def test_replaced():
    """Another recording takes the file; a follower changes over."""
    process, _ = start_training()
    settled("t.mled")
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
    for p in (process, other):
        harness.finish(p)
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


def test_other_user():
    """A process that another user records is not known to this one."""
    if os.geteuid() or not shutil.which("setpriv"):
        raise Skip("only root can become another user, with setpriv", machine=True)
    as_nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    if harness.plain(*as_nobody, "test", "-x", MEMLEDGER).returncode:
        raise Skip("the build folder is closed to other users", machine=True)
    process, _ = start_training()
    pid = settled("t.mled")["processes"][0]["pid"]
    done = harness.plain(*as_nobody, MEMLEDGER, "live", "--once", str(pid))
    equal(done.returncode, 1, "exit code", done.stderr)
    contains(done.stderr, f"sudo memledger live {pid} shows it", "message")
    harness.finish(process)


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
    process, _ = start_training()
    settled("t.mled")
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
    harness.finish(process)


# ---- On a terminal ------------------------------------------------------------


class Terminal:
    """A command on a terminal of its own."""

    def __init__(self, *command, width=100, height=24, term=None):
        if not shutil.which("tmux"):
            raise Skip("no tmux here")
        self.tmux = ["tmux", "-S", os.path.abspath("tmux"), "-f", "/dev/null"]
        env = os.environ | {"LC_ALL": "C.UTF-8"}
        env.pop("TMUX", None)
        words = (f"env TERM={term} " if term else "") + " ".join(command)
        subprocess.run([*self.tmux, "new-session", "-d", "-x", str(width), "-y", str(height),
                        f"{words}; echo exit code $?; cat"], check=True, env=env)

    def press(self, *keys):
        subprocess.run([*self.tmux, "send-keys", *keys], check=True)

    def screen(self):
        return subprocess.run([*self.tmux, "capture-pane", "-p"], check=True, text=True,
                              capture_output=True).stdout

    def wait_for(self, pattern):
        seen = [""]

        def is_there():
            seen[0] = self.screen()
            return re.search(pattern, seen[0])

        try:
            harness.wait_until(is_there, pattern, 20)
        except harness.Failure:
            raise harness.Failure(f"no {pattern!r} on the screen:\n{seen[0]}") from None
        return seen[0]

    def resize(self, width, height):
        subprocess.run([*self.tmux, "resize-window", "-x", str(width), "-y", str(height)],
                       check=True)

    def close(self):
        subprocess.run([*self.tmux, "kill-server"], check=False, capture_output=True)


def size(screen, row):
    line = next(line for line in screen.splitlines() if line.startswith(row))
    return re.search(r"([0-9.]+ [KMG]?i?B)", line[len(row):])[1]


def test_terminal():
    process, _ = start_training()
    settled("t.mled")
    terminal = Terminal(MEMLEDGER, "live", "t.mled")
    try:
        equal(size(terminal.wait_for("parameter "), "parameter"), "300.0 KiB", "parameters")
        next_pause(process)
        screen = terminal.wait_for("activation ")
        equal(size(screen, "activation"), "90.0 KiB", "activations after forward")
        contains(screen, "recording, last event", "the first line")
        terminal.press("Enter")  # the largest: parameters
        screen = terminal.wait_for(r"parameter > by module, 3 rows")
        equal(size(screen, "Net > layers.0.fc"), "100.0 KiB", "parameters of a layer")
        terminal.press("/", "2.fc")
        terminal.wait_for(r"by module, 1 row, .*/2\.fc")
        terminal.press("Escape")
        terminal.wait_for(r"by module, 3 rows")
        terminal.press("BSpace")
        terminal.wait_for(r"(?m)^by category")
        terminal.resize(60, 15)
        screen = terminal.wait_for("parameter ")
        check(all(len(line) <= 60 for line in screen.splitlines()), "a line is too long", screen)
        terminal.resize(120, 30)
        terminal.wait_for("last 5 minutes")
        terminal.press("Space")
        terminal.wait_for("FROZEN")
        next_pause(process)
        contains(terminal.screen(), "activation", "a frozen screen")
        terminal.press("Space")
        terminal.wait_for("gradient ")
        terminal.press("?")
        terminal.wait_for("freeze the screen, and go on")
        terminal.press("x", "s")
        name = re.search(r"saved (\S+)", terminal.wait_for(r"saved \S+"))[1]
        saved = json.load(open(name))
        equal({r["name"]: r["bytes"] for r in saved["rows"]},
              {"parameter": 307200, "gradient": 307200}, "the saved rows", saved)
        terminal.press("q")
        screen = terminal.wait_for("exit code 0")
        check("by category" not in screen, "the screen afterwards", screen)
    finally:
        terminal.close()
        harness.finish(process)


def test_list_on_a_terminal():
    """A long command line is cut to the width of the terminal, and whole elsewhere."""
    code = "import sys; sys.stdin.read(); " + "; ".join(f"part_{i} = {i}" for i in range(40))
    run = harness.start(sys.executable, "-c", code, stdin=subprocess.PIPE)
    listed()
    contains(live(), "part_39 = 39", "the list in a pipe")
    terminal = Terminal(MEMLEDGER, "live", width=90, height=50)
    try:
        screen = terminal.wait_for("exit code 0")
        lines = screen.splitlines()
        lines = lines[next(i for i, line in enumerate(lines) if line.startswith("-------")):]
        check(all(re.match(r"-|exit code| *[0-9]+ +(recording|paused) |memledger resume| +\S+ ", line)
                  for line in lines if line), "a row in several lines", screen)
        check(any("39 = 39" in line for line in lines), "the end of the command", screen)
    finally:
        terminal.close()
    harness.finish(run)


def test_dumb_terminal():
    """A line a second where nothing can be drawn, until the recording ends."""
    process, _ = start_training()
    settled("t.mled")
    terminal = Terminal(MEMLEDGER, "live", "t.mled", term="dumb", width=120)
    try:
        terminal.wait_for(r"cpu  now 300\.0 KiB  peak 300\.0 KiB")
        harness.finish(process)
        terminal.wait_for("exit code 0")
    finally:
        terminal.close()


def test_killed_recorder():
    process, _ = start_training()
    settled("t.mled")
    os.kill(harness.collector_of(process), signal.SIGKILL)
    harness.finish(process)
    contains(live("--once", "t.mled"), "not finished: its recorder is gone", "a killed recorder's")


harness.main(globals())
