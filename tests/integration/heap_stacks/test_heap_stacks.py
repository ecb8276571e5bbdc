#!/usr/bin/env python3
# test_heap_stacks.py: the stacks of malloc: known callers in every situation, and real programs,
# whose output stays the same and whose stacks are those that libgcc's unwinder finds.
#
# SPDX-License-Identifier: Apache-2.0
import functools
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import harness
from harness import check, contains, equal, plain, report, run

CALLERS = harness.program("heap_stacks/stack_callers")
TWINS = [harness.program(f"heap_stacks/lib{name}_twin.so") for name in ("first", "second")]
JUDGE = harness.program("heap_stacks/libstack_judge.so")
OPTIONS = ["-q", "-f", "--heap=all", "--stacks=native", "--sample-hz=0"]
TURNS = 12


@functools.cache
def recorded():
    """size of an allocation -> names of its callers, innermost first."""
    result = run(CALLERS, *TWINS, TURNS, options=OPTIONS)
    equal((result.code, result.out), (0, "done\n"), "the program's end", result)
    found = {}
    for event in report("events", result.trace, "--kind", "alloc")["events"]:
        found[event["bytes"]] = [f.get("function") for f in event.get("stack", [])
                                 if not f.get("file", "").endswith("rtld-malloc.h")]
    return found


def begins(size, *names):
    stack = recorded()[size]
    equal(stack[:len(names)], list(names), f"callers of the allocation of {size} bytes", stack)
    return stack


def ends_in_main(size, *names):
    stack = begins(size, *names)
    check("main" in stack and stack[-1] == "_start", f"the stack of {size} bytes ends early", stack)


def test_every_function_of_the_family():
    for size in (10001, 10002, 10003, 10004, 10048, 40960):
        ends_in_main(size, "calls_the_family", "main")
    for size in (10006, 10007):
        stack = recorded()[size]
        check("calls_the_family" in stack[:3], "operator new", stack)
    check("calls_the_family" in recorded()[9][:2], "strdup", recorded()[9])
    for stack in recorded().values():
        check(not {"malloc", "calloc", "realloc", "mmap"} & set(stack), "the recorder's own", stack)


def test_frames_that_change():
    """The inner frames of two stacks look alike, their callers differ."""
    for i in range(4):
        ends_in_main(20000 + i, "innermost", "left", "right", "left", "right", "left",
                     "changes_callers", "main")
        ends_in_main(21000 + i, "innermost", "right", "left", "right", "left", "right",
                     "changes_callers", "main")
        ends_in_main(22000 + i, "innermost", "right", "left", "right", "left", "changes_callers",
                     "main")


def test_deep_stacks_are_cut():
    equal(len(begins(23000, "innermost", "left", "right", "left")), 64, "frames")
    equal(len(begins(23001, "innermost", "left", "right", "left")), 64, "frames")
    ends_in_main(23002, "innermost", "left", "right", "left", "goes_deep", "main")


def test_signal_handlers():
    stack = recorded()[30001]
    equal(stack[:2], ["innermost", "handler"], "the handler", stack)
    for size in (30001, 30002):
        check("interrupted" in recorded()[size], "the interrupted function", recorded()[size])
        equal(recorded()[size][-1], "_start", "the outermost frame")
    ends_in_main(30003, "innermost", "interrupted", "main")


def test_threads_and_coroutines():
    stack = begins(40001, "innermost", "left", "right", "left", "thread_function")
    check("main" not in stack and len(stack) < 10, "a thread's stack", stack)
    begins(40002, "innermost", "right", "left", "right", "coroutine_function")
    ends_in_main(40003, "innermost", "switches_stacks", "main")


def test_generated_code():
    stack = begins(50001, "innermost", "called_by_generated")
    equal(stack[2:], [None, "(stack ends early)"], "the rest")


def test_plugins_in_the_same_place():
    for i in range(TURNS):
        name = ("first", "second")[i % 2]
        ends_in_main(60000 + i, f"{name}_twin", "plugin_allocates", "loads_plugins", "main")


