#!/usr/bin/env python3
# test_leaks.py: leaks, compare and table --temporary on recordings of a program that
# keeps more from step to step, and of one that does not.
#
# SPDX-License-Identifier: Apache-2.0
import os

import harness
from harness import MEMLEDGER, check, contains, equal, plain, program, report, run

STEPS = 12


def record(what, trace=None):
    result = run(program("keeps"), what, trace=trace or f"{what}.mled",
                 options=["-q", "--sample-hz", "0"])
    equal(result.code, 0, "exit code", result)
    return result.trace


def verdict(*arguments):
    return plain(MEMLEDGER, *arguments)


def test_what_is_kept_forever():
    trace = record("forever")
    found = report("leaks", trace)
    equal(found["by_slices_of"], "step", "what it is looked at by")
    equal((found["steps"], found["warm_up"], found["measured"]), (STEPS - 1, 2, STEPS - 3), "steps")
    equal(len(found["leaks"]), 1, "leaks", found)
    leak = found["leaks"][0]
    equal(leak["sign"], "steady", "sign")
    equal((leak["bytes_per_step"], leak["blocks_per_step"]), (3000, 3), "growth of a step")
    equal((leak["grew_in_steps"], leak["fell_in_steps"]), (STEPS - 3, 0), "steps")
    equal(leak["module"], "history", "where")
    by_label = report("leaks", trace, "--by", "label,scope", "--warm-up", "5")
    equal([(x["label"], x["scope"]) for x in by_label["leaks"]], [("loss", "history")], "names")
    equal(by_label["measured"], STEPS - 6, "steps behind the warm-up")


def test_exit_codes():
    failed = verdict("leaks", "--fail", record("forever"))
    equal(failed.returncode, 1, "exit code of a leak", failed.stdout)
    contains(failed.stderr, "1 entry grows from step to step", "the reason")
    contains(failed.stdout, "None of these has a stack: record with --stacks python", "the hint")
    equal(verdict("leaks", "--fail", "--min-growth", "3000", "forever.mled").returncode, 1, "3,000 bytes a step")
    passed = verdict("leaks", "--fail", "--min-growth", "3001", "forever.mled")
    equal(passed.returncode, 0, "exit code of a growth that is allowed", passed.stderr)
    contains(passed.stdout, "steady", "the report")
    for what in ("while", "refresh", "nothing"):
        done = verdict("leaks", "--fail", record(what))
        equal(done.returncode, 0, f"exit code of {what}", done.stdout, done.stderr)
        contains(done.stdout, "Nothing grows from step to step", "the report")


def test_the_second_of_two_processes_leaks():
    """As in a job of two ranks: it must not pass because the first does not leak."""
    keeps = program("keeps")
    run("sh", "-c", f"{keeps} nothing; {keeps} forever", trace="two.mled",
        options=["-q", "--sample-hz", "0"])
    first, second = sorted((p for p in report("summary", "two.mled")["processes"] if p["allocations"]),
                           key=lambda p: p["start_ns"])
    done = verdict("leaks", "--fail", "two.mled")
    equal(done.returncode, 1, "exit code", done.stdout, done.stderr)
    contains(done.stderr, "only one of 2 processes that mark steps was looked at", "the reason")
    contains(done.stdout, "Nothing grows from step to step in the process that is shown", "the report")
    equal(verdict("leaks", "--fail", "--process", str(first["pid"]), "two.mled").returncode, 0, "the first")
    equal(verdict("leaks", "--fail", "--process", str(second["pid"]), "two.mled").returncode, 1, "the second")
    grown = verdict("check", "--max-growth", "1KB/step", "two.mled")
    equal(grown.returncode, 1, "exit code of check", grown.stdout, grown.stderr)
    contains(grown.stdout, f"memledger leaks --process={second['pid']} two.mled shows more", "the advice")
    equal(verdict("check", "--max-growth", "1MB/step", "two.mled").returncode, 0, "a higher limit")


def test_a_program_that_allocates_first_and_works_then():
    run(program("fills_table"), trace="table.mled", options=["-q", "--heap", "--sample-hz", "0"])
    text = plain(MEMLEDGER, "leaks", "table.mled").stdout
    contains(text, "+8.0 MiB in all", "the rise")
    contains(text, "live memory rose by 8.0 MiB, but it did not keep rising", "the verdict")
    contains(text, "Never freed: 4.8 MiB in 5,00", "what to look at")
    check(" a slice" not in text, "an average beside the verdict that nothing grows", text)
    left = report("leaks", "table.mled")["never_freed"]
    total = report("summary", "table.mled")
    equal((left["bytes"], left["blocks"]),
          (total["never_freed_bytes"], total["never_freed_blocks"]),
          "never freed, as in summary")
    equal(left["largest"][0]["category"], "other", "its largest group")


