#!/usr/bin/env python3
# test_import_memray.py: memray's files as traces, with the figures that memray itself prints.
# tests/data/memray has files of older versions; the newest version records here.
#
# SPDX-License-Identifier: Apache-2.0
import glob
import json
import os
import subprocess

import harness
import pypi
from harness import MEMLEDGER, check, contains, equal, plain, report

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
DATA = os.path.join(HERE, "..", "data", "memray")


def memray_folder():
    folder = os.path.join(os.environ["PYPI_FOLDER"], "memray")
    return pypi.environment(os.path.join(ROOT, "scripts", "requirements-memray.txt"), folder)


def record(name, *options, program="memray_program.py"):
    command = [os.path.join(memray_folder(), "bin", "memray"), "run", "-q", "-f", *options, "-o", name,
               os.path.join(HERE, program)]
    subprocess.run(command, check=True, timeout=harness.PATIENCE_S, stdout=subprocess.DEVNULL)
    return name


def truth_of(name):
    python = os.path.join(memray_folder(), "bin", "python")
    done = subprocess.run([python, os.path.join(HERE, "memray_truth.py"), name], check=True,
                          capture_output=True, timeout=harness.PATIENCE_S)
    return json.loads(done.stdout)


def imported(name, output="t.mled"):
    done = plain(MEMLEDGER, "import", "-q", "-f", "-o", output, name)
    equal(done.returncode, 0, f"import of {name}", done.stderr)
    return output


def stacks_at_peak(trace):
    """Bytes by stack, innermost frame first."""
    exported = json.loads(plain(MEMLEDGER, "export", "--format", "speedscope", "-o", "-", trace).stdout)
    frames = exported["shared"]["frames"]
    sums = {}
    for graph in exported["profiles"]:
        if graph["name"] != "stacks":
            continue
        for sample, weight in zip(graph["samples"], graph["weights"]):
            stack = tuple((frames[i]["name"], frames[i].get("file", ""), frames[i].get("line", 0))
                          for i in reversed(sample))
            sums[stack] = sums.get(stack, 0) + weight
    return sums


def by_stack(rows):
    return {tuple(tuple(frame) for frame in stack): size for stack, size in rows}


def innermost(stacks):
    """Bytes by the innermost frame."""
    sums = {}
    for stack, size in stacks.items():
        place = stack[0] if stack else None
        sums[place] = sums.get(place, 0) + size
    return sums


def by_function(rows):
    sums = {}
    for stack, size in by_stack(rows).items():
        name = stack[0][0] if stack else None
        sums[name] = sums.get(name, 0) + size
    return sums


def reported(trace, of):
    found = report("table", trace, "--of", of, "--by", "function", "--top", "100000")
    return {group["function"]: group[of + "_bytes"] for group in found["groups"] if group[of + "_bytes"]}


def without_stack(sums):
    return {stack for stack in sums if stack and not stack[0][0].startswith("(")}


def same_totals(trace, truth):
    summary = report("summary", trace)
    equal(summary["peak_bytes"], truth["peak_bytes"], "bytes at the peak")
    equal(summary["never_freed_bytes"], sum(size for _, size in truth["left"]), "bytes never freed")
    for key in ("allocations", "allocated_bytes"):
        if key in truth:
            equal(summary[key], truth[key], key)
    equal(summary["health"]["unknown_frees"], 0, "frees of unknown blocks")
    equal(summary["health"]["imported_from"], "memray", "the source")


def same_stacks(trace, truth):
    """Every Python stack, with file and line, to the byte."""
    found, wanted = stacks_at_peak(trace), by_stack(truth["peak"])
    for stack in without_stack(wanted):
        equal(found.get(stack), wanted[stack], f"bytes of {stack}")
    equal(sum(found.values()), sum(wanted.values()), "all bytes")


def test_equal_to_memray():
    truth = truth_of(record("plain.bin"))
    trace = imported("plain.bin")
    same_totals(trace, truth)
    same_stacks(trace, truth)
    equal(reported(trace, "leaked"), by_function(truth["left"]), "never freed, by function")
    found, wanted = reported(trace, "temporary"), by_function(truth["temporary"])
    # Blocks that another thread frees are temporary here, but not for memray: locks of threading.
    own = {"keep", "temporary", "mapped", "through_c", "work", "iterencode"}
    equal({name: size for name, size in found.items() if name in own},
          {name: size for name, size in wanted.items() if name in own}, "temporary, by function")
    summary = report("summary", trace)
    contains(summary["command"], "memray_program.py", "the command")
    names = {thread["name"] for thread in report("stats", trace)["threads"]}
    check("worker" in names, "the thread's name", names)


