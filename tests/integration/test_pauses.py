#!/usr/bin/env python3
# test_pauses.py: recordings that are paused and resumed from outside.
#
# SPDX-License-Identifier: Apache-2.0
import os
import signal
import subprocess
import time

import harness
from harness import MEMLEDGER, check, contains, equal, program


class Program:
    """on_request under `memledger run`: see on_request.c."""

    def __init__(self, *options):
        self.run = harness.start(program("on_request"), options=["--sample-hz", "0", *options],
                                 stdin=subprocess.PIPE)
        self.ask("nothing")
        self.pid = harness.wait_until(self.find, "the program")

    def find(self):
        other = harness.collector_of(self.run)
        return next((pid for pid in harness.children(self.run.pid) if pid != other), None)

    def ask(self, *requests):
        for request in requests:
            self.run.stdin.write(request + "\n")
            self.run.stdin.flush()
            equal(harness.read_line(self.run), "ok", request)

    def end(self):
        result = harness.finish(self.run)
        equal(result.code, 0, "exit code", result)
        return result


def command(verb, pid):
    done = harness.plain(MEMLEDGER, verb, pid)
    equal(done.returncode, 0, f"exit code of {verb}", done.stderr)
    return done.stderr


def live(trace="t.mled"):
    """The sizes of what the trace says was never freed, by label."""
    rows = harness.report("table", trace, "--at", "end", "--by", "label")["groups"]
    return {row["label"]: (row["blocks"], row["bytes"]) for row in rows}


def paused_health(trace):
    """What a report says about a recording that is paused, None: not yet."""
    health = harness.report("summary", trace)["health"]
    return health if health.get("paused") else None


def said(words):
    text = " ".join(harness.plain(MEMLEDGER, "summary", "t.mled").stdout.split())
    return text if words in text else None


def test_blocks_are_followed_through_a_pause():
    p = Program()
    p.ask("block 1 1000", "block 2 200", "label 1 first")
    command("pause", p.pid)
    p.ask("block 3 30", "block 4 4", "unblock 2", "unblock 4", "label 3 third", "block 5 5",
          "unblock 5", "block 5 7")
    command("resume", p.pid)
    p.ask("block 6 600", "label 6 sixth")
    p.end()
    health = harness.report("summary", "t.mled")["health"]
    equal(health["pauses"], 1, "pauses", health)
    check(health["paused_ns"] > 0, "a pause takes time", health)
    found = live()
    equal(found["first"], (1, 1000), "a block of before", found)
    equal(found["third"], (1, 30), "a block of meanwhile", found)
    equal(found["sixth"], (1, 600), "a block of after", found)
    equal(sum(size for _, size in found.values()), 1000 + 30 + 7 + 600, "bytes at the end", found)
    harness.balanced(harness.dump("t.mled"))


def test_malloc():
    p = Program("--heap")
    p.ask(*(f"malloc {i} 1000" for i in range(10)))
    contains(command("pause", p.pid), "is paused", "the first pause")
    contains(command("pause", p.pid), "already", "the second pause")
    p.ask(*(f"free {i}" for i in range(5)), "malloc 20 5000")
    contains(command("resume", p.run.pid), "is resumed", "resuming by the launcher's number")
    p.ask("free 5", "malloc 30 300", "malloc 31 310", "free 31")
    p.end()
    summary = harness.report("summary", "t.mled")
    equal(summary["live_bytes"], 300, "bytes never freed", summary)
    equal(summary["health"]["unknown_frees"], 0, "unknown frees", summary["health"])
    marks = [row for row in harness.report("events", "t.mled", "--kind", "mark")["events"]]
    equal([mark["mark"] for mark in marks], ["pause", "resume"], "marks", marks)


def test_paused_from_the_start():
    p = Program("--heap", "--paused")
    p.ask("malloc 1 1000", "block 1 1000", "block 2 2000", "label 2 second", "unblock 1")
    command("resume", p.pid)
    p.ask("malloc 2 50")
    p.end()
    summary = harness.report("summary", "t.mled")
    equal(summary["live_bytes"], 2000 + 50, "bytes never freed", summary)
    equal(live()["second"], (1, 2000), "a label of meanwhile")


def test_reports_of_a_paused_recording():
    """They say how long it has been paused so far."""
    p = Program()
    p.ask("block 1 1000")
    command("pause", p.pid)
    first = harness.wait_until(lambda: paused_health("t.mled"), "the pause in the trace")
    time.sleep(0.1)
    health = paused_health("t.mled")
    equal(health["pauses"], 1, "pauses", health)
    check(health["paused_ns"] >= first["paused_ns"] + 100_000_000, "the pause becomes longer", first, health)
    text = harness.plain(MEMLEDGER, "summary", "t.mled").stdout
    contains(" ".join(text.split()), "the recording is paused, for ", "summary")
    command("resume", p.pid)
    command("pause", p.pid)
    text = harness.wait_until(lambda: said("paused 2 times"), "the second pause in the trace")
    contains(text, "in all, and is paused now", "summary")
    p.end()
    health = harness.report("summary", "t.mled")["health"]
    equal(health["paused"], False, "a recording that has ended is not paused", health)
    check(health["paused_ns"] > 100_000_000, "the length of both pauses", health)


def test_never_resumed():
    p = Program("--heap")
    p.ask("malloc 1 1000", "block 1 100")
    command("pause", p.pid)
    p.ask("free 1", "unblock 1", "malloc 2 1000", "block 2 100")
    p.end()
    equal(harness.report("summary", "t.mled")["live_bytes"], 0, "bytes never freed")