def test_memory_beside_a_stack_that_goes_away():
    """The recorder reads it again only with the kernel's help."""
    result = run(harness.program("heap_stacks/bare_threads"), options=OPTIONS)
    equal((result.code, result.out), (0, "done\n"), "the program's end", result)
    sizes = {}
    for event in report("events", result.trace, "--kind", "alloc")["events"]:
        functions = [f.get("function") for f in event.get("stack", [])]
        if functions[:3] == ["innermost", "middle", "outer"]:
            sizes.setdefault(event["bytes"], set()).add(tuple(functions[3:]))
    equal(sorted(sizes), [1001, 1002, 2001], "the blocks")
    for size in 1001, 1002:
        equal({callers[:4] for callers in sizes[size]},
              {("on_memory_below", "call_on", "run_below", "thread_main")}, "the callers", sizes)
    equal({callers[0] for callers in sizes[2001]}, {"thread_main"}, "the callers", sizes)


def test_children():
    ends_in_main(70001, "innermost", "forks", "main")
    ends_in_main(70002, "innermost", "forks", "main")
    ends_in_main(70003, "innermost", "left", "right", "left", "forks", "main")
    ends_in_main(70004, "innermost", "forks", "main")


def test_exceptions():
    """Compilers may move the handler into a part of the function with a name of its own."""
    stack = begins(80001, "innermost")
    equal((stack[1].split(".")[0], stack[2], stack[-1]), ("catches", "main", "_start"), "callers")


def test_table():
    run(CALLERS, options=OPTIONS + ["--symbols=off"])
    text = plain(harness.MEMLEDGER, "table", "--by", "stack", "t.mled").stdout
    contains(text, "calls_the_family < main", "the table")


def test_a_tree_of_modules_points_to_the_tree_of_calls():
    run("ls", "/", options=OPTIONS)
    contains(plain(harness.MEMLEDGER, "tree", "t.mled").stdout,
             "No block belongs to a module: memledger tree --by callers", "the hint")
    run("ls", "/", options=["-q", "-f", "--heap"])
    contains(plain(harness.MEMLEDGER, "tree", "t.mled").stdout, "run --heap --stacks native", "the hint")


# ---- Real programs ----------------------------------------------------------------------

SOURCE = """
#include <map>
#include <string>
#include <vector>
std::map<std::string, std::vector<int>> table;
int main() { table["one"].push_back(1); return table.size() != 1; }
"""
PYTHON = "import json, re; print(len(json.dumps([re.sub('1', 'one', str(i)) for i in range(3000)])))"
PERL = 'my %h; $h{$_ % 100} .= "x$_" for 1..20000; print join(",", sort keys %h);'


def programs():
    with open("source.cc", "w") as file:
        file.write(SOURCE)
    with open("numbers.txt", "w") as file:
        file.writelines(f"{i * 7919 % 10007}\n" for i in range(20000))
    source_tree = os.path.dirname(os.path.abspath(__file__))
    yield "sort", "-n", "numbers.txt"
    yield sys.executable, "-c", PYTHON
    yield "perl", "-e", PERL
    yield "c++", "-O1", "-S", "-o", "-", "source.cc"
    yield "git", "-C", source_tree, "log", "-n", "100", "--stat"


def test_real_programs_are_unharmed():
    for command in programs():
        alone = plain(*command)
        if alone.returncode:
            continue  # not installed, or no repository
        result = run(*command, options=OPTIONS)
        equal((result.code, result.out), (0, alone.stdout), f"output of {command[0]}")
        trace = result.dump()
        equal(trace["lost"], 0, f"lost with {command[0]}")


def test_stacks_of_real_programs():
    """Each of them compares thousands of its stacks with those of libgcc's unwinder."""
    total = 0
    for command in programs():
        env = {**os.environ, "LD_PRELOAD": JUDGE, "STACK_JUDGE": os.path.abspath("judged")}
        subprocess.run(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open("judged") as file:
        for line in file:
            same, early, different = map(int, line.split()[:3])
            equal(different, 0, "stacks that differ", line)
            check(early <= same / 100, "stacks that end early", line)
            total += same
    check(total > 10000, "hardly any stacks", total)


harness.main(globals())