# ---- memray's questions -----------------------------------------------------------------

def memray_stats(name):
    command = [os.path.join(memray_folder(), "bin", "memray"), "stats", "--json", "-f", "-n", "100000", "-o",
               "stats.json", name]
    subprocess.run(command, check=True, timeout=harness.PATIENCE_S, stdout=subprocess.DEVNULL)
    with open("stats.json") as file:
        return json.load(file)


def sums_by_function(rows, key):
    sums = {}
    for row in rows:
        function = row["location"].partition(":")[0]
        sums[function] = sums.get(function, 0) + row[key]
    return sums


def same_amounts(name):
    """`memray stats`: the locations that allocate most, by bytes and by number."""
    stats = memray_stats(name)
    trace = imported(name)
    for of, rows, key in (("allocated", "top_allocations_by_size", "size"),
                          ("calls", "top_allocations_by_count", "count")):
        found = report("table", trace, "--of", of, "--by", "function", "--top", "100000")
        column = "calls" if of == "calls" else "allocated_bytes"
        got = {group["function"]: group[column] for group in found["groups"]}
        wanted = sums_by_function(stats[rows], key)
        for function, amount in wanted.items():
            name = None if function == "<stack trace unavailable>" else function
            equal(got.get(name), amount, f"{of} of {function}")
        order = [group[column] for group in found["groups"]]
        equal(order, sorted(order, reverse=True), f"order by {of}")


def test_most_allocations():
    same_amounts(record("stats.bin"))


def test_sizes():
    """The histograms have other limits; below a power of two their counts are the same."""
    stats = memray_stats(record("stats.bin"))
    sizes = report("stats", imported("stats.bin"))["sizes"]
    equal(sum(row["allocations"] for row in sizes), stats["total_num_allocations"], "allocations")
    equal(sum(row["allocated_bytes"] for row in sizes), stats["total_bytes_allocated"], "bytes")
    equal(sum(row["count"] for row in stats["allocation_size_histogram"]), stats["total_num_allocations"],
          "memray's own sum")


def test_any_instant():
    """`table --by stack --at`: the sums at an instant are what is live then."""
    record("plain.bin")
    trace = imported("plain.bin")
    end = report("summary", trace)["duration_ns"]
    for part in range(1, 6):
        at = f"{end * part // 6}ns"
        table = report("table", trace, "--by", "stack", "--at", at, "--top", "100000")
        equal(sum(group["bytes"] for group in table["groups"]), table["bytes"], f"sum at {at}")
        equal(report("summary", trace, "--at", at)["bytes"], table["bytes"], f"live at {at}")


def test_what_changed():
    """`compare --by function` and `--by stack` of two recordings are differences of their tables."""
    record("plain.bin")
    imported("plain.bin", "before.mled")
    with open("more.py", "w") as file:
        file.write("def more(size):\n    kept.append(bytearray(size))\nkept = []\nmore(20_000_000)\n")
    record("more.bin", program=os.path.abspath("more.py"))
    imported("more.bin", "after.mled")
    for key in ("function", "stack"):
        done = plain(MEMLEDGER, "compare", "--json", "--by", key, "--top", "100000", "before.mled", "after.mled")
        equal(done.returncode, 0, "compare", done.stderr)
        rows = {row[key]: [run["bytes"] for run in row["runs"]]
                for row in json.loads(done.stdout)["view"]["entries"]}
        changed = [both for name, both in rows.items() if name.startswith("more")]
        equal(changed, [[0, 20_000_001]], f"bytes of more, by {key}")
        for number, name in enumerate(("before.mled", "after.mled")):
            equal(sum(both[number] for both in rows.values()), report("summary", name)["peak_bytes"],
                  f"sum of {name} by {key}")