def sessions(what):
    program_of_sessions = program("keeps_sessions")
    if not os.path.exists(program_of_sessions):  # there is no compiler for C++
        return None
    trace = f"sessions-{what}.mled"
    result = run(program_of_sessions, what, trace=trace,
                 options=["-q", "--heap", "--stacks", "native", "--sample-hz", "0"])
    equal((result.code, result.out), (0, "done\n"), "the program's end", result)
    return trace


def test_growth_that_a_server_frees_when_it_ends():
    trace = sessions("end")
    if not trace:
        return
    found = report("leaks", trace)
    check(found["leaks"], "the sessions grow", found)
    equal({leak["never_freed_bytes"] for leak in found["leaks"]}, {0}, "never freed", found)
    equal(found["never_freed"]["growing_bytes"], 0, "never freed of all that grows")
    text = plain(MEMLEDGER, "leaks", trace).stdout
    contains(text, "All of this was freed before the program ended.", "what became of it")
    failed = verdict("leaks", "--fail", trace)
    equal(failed.returncode, 1, "exit code", failed.stdout)
    contains(failed.stderr, "--never-freed --fail judges what the program left behind", "the way out")


def test_growth_that_is_never_freed_comes_first():
    trace = sessions("lose")
    if not trace:
        return
    first, *others = report("leaks", trace)["leaks"]
    contains(first["stack"], "Server::lose", "the first one")
    # All but the blocks of the first slices and of the last one.
    check(7000 <= first["never_freed_bytes"] <= 10000, "never freed", first)
    equal({leak["never_freed_bytes"] for leak in others}, {0}, "never freed of the others", others)
    text = plain(MEMLEDGER, "leaks", trace).stdout
    contains(text, "of this growth was never freed.", "what became of it")
    contains(text.replace("\n", " "), "memledger leaks --never-freed lists what was never freed", "the way on")


# Over most of the run, however long Python takes to start, so that slices of time see it grow.
KEEPER = """kept = []
def keep():
    kept.append(bytearray(100000))
import os, time
began = int(open("/proc/self/stat").read().rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
start_s = time.clock_gettime(time.CLOCK_BOOTTIME) - began
for i in range(100):
    keep()
    time.sleep(max(0.01, start_s / 10))
"""


def test_lines_of_blocks():
    with open("keeper.py", "w") as f:
        f.write(KEEPER)
    run("/usr/bin/python3", "keeper.py", trace="heap.mled",
        options=["-q", "--heap", "--stacks", "python", "--sample-hz", "0"])
    for arguments in (["table", "--by", "line"], ["leaks"]):
        text = plain(MEMLEDGER, *arguments, "heap.mled").stdout
        check("record with --stacks" not in text, "advice that was followed already", text)
        contains(text, "keeper.py:3", f"the line in {arguments}")
    run(program("keeps"), "forever", trace="own.mled", options=["-q", "--stacks", "python"])
    contains(plain(MEMLEDGER, "leaks", "own.mled").stdout,
             "None of these has a stack: --stacks records those of PyTorch and MXNet only.",
             "blocks that the program reports")


def test_compare_names_what_rose():
    good, bad = record("nothing", "good.mled"), record("forever", "bad.mled")
    steps = report("compare", good, bad, "--each", "step")["view"]["entries"]
    equal([e["step"] for e in steps], list(range(STEPS)), "steps")
    # the peak of a step is its buffer, on what the steps before have left
    equal([e["runs"][1]["bytes_difference"] for e in steps], [3000 * i for i in range(STEPS)],
          "what each step has more")
    entries = report("compare", good, bad, "--at", "step:11:end", "--by", "module")["view"]
    equal([(e["module"], e["runs"][1]["status"]) for e in entries["entries"]],
          [("work", "same")], "all is freed at the end")
    failed = verdict("compare", "--by", "label", "--at", "step:10:end", "--fail-on-increase", "300",
                     good, bad)
    equal(failed.returncode, 1, "exit code", failed.stdout)
    contains(failed.stderr, "bad.mled: label loss rose from nothing, to 32.2 KiB", "the reason")
    passed = verdict("compare", "--by", "label", "--at", "step:10:end", "--fail-on-increase", "300",
                     "--min-change", "40KiB", good, bad)
    equal(passed.returncode, 0, "exit code where that is little", passed.stderr)


def test_temporary():
    trace = record("forever")
    found = report("table", trace, "--temporary", "--by", "scope")
    equal([(g["scope"], g["bytes"], g["allocations"]) for g in found["groups"]],
          [("work", STEPS * 50000, STEPS), ("history", 2000, 2)],
          "what is freed at once, and the last of the list, behind which nothing is made")
    one = report("table", trace, "--temporary", "--at", "step:3", "--by", "scope")
    equal(one["temporary"]["bytes"], 50000, "of one step")
    # a replaced buffer lives until four others were made
    more = report("table", trace, "--temporary", "--within", "4", "--by", "scope")
    equal({g["scope"]: g["allocations"] for g in more["groups"]},
          {"work": STEPS + STEPS - 1, "history": 3}, "within four others")


harness.main(globals())
