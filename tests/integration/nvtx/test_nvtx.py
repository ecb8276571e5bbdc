#!/usr/bin/env python3
# test_nvtx.py: NVTX's ranges are scopes of the trace, its functions return what
# NVIDIA's documentation promises, and nothing an annotated program does harms it.
#
# The real thing: NVIDIA's headers, its library and its Python package, all from
# PyPI. None of them needs a GPU.
#
# SPDX-License-Identifier: Apache-2.0
import functools
import glob
import os
import shlex

import harness
import pypi
from harness import check, contains, equal, plain, report, run

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(os.environ["PYPI_FOLDER"], "nvtx")
NVTX_SCOPE = 4  # MEMLEDGER_SCOPE_NVTX
NO_TOOL = -2  # what NVTX returns when nobody listens


def environment():
    return pypi.environment(os.environ["PYPI_REQUIREMENTS"], FOLDER)


def package_path(pattern):
    found = glob.glob(os.path.join(environment(), "lib/python3*/site-packages", pattern))
    check(found, f"no {pattern} in {FOLDER}")
    return found[0]


@functools.cache
def calls():
    """The path of nvtx_calls, compiled on first use."""
    program = os.path.join(FOLDER, "nvtx_calls")
    include = package_path("nvidia/nvtx/include")
    done = plain(*shlex.split(os.environ["TEST_CC"]), "-O2", "-std=gnu11", "-Wall", "-isystem",
                 include, f"-I{harness.INCLUDE}", os.path.join(HERE, "nvtx_calls.c"), "-o",
                 program, "-lpthread", "-ldl")
    equal(done.returncode, 0, "compiling nvtx_calls.c", done.stderr)
    return program


def listening(library="libmemledger.so"):
    """The environment in which NVTX finds memledger."""
    return dict(os.environ, NVTX_INJECTION64_PATH=os.path.join(harness.LIBRARIES, library))


def record(case, **settings):
    """What the program printed, and its trace with all events."""
    settings = {"env": listening()} | settings
    result = run(calls(), case, **settings)
    equal(result.code, 0, "exit code", result)
    trace = result.dump(events=True)
    equal(trace["lost"], 0, "lost")
    return result.out, trace


def lines(out):
    """[(place, number)] of a program's output."""
    return [(name, int(number)) for name, _, number in
            (line.rpartition(" ") for line in out.splitlines())]


def places(trace):
    """The scope in which each place was passed."""
    return {e["label"]: e["scope"] for e in trace["events"] if e["kind"] == "label"}


def check_places(case, wanted, **settings):
    """`wanted`: place, what NVTX returned there, the scope it was in."""
    out, trace = record(case, **settings)
    equal(lines(out), [(place, level) for place, level, _ in wanted], "returned")
    got = places(trace)
    for place, _, scope in wanted:
        if scope is not None:
            equal(got.get(place), scope, f"scope at {place!r}")
    return trace


NESTED = [("A", 0, "first"),
          ("W", 1, "first > second"),
          ("Ex", 2, "first > second > third"),
          ("popped Ex", 2, "first > second"),
          ("popped W", 1, "first"),
          ("popped A", 0, ""),
          ("nothing left", -1, ""),
          ("again", 0, "fourth"),
          ("done", 0, "")]


def test_nested():
    trace = check_places("nest", NESTED)
    for event in trace["events"]:
        if event["kind"] == "push":
            equal(event["scope_kind"], NVTX_SCOPE, "kind of scope", event)
    equal((trace["kinds"]["push"], trace["kinds"]["pop"]), (4, 4), "pushes and pops")


def test_heap_library():
    library = "libmemledger-heap.so"
    trace = check_places("nest", NESTED, env=listening(library), options=["--heap"])
    check(any(space["name"] == "malloc" for space in trace["spaces"]), "no heap", trace["spaces"])


def test_another_path_to_the_library():
    """The recorder's links to the library lead to the one that is preloaded."""
    os.symlink(os.path.join(harness.LIBRARIES, "libmemledger.so"), "link.so")
    env = dict(os.environ, NVTX_INJECTION64_PATH=os.path.abspath("link.so"))
    trace = check_places("nest", NESTED, env=env)
    equal(len(trace["processes"]), 1, "processes")


def test_without_preload():
    """NVTX brings the recorder along where nothing is preloaded."""
    result = run("env", "-u", "LD_PRELOAD", calls(), "nest", env=listening())
    equal(result.code, 0, "exit code", result)
    equal([level for _, level in lines(result.out)], [level for _, level, _ in NESTED], "returned")
    trace = result.dump(events=True)
    pushed = [e["scope"] for e in trace["events"] if e["kind"] == "push"]
    equal(pushed, ["first", "first > second", "first > second > third", "fourth"], "scopes")


