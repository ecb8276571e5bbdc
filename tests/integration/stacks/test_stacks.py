#!/usr/bin/env python3
# test_stacks.py: call stacks: functions and libraries of known callers, plugins that replace
# each other, children, sudden ends.
#
# SPDX-License-Identifier: Apache-2.0
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import harness
from harness import check, equal, finish, plain, read_line, run, start

USER = harness.program("stacks/stack_user")
PLUGINS = [harness.program(f"stacks/lib{name}_plugin.so") for name in ("first", "second")]

# The library that the test program brings along takes the preloaded one's place.
ALONE = ["env", "-u", "LD_PRELOAD"]


def allocations(trace):
    """address -> (process, functions, base names of libraries), innermost first."""
    found = {}
    for event in trace["events"]:
        if event["kind"] != "alloc":
            continue
        process = trace["threads"][event["thread"]]["process"]
        stack = event.get("stack", [])
        libraries = [trace["libraries"][frame[1]] for frame in stack if frame[1] is not None]
        check(all(l["process"] == process for l in libraries), "another process's library")
        found[process, event["addr"]] = ([frame[0] for frame in stack],
                                         [os.path.basename(l["path"]) for l in libraries])
    return found


def ask(*arguments):
    result = run(*ALONE, USER, *arguments, options=["-q"])
    equal(result.code, 0, "exit code", result)
    trace = result.dump(events=True)
    equal(trace["lost"], 0, "lost")
    return result, trace


def test_functions_and_libraries():
    _, trace = ask("calls")
    found = {address: stack for (_, address), stack in allocations(trace).items()}
    for address, begin in ((0x1000, ["inner_function", "outer_function", "calls"]),
                           (0x2000, ["inner_function", "outer_function", "calls"]),
                           (0x3000, ["inner_function", "calls"]),
                           (0x9000, ["ask_and_exit", "last_call_of_all"])):
        functions, libraries = found[address]
        functions = [f for f in functions if f != "main"]  # where calls() is or is not inlined
        wanted = [f for f in begin if f != "calls"]
        equal(functions[:len(wanted)], wanted, f"stack at {address:#x}", functions)
        equal(libraries[0], "stack_user", "library", libraries)
        check("libstack_probe.so" not in libraries, "a frame of the recorder's own", libraries)
        check("libc.so.6" in libraries, "libc's frame that calls main", libraries)


def build_id(path):
    notes = plain("readelf", "-n", path).stdout
    return notes.partition("Build ID: ")[2].split()[0]


def test_what_a_library_says():
    _, trace = ask("calls")
    by_name = {os.path.basename(l["path"]): l for l in trace["libraries"]}
    program = by_name["stack_user"]
    equal(os.path.realpath(program["path"]), os.path.realpath(USER), "the program's path")
    equal(program["build_id"], build_id(USER), "build-id of the program")
    equal(by_name["libc.so.6"]["build_id"], build_id(by_name["libc.so.6"]["path"]), "of libc")
    check(any(name.startswith("linux-vdso") for name in by_name), "no vdso", list(by_name))
    check(all(l["base"] < l["end"] for l in trace["libraries"]), "a library without a size")


def test_sample_is_the_processes_own():
    """The program claims another process; the collector knows whose it is."""
    result, _ = ask("calls")
    samples = harness.report("events", result.trace, "--kind", "sample")["events"]
    (sample,) = [e for e in samples if e["sampled_device"] == "probe:0"]
    equal((sample["used_bytes"], sample["process_bytes"]), (4096, 2048), "sample")
    equal(sample["of_pid"], sample["pid"], "whose sample")


def test_a_plugin_takes_anothers_place():
    result, trace = ask("plugins", *PLUGINS, 20)
    check(int(result.out) >= 10, "the second hardly ever came to lie where the first was")
    found = {address: stack for (_, address), stack in allocations(trace).items()}
    for i in range(20):
        for k, name in enumerate(("first", "second")):
            functions, libraries = found[0x10000 + 0x2000 * i + 0x1000 * k]
            equal(functions[:2], [f"{name}_function", "plugin_run"], f"round {i}")
            equal(libraries[:2], [f"lib{name}_plugin.so"] * 2, f"round {i}")
    plugins = [l for l in trace["libraries"] if "plugin" in l["path"]]
    check(2 <= len(plugins) <= 40, "libraries of the plugins", len(plugins))


def test_relative_path():
    for path in PLUGINS:
        os.symlink(path, os.path.basename(path))
    _, trace = ask("plugins", *("./" + os.path.basename(p) for p in PLUGINS), 1)
    found = {address: stack for (_, address), stack in allocations(trace).items()}
    equal(found[0x10000][0][0], "first_function", "function")


def test_child():
    _, trace = ask("fork", *PLUGINS)
    found = allocations(trace)
    processes = sorted({process for process, _ in found})
    equal(len(processes), 2, "processes that asked")
    parent, child = processes
    equal(found[parent, 0x1000][0][:2], ["inner_function", "outer_function"], "in the parent")
    equal(found[child, 0x2000][0][:2], ["inner_function", "outer_function"], "in the child")
    equal(found[parent, 0x20000][0][0], "second_function", "plugin in the parent")
    equal(found[child, 0x30000][0][0], "first_function", "plugin in the child")
    equal(found[child, 0x30000][1][0], "libfirst_plugin.so", "plugin in the child")


def test_killed_program_has_names():
    process = start(*ALONE, USER, "wait", options=["-q"])
    equal(read_line(process), "asked", "word of the program")
    (target,) = [p for p in harness.children(process.pid) if p != harness.collector_of(process)]
    os.kill(target, signal.SIGKILL)
    found = allocations(finish(process).dump(events=True))
    ((functions, _),) = found.values()
    equal(functions[:2], ["inner_function", "outer_function"], "functions")


def test_killed_collector_leaves_library_and_offset():
    process = start(*ALONE, USER, "wait", options=["-q"])
    equal(read_line(process), "asked", "word of the program")
    collector = harness.collector_of(process)
    harness.wait_until(lambda: plain(harness.program("trace_dump"), "t.mled").returncode == 0
                       and harness.dump("t.mled")["kinds"].get("alloc"), "the event in the file")
    targets = [p for p in harness.children(process.pid) if p != collector]
    os.kill(collector, signal.SIGKILL)
    for target in targets:
        os.kill(target, signal.SIGKILL)
    finish(process)
    ((functions, libraries),) = allocations(harness.dump("t.mled", events=True)).values()
    equal(set(functions), {None}, "names, which are looked up at the end")
    equal(libraries[:2], ["stack_user"] * 2, "libraries")


def test_threads_and_forks():
    _, trace = ask("threads")
    found = allocations(trace)
    equal(len(found), 4 * 2000 + 20, "allocations")
    for (_, address), (functions, _) in found.items():
        equal(functions[0], "inner_function", f"at {address:#x}")
    stacks = {tuple(map(str, e["stack"])) for e in trace["events"] if e["kind"] == "alloc"}
    check(len(stacks) <= 2 + 2 * 21, "stacks", len(stacks))


harness.main(globals())
