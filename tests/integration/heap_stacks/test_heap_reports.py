#!/usr/bin/env python3
# test_heap_reports.py: reports by stack, function, file and library on a C++ program whose figures are
# known: the five figures, trees of calls, flame graphs, leaks with suppressions, compare.
#
# SPDX-License-Identifier: Apache-2.0
import functools
import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import harness
from harness import MEMLEDGER, check, contains, equal, plain, report

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "known_costs.cc")
OPTIONS = ["-q", "-f", "--heap", "--stacks=native", "--sample-hz=0"]
TIMES = 7
KEEPS_INT = "void keeps_some<int>(int)"
KEEPS_SIZE = "void keeps_some<unsigned long>(unsigned long)"


@functools.cache
def recorded(times=TIMES):
    folder = tempfile.TemporaryDirectory()
    program = os.path.join(folder.name, "known_costs")
    subprocess.run(["c++", "-O2", "-g", "-fno-builtin", "-o", program, SOURCE], check=True)
    done = harness.run(program, times, trace=os.path.join(folder.name, "t.mled"), options=OPTIONS)
    equal((done.code, done.err), (0, ""), "the run", done)
    return folder, done.trace


def trace(name="t.mled", times=TIMES):
    shutil.copy(recorded(times)[1], name)
    return name


def by_name(groups, key="function"):
    return {group[key]: group for group in groups}