def test_nobody_listens():
    """Without a recording NVTX turns itself off."""
    done = plain(calls(), "nest", env=listening())
    equal(done.returncode, 0, "exit code", done.stderr)
    equal({level for _, level in lines(done.stdout)}, {NO_TOOL}, "returned")


def test_domains_interleaved():
    """Each domain is a stack for itself; what ends is no longer a scope, what
    goes on still is."""
    check_places("domains", [
        ("same", 1, None), ("other", 1, None),
        ("a0", 0, "A/x"),
        ("b0", 0, "A/x > B/y"),
        ("a1", 1, "A/x > B/y > A/z"),
        ("none", 0, "A/x > B/y > A/z > w"),
        ("b1", 1, "A/x > B/y > A/z > w > B/v"),
        ("popped a1", 1, "A/x > B/y > w > B/v"),
        ("popped b1", 1, "A/x > B/y > w"),
        ("popped a0", 0, "B/y > w"),
        ("no more a", -1, "B/y > w"),
        ("popped none", 0, "B/y"),
        ("a again", 0, "B/y > A/u"),
        ("popped b0", 0, "A/u"),
        ("popped a again", 0, ""),
        ("b is back", 0, "B/t"),
        ("popped b again", 0, "")])


def test_registered_strings():
    check_places("strings", [
        ("handles", 1, None), ("same", 1, None),
        ("narrow", 0, "lib/load"),
        ("wide", 1, "lib/load > lib/störe"),
        ("plain", 0, "lib/load > lib/störe > plain"),
        ("elsewhere", 1, "lib/load > lib/störe > plain > load")])


def test_categories():
    first = "lib/load [input]"
    trace = check_places("categories", [
        ("of the domain", 0, first),
        ("of the default", 0, f"{first} > gemm [compute]"),
        ("without a name", 1, f"{first} > gemm [compute] > gemm"),
        ("another name", 2, f"{first} > gemm [compute] > gemm > gemm [mathematics]")])
    for event in trace["events"]:
        if event["kind"] in ("marker", "start"):
            equal(event["name"], "gemm [mathematics]", f"name of a {event['kind']}")