def test_pauses_before_the_end():
    """A collector that gets no processor finds a pause, its end and the end of the program at
    once."""
    p = Program("--heap")
    p.ask("malloc 1 1000")
    collector = harness.collector_of(p.run)
    os.kill(collector, signal.SIGSTOP)
    command("pause", p.pid)
    p.ask("free 1", "malloc 2 1000")
    command("resume", p.pid)
    p.ask("malloc 3 30")
    p.run.stdin.close()
    harness.wait_until(lambda: not os.path.exists(f"/proc/{p.pid}/exe"), "the end of the program")
    os.kill(collector, signal.SIGCONT)
    p.run.stdin = None
    p.end()
    equal(harness.report("summary", "t.mled")["live_bytes"], 30, "bytes never freed")


def test_limits():
    """The peak may have been in a pause; a recording without memory shows nothing."""
    p = Program()
    p.ask("block 1 1000")
    command("pause", p.pid)
    command("resume", p.pid)
    p.end()
    checked = harness.plain(MEMLEDGER, "check", "--max-peak", "1TB", "t.mled")
    equal(checked.returncode, 1, "exit code of check --max-peak", checked.stdout)
    contains(checked.stdout, "pauses", "check --max-peak")
    checked = harness.plain(MEMLEDGER, "check", "--max-leaks", "1TB", "t.mled")
    equal(checked.returncode, 0, "exit code of check --max-leaks", checked.stdout)
    equal(harness.run("true", options=["-f"]).code, 0, "exit code")
    checked = harness.plain(MEMLEDGER, "check", "--max-leaks", "1TB", "t.mled")
    equal(checked.returncode, 1, "exit code without memory", checked.stdout)
    contains(checked.stderr, "no memory was recorded", "check without memory")


def test_scopes():
    p = Program()
    p.ask("push 0 outer")
    command("pause", p.pid)
    p.ask("push 0 inner", "pop", "pop", "push 0 next")
    command("resume", p.pid)
    p.ask("pop", "push 0 after", "block 1 10", "pop", "block 2 20")
    p.end()
    rows = harness.report("table", "t.mled", "--at", "end", "--by", "scope")["groups"]
    found = {row["bytes"]: row["scope"] for row in rows}
    equal(found, {10: "after", 20: None}, "the scopes after a pause")
    harness.balanced(harness.dump("t.mled"))


def test_scope_of_blocks_of_a_pause():
    """It is not known: the thread that reports them may be anywhere."""
    p = Program()
    p.ask("push 0 outer", "block 1 1")
    command("pause", p.pid)
    p.ask("block 2 20", "label 2 second")
    command("resume", p.pid)
    p.ask("block 3 300", "pop")
    p.end()
    rows = harness.report("table", "t.mled", "--at", "end", "--by", "label,scope")["groups"]
    equal({row["bytes"]: row["scope"] for row in rows}, {301: "outer", 20: None}, "scopes", rows)
    harness.balanced(harness.dump("t.mled"))


def test_steps():
    """A pause is no time of the step in which it began, and plots show it."""
    began = time.monotonic()
    p = Program()
    p.ask("step 0", "block 1 10", "step 1", "block 2 20")
    command("pause", p.pid)
    p.ask("step 2", "block 3 30", "step 3")
    time.sleep(0.1 + time.monotonic() - began)  # half of the run so far: wide enough for its name in the picture
    command("resume", p.pid)
    p.ask("block 4 40", "step 4", "block 5 50")
    p.end()
    marks = harness.report("events", "t.mled", "--kind", "mark")["events"]
    paused, resumed = (next(m["time_ns"] for m in marks if m["mark"] == what) for what in ("pause", "resume"))
    steps = harness.report("steps", "t.mled")["steps"]
    equal([(s["step"], s.get("paused_ns")) for s in steps],
          [(0, None), (1, resumed - paused), (4, None)], "pauses of the steps", steps)
    rows = harness.plain(MEMLEDGER, "steps", "t.mled", "--csv").stdout.splitlines()
    equal([row.split(",")[-1] for row in rows], ["paused_ns", "0", str(resumed - paused), "0"], "CSV", rows)
    text = harness.plain(MEMLEDGER, "steps", "t.mled").stdout
    contains(text.split("By step")[1].splitlines()[1].split(), "paused", "the columns")
    plot = harness.report("plot", "t.mled")
    equal(plot["pauses"], [{"from_ns": paused, "to_ns": resumed}], "pauses on the axis")
    within = harness.report("plot", "t.mled", "--from", f"{(paused + resumed) // 2}ns")
    equal(within["pauses"], [{"from_ns": within["from_ns"], "to_ns": resumed}], "the rest of a pause")
    harness.plain(MEMLEDGER, "plot", "t.mled", "-f", "-o", "t.svg")
    contains(open("t.svg").read(), ">paused<", "the picture")


def test_children():
    p = Program("--heap")
    p.ask("fork", "block 1 10")
    command("pause", p.pid)
    p.ask("block 2 20", "fork")
    command("resume", p.pid)
    p.ask("fork", "unblock 1")
    p.end()
    found = harness.report("summary", "t.mled")
    equal(found["live_bytes"], 20, "bytes at the end", found)


def test_messages():
    sleeper = subprocess.Popen(["sleep", "60"])
    try:
        done = harness.plain(MEMLEDGER, "pause", sleeper.pid)
    finally:
        sleeper.kill()
        sleeper.wait()
    equal(done.returncode, 1, "exit code for a process that is not recorded", done.stderr)
    contains(done.stderr, "not being recorded", "message")
    done = harness.plain(MEMLEDGER, "resume", 999999999)
    contains(done.stderr, "no process 999999999", "message for a process that does not exist")
    done = harness.plain(MEMLEDGER, "pause", "abc")
    equal(done.returncode, 2, "exit code for a word", done.stderr)


if __name__ == "__main__":
    harness.main(globals())