def kept_of():
    """The program frees the first half of what it keeps, in the order of the allocations."""
    order = [(name, size) for _ in range(TIMES)
             for name, size in ((KEEPS_INT, 1000), (KEEPS_SIZE, 10000),
                                ("uses_new(unsigned long)", 20000))]
    order.append(("main", 100000))
    left = order[len(order) // 2:]
    return {name: sum(size for n, size in left if n == name) for name, _ in order}


def test_lines_of_the_program():
    """Not those of the standard library that its containers allocate in; each line once."""
    source = os.path.abspath("fills.cc")
    with open(source, "w", encoding="utf-8") as out:
        out.write("#include <map>\n#include <vector>\n"
                  "static std::map<int, std::vector<long>> kept;\n"
                  "int main()\n{\n    for (int i = 0; i < 100; i++)\n"
                  "        kept[i].resize(1000);\n}\n")
    subprocess.run(["c++", "-O1", "-g", "-o", "fills", source], check=True)
    done = harness.run(os.path.abspath("fills"), options=OPTIONS)
    lines = by_name(report("table", done.trace, "--by", "line")["groups"], "line")
    own = [name for name in lines if name and "fills.cc:" in name]
    equal(len(own), 1, "rows of the one line that allocates", lines)
    contains(own[0], "fills.cc:7 main", "the line")
    equal(lines[own[0]]["blocks"], 200, "nodes and vectors", lines)
    subprocess.run(["strip", "fills"], check=True)
    done = harness.run(os.path.abspath("fills"), options=OPTIONS)
    contains(plain(MEMLEDGER, "table", "--by", "line", done.trace).stdout, "with -g", "the hint")


def test_five_figures():
    groups = by_name(report("table", trace(), "--of", "calls", "--by", "function")["groups"])
    left = kept_of()
    wanted = {
        "frees_at_once(unsigned long)": (0, 0, 3000 * TIMES, 3000 * TIMES, TIMES),
        KEEPS_INT: (1000 * TIMES, left[KEEPS_INT], 1000 * TIMES, 0, TIMES),
        "frees_later(unsigned long)": (5000, 5000, 5000 * TIMES, 0, TIMES),
        KEEPS_SIZE: (10000 * TIMES, left[KEEPS_SIZE], 10000 * TIMES, 0, TIMES),
        "uses_new(unsigned long)": (20000 * TIMES, left["uses_new(unsigned long)"], 20000 * TIMES,
                                    0, TIMES),
        "main": (100000, 100000, 100000, 0, 1),
    }
    keys = ("peak_bytes", "leaked_bytes", "allocated_bytes", "temporary_bytes", "calls")
    for name, figures in wanted.items():
        equal(tuple(groups[name][key] for key in keys), figures, f"figures of {name}", groups[name])


def test_figures_of_one_process():
    done = harness.run("sh", "-c", "/bin/echo a; /bin/echo b", trace="two.mled", options=OPTIONS)
    equal(done.code, 0, "the run", done)
    pids = {process["pid"] for process in report("summary", "two.mled")["processes"]}
    for verb, by in (("table", "function"), ("tree", "callees")):
        whole = report(verb, "two.mled", "--by", by, "--of", "allocated")["total"]
        parts = [report(verb, "two.mled", "--by", by, "--of", "allocated", "--process", str(pid))["total"]
                 for pid in pids]
        check(len(parts) > 1 and all(part["calls"] < whole["calls"] for part in parts), verb, parts)
        for key in ("allocated_bytes", "leaked_bytes", "calls"):
            equal(sum(part[key] for part in parts), whole[key], f"{key} of all processes", parts)
    done = plain(MEMLEDGER, "table", "--of", "calls", "--process", "1", "two.mled")
    check(done.returncode != 0 and "no process 1" in done.stderr, "another process", done)


def test_figures_are_those_of_other_reports():
    total = report("table", trace(), "--of", "peak", "--by", "stack")["total"]
    summary = report("summary", "t.mled")
    temporary = report("table", "t.mled", "--temporary")
    equal(total["peak_bytes"], report("table", "t.mled")["bytes"], "peak")
    equal(total["leaked_bytes"], summary["never_freed_bytes"], "never freed")
    equal(total["allocated_bytes"], temporary["all_bytes"], "allocated")
    equal(total["calls"], temporary["all_allocations"], "calls")
    equal(total["temporary_bytes"], temporary["temporary"]["bytes"], "temporary")


def test_keys():
    live = by_name(report("table", trace(), "--by", "function")["groups"])
    equal(live["main"]["bytes"], 100000, "main")
    files = by_name(report("table", "t.mled", "--by", "file")["groups"], "file")
    check(any(name and name.endswith("known_costs.cc") for name in files), "files", files)
    libraries = by_name(report("table", "t.mled", "--by", "library")["groups"], "library")
    check(any(name and name.endswith("/known_costs") for name in libraries), "libraries", libraries)
    early = report("table", "t.mled", "--by", "function", "--at", "0s")
    check(early["bytes"] < 100000, "another instant", early)


def rows_of(tree):
    """function -> row, for functions that have one."""
    found = {}
    for row in tree["rows"]:
        found.setdefault(row["function"], row)
    return found


def test_tree():
    down = report("tree", trace(), "--by", "callees", "--min", "0")
    rows = rows_of(down)
    both = rows["asks_both(unsigned long)"]
    equal((both["figure"], both["own"]), (30000 * TIMES, 0), "asks_both", both)
    equal(rows["main"]["own"], 100000, "main's own")
    equal(rows[KEEPS_SIZE]["depth"], both["depth"] + 1, "below its caller")
    up = report("tree", "t.mled", "--by", "callers", "--of", "calls", "--min", "0")
    rows = [(row["depth"], row["function"], row["figure"]) for row in up["rows"]]
    at = rows.index((1, "uses_new(unsigned long)", TIMES))
    equal(rows[at + 1:at + 3], [(2, "asks_both(unsigned long)", TIMES), (3, "main", TIMES)],
          "callers of uses_new")
    for tree in (down, up):
        equal(sum(row["figure"] for row in tree["rows"] if row["depth"] == 1),
              tree["total"]["peak_bytes" if tree is down else "calls"], "the sum of the roots")


def test_flame_graph():
    """Names with < and & are escaped, and whole in tooltips."""
    done = plain(MEMLEDGER, "plot", "-k", "flame", "--of", "allocated", "-o", "f.svg", trace())
    equal(done.returncode, 0, "plot", done.stderr)
    titles = [e.text for e in xml.etree.ElementTree.parse("f.svg").iter() if e.tag.endswith("title")]
    found = [t for t in titles if t.startswith(KEEPS_SIZE)]
    check(len(found) == 1, "tooltips", titles)
    contains(found[0], "known_costs.cc", "the tooltip")
    with open("f.svg") as file:
        text = file.read()
    check("http" not in text.replace("http://www.w3.org", ""), "the picture needs other files")


def test_never_freed():
    left = {name: size for name, size in kept_of().items() if size}
    found = report("leaks", trace(), "--never-freed", "--top", "100")
    sums = {}
    for group in found["groups"]:
        names = [f["function"] for f in group["stack"] or []]
        name = next((n for n in names if n in left or n == "frees_later(unsigned long)"), None)
        sums[name] = sums.get(name, 0) + group["bytes"]
    for name, size in left.items():
        equal(sums[name], size, f"never freed of {name}", found)
    equal(sum(group["bytes"] for group in found["groups"]), found["never_freed"]["bytes"], "the sum")


def test_suppressions():
    total = report("leaks", trace(), "--never-freed")["never_freed"]["bytes"]
    for pattern, suppressed in (("leak:asks_both", sum(kept_of()[n] for n in
                                                       (KEEPS_SIZE, "uses_new(unsigned long)"))),
                                ("leak:^void keeps_some<*>(int)$", kept_of()[KEEPS_INT]),
                                ("leak:known_costs.cc", None), ("leak:nothing", 0)):
        with open("known", "w") as file:
            file.write(f"# comment\n\n  {pattern}  \n")
        found = report("leaks", "t.mled", "--never-freed", "--suppressions", "known")
        equal(found["never_freed"]["bytes"] + found["suppressed"]["bytes"], total, "the sum", found)
        if suppressed is not None:
            equal(found["suppressed"]["bytes"], suppressed, pattern, found)
    with open("known", "w") as file:
        file.write("leak:*\n")
    done = plain(MEMLEDGER, "leaks", "--never-freed", "--fail", "--suppressions", "known", "t.mled")
    equal(done.returncode, 0, "all is suppressed", done.stdout)
    equal(plain(MEMLEDGER, "leaks", "--never-freed", "--fail", "t.mled").returncode, 1, "leaks")
    with open("known", "w") as file:
        file.write("leak:x\nrace:y\n")
    done = plain(MEMLEDGER, "leaks", "--never-freed", "--suppressions", "known", "t.mled")
    equal(done.returncode, 1, "a wrong file")
    contains(done.stderr, "known:2: 'race:y'", "the error")


def test_compare():
    both = plain(MEMLEDGER, "compare", "--by", "function", "--json", trace("a.mled"),
                 trace("b.mled", TIMES + 1))
    equal(both.returncode, 0, "compare", both.stderr)
    contains(both.stdout, "uses_new(unsigned long)", "the comparison")
    text = plain(MEMLEDGER, "compare", "--by", "stack", "a.mled", "b.mled").stdout
    contains(text, "keeps_some<int>", "the comparison by stack")


harness.main(globals())