def test_unicode():
    cut = "€" * (1023 // 3)
    path = ["naïve 中文 😀", "naïve", "a��b", cut, "range"]
    names = ["letters", "bytes", "broken", "endless", "nothing"]
    check_places("unicode", [(name, i, " > ".join(path[:i + 1])) for i, name in enumerate(names)])


def test_odd_arguments():
    out, trace = record("odd")
    wanted = [("null A", 0), ("null W", 1), ("null Ex", 2), ("empty", 3), ("no message", 4),
              ("unknown type", 5), ("short", 6), ("no handle", 7), ("no domain", 8),
              ("null domain", 9), ("errno", 0)]
    equal(lines(out), wanted, "returned")
    path = ["range"] * 8 + ["stray", "nameless"]
    equal(places(trace)["null domain"], " > ".join(path), "scope")


def test_pytorch_operators():
    """All calls of an operator are one scope, whatever their numbers."""
    path = ["aten::conv2d", "aten::add", "aten::mul", "load, then store"]
    names = ["forward", "shapes", "inputs", "user"]
    check_places("pytorch", [(name, i, " > ".join(path[:i + 1])) for i, name in enumerate(names)])


def test_deep():
    result = run(calls(), "deep", env=listening())
    equal(result.code, 0, "exit code", result)
    wanted = [("last", 16383), ("wrong", 0), ("refused", 20000 - 16384), ("wrong", 0), ("out", -1)]
    equal(lines(result.out), wanted, "returned")
    trace = result.dump(events=True)
    equal(places(trace)["out"], "", "scope at the end")
    equal((trace["kinds"]["push"], trace["kinds"]["pop"], trace["lost"]), (4096, 4096, 0),
          "pushes, pops and losses")
    beyond = 20000 - 4096  # as in block.h
    equal(report("summary", result.trace)["health"]["details_lost"], beyond, "ranges without room")
    text = f"{beyond:,} stacks, libraries, scopes or labels were not recorded"
    contains(result.err, text, "the note of the run")
    contains(plain(harness.MEMLEDGER, "summary", result.trace).stdout, text, "the summary")


def test_many_domains():
    out, trace = record("many_domains")
    equal(out, "", "complaints")
    equal(places(trace)["kept"], "domain 100/kept", "scope")
    equal(places(trace)["beyond"], "domain 100/kept > beyond", "scope beyond the last domain")


def test_threads():
    out, trace = record("threads")
    equal(out, "", "complaints")
    wanted = {f"thread {i}": f"thread {i} > shared/inner" for i in range(8)}
    equal(places(trace), wanted, "scopes")
    # Push a, push b, pop both, push b again, pop b; and the one left open.
    equal(trace["kinds"]["push"], 8 * (3 * 1000 + 1), "pushes")
    equal(trace["kinds"]["pop"], 8 * 3 * 1000, "pops")


def test_start_and_end():
    out, trace = record("spans")
    equal(lines(out), [("unique", 1), ("popped", 0)], "returned")
    spans = [(e["kind"], e["name"], e["domain"]) for e in trace["events"]
             if e["kind"] in ("start", "stop", "marker")]
    equal(spans, [("start", "one", "NVTX"), ("start", "one", "NVTX"), ("start", "read", "io"),
                  ("stop", "one", "NVTX"), ("start", "one", "NVTX"), ("stop", "read", "io"),
                  ("stop", "one", "NVTX"), ("stop", "one", "NVTX"), ("marker", "here", "NVTX"),
                  ("marker", "thére", "NVTX"), ("marker", "in io", "io")], "spans and marks")
    threads = {e["kind"]: e["thread"] for e in trace["events"] if e.get("name") == "read"}
    check(threads["start"] != threads["stop"], "both ends of a range on one thread", threads)
    equal(places(trace)["in the scope"], "scope", "a started range is no scope")


def test_fork():
    """The child goes on where its parent was, for NVTX; in the trace its scopes
    begin anew."""
    trace = check_places("forks", [
        ("parent", 0, "outer"),
        ("child", 1, "inner"),
        ("child in domain", 0, "inner > lib/work"),
        ("child popped", 1, "lib/work"),
        ("child popped inherited", 0, "lib/work"),
        ("child has no more", -1, "lib/work"),
        ("child left domain", 0, ""),
        ("parent after", 0, "")])
    equal([p["how"] for p in trace["processes"]], ["started", "forked"], "processes")


def test_signal_handlers():
    out, trace = record("handlers")
    wanted = [("enough", 1), ("wrong", 0), ("unbalanced", 0), ("after", -1)]
    equal(lines(out), wanted, "returned")
    equal(trace["kinds"]["push"], trace["kinds"]["pop"], "pushes and pops")
    equal(places(trace)["after"], "", "scope at the end")
    for event in trace["events"]:
        if event["kind"] == "push":
            check(len(event["scope"].split(" > ")) <= 4, "a range was left open", event)


def test_a_million_times():
    result = run(calls(), "fast", env=listening())
    equal(result.code, 0, "exit code", result)
    print("ns for a push and a pop:", ", ".join(result.out.splitlines()))
    trace = result.dump()
    equal((trace["kinds"]["push"], trace["kinds"]["pop"]), (3000000, 3000000), "pushes and pops")
    equal(trace["lost"], 0, "lost")


def test_python():
    library = package_path("nvidia/nvtx/lib/libnvtx3interop.so.1")
    result = run(os.path.join(environment(), "bin", "python3"),
                 os.path.join(HERE, "nvtx_annotated.py"), library, env=listening())
    equal(result.code, 0, "exit code", result)
    equal(result.out.split(), ["0", "2", "2", "0", "-1"], "levels in another instance")
    events = result.dump(events=True)["events"]
    layer = "epoch > model/layer [forward]"
    equal([e["scope"] for e in events if e["kind"] == "push"],
          ["epoch", layer, f"{layer} > matmul", layer, f"{layer} > matmul", "in a library",
           "in a library > above it", "in a library > above it > deeper"], "scopes")
    equal([(e["kind"], e["name"], e["domain"]) for e in events if e["kind"] in
           ("marker", "start", "stop")],
          [("marker", "middle", "NVTX")] * 2 + [("start", "load", "data"),
                                                ("stop", "load", "data")], "marks and spans")


def test_reports():
    """Ranges name memory in the reports as any scope does."""
    result = run(calls(), "nest", env=listening(), options=["-f"])
    scopes = {row["scope"] for row in report("stats", result.trace)["scopes_by_allocations"]}
    check({"first", "first > second > third"} <= scopes, "scopes of stats", scopes)


harness.main(globals())