def test_python_allocators():
    """The small blocks of Python's own allocator, too, by function."""
    truth = truth_of(record("python.bin", "--trace-python-allocators"))
    trace = imported("python.bin")
    same_totals(trace, truth)
    live = report("table", trace, "--by", "function", "--top", "100000")
    equal({group["function"]: group["bytes"] for group in live["groups"]}, by_function(truth["peak"]),
          "at the peak, by function")
    equal(reported(trace, "leaked"), by_function(truth["left"]), "never freed, by function")
    same_amounts("python.bin")


def spelled(stack):
    """Functions without the types of their parameters, which two demanglers may spell in two ways;
    what only one of the two finds in a stripped interpreter does not count."""
    names = ["?" if frame[0] == "<unknown>" or "+0x" in frame[0] else frame[0].partition("(")[0]
             for frame in stack]
    # memray leaves its own frames in a stack that it cannot put together.
    return tuple(names[:names.index("_run_tracker") + 1] if "_run_tracker" in names else names)


def test_native():
    """Native and Python frames in one stack, in memray's order."""
    truth = truth_of(record("native.bin", "--native"))
    trace = imported("native.bin")
    same_totals(trace, truth)
    wanted, found = {}, {}
    for sums, stacks in ((wanted, by_stack(truth["peak"])), (found, stacks_at_peak(trace))):
        for stack, size in stacks.items():
            sums[spelled(stack)] = sums.get(spelled(stack), 0) + size
    same = sum(1 for stack in wanted if found.get(stack) == wanted[stack])
    print(f"{same} of {len(wanted)} stacks with native frames are equal")
    check(same >= 0.9 * len(wanted), "stacks that are equal",
          [(stack, size, found.get(stack)) for stack, size in wanted.items() if found.get(stack) != size][:3])


def test_aggregated():
    for options in (["--aggregate"], ["--aggregate", "--native"]):
        truth = truth_of(record("sums.bin", *options))
        trace = imported("sums.bin")
        same_totals(trace, truth)
        if len(options) == 1:
            same_stacks(trace, truth)
        check("times" in report("summary", trace)["health"]["unknown"], "times are unknown")


def test_forked():
    """One file for each process."""
    with open("forks.py", "w") as file:
        file.write("import os\nkept = bytearray(3_000_000)\nif os.fork() == 0:\n    more = bytearray(5_000_000)\n"
                   "else:\n    os.wait()\n")
    record("forked.bin", "--follow-fork", program=os.path.abspath("forks.py"))
    names = sorted(glob.glob("forked.bin*"))
    equal(len(names), 2, "files", names)
    for name in names:
        same_totals(imported(name), truth_of(name))


def test_uncompressed_and_killed():
    truth = truth_of(record("raw.bin", "--no-compress"))
    same_totals(imported("raw.bin"), truth)
    with open("raw.bin", "rb") as file:
        whole = file.read().rstrip(b"\0")
    with open("cut.bin", "wb") as file:
        file.write(whole[:len(whole) // 2] + bytes(5000))
    found = report("summary", imported("cut.bin"))["allocations"]
    check(0 < found < truth["allocations"], "a file of a killed program", found)


def test_bad_files():
    record("whole.bin")
    with open("whole.bin", "rb") as file:
        whole = file.read()
    for what, data, words in (("truncated", whole[:-900], "LZ4 data is truncated"),
                              ("damaged", whole[:3000] + b"\xff" * 900 + whole[3900:], "LZ4 data is damaged"),
                              ("newer", b"memray\0\x63\0\0\0" + bytes(80), "newer than 13"),
                              ("older", b"memray\0\x06\0\0\0" + bytes(80), "memray 1.4 and later"),
                              ("short", b"memray\0\x0d\0\0\0" + bytes(8), "header of memray's file is cut off")):
        with open("bad.bin", "wb") as file:
            file.write(data)
        done = plain(MEMLEDGER, "import", "-f", "-o", "t.mled", "bad.bin")
        equal(done.returncode, 1, what, done.stdout)
        contains(done.stderr, words, what)


def test_older_versions():
    """Files of memray 1.6 to 1.20, with what each version said about them."""
    names = sorted(glob.glob(os.path.join(DATA, "*.bin")))
    check(len(names) >= 5, "stored files", names)
    for name in names:
        with open(name[:-len("bin")] + "truth.json") as file:
            truth = json.load(file)
        trace = imported(name)
        same_totals(trace, truth)
        if not truth["native"]:
            same_stacks(trace, truth)


harness.main(globals())
