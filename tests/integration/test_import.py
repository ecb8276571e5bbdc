#!/usr/bin/env python3
# test_import.py: files of other programs, as `memledger import` reads them, give their known
# figures (tests/data/README.md), mark what they lack, and leave nothing behind when they are
# bad.
#
# SPDX-License-Identifier: Apache-2.0
import gzip
import json
import math
import os
import pathlib
import re
import signal
import subprocess
import sys

import harness
from harness import MEMLEDGER, check, contains, equal, plain, report

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
MIB = 1 << 20


def memledger(*arguments, code=0, text=None):
    done = subprocess.run([harness.MEMLEDGER, *map(str, arguments)], input=text, text=True,
                          capture_output=True, timeout=harness.PATIENCE_S)
    equal(done.returncode, code, f"exit code of memledger {arguments}", done.stdout, done.stderr)
    return done


def import_file(path, *options, trace="t.mled"):
    memledger("import", "-f", "-o", trace, *options, path)
    return trace


def import_text(text, *options, name="input.txt"):
    pathlib.Path(name).write_text(text)
    return import_file(name, *options)


def events(trace, kind=None):
    every = report("events", trace)["events"]
    return [e for e in every if kind in (None, e["kind"])]


def refuse(text, expected, *options, name="input.txt"):
    pathlib.Path(name).write_text(text)
    before = set(os.listdir("."))
    done = memledger("import", "-o", "refused.mled", *options, name, code=1)
    contains(done.stderr, expected, "the error")
    equal(set(os.listdir(".")), before, "files")


# ---- nvidia-smi ---------------------------------------------------------------

PEAKS = {"direct": 622, "im2col": 622, "fft": 6247, "winograd": 4406, "cudnn": 622}


def test_smi_peaks():
    for name, peak in PEAKS.items():
        trace = import_file(DATA / "smi" / f"memory_{name}.txt")
        used = [e["used_bytes"] for e in events(trace, "sample")]
        equal(max(used) - used[0], peak * MIB, f"peak of {name}")
        devices = report("summary", trace)["samples"]["devices"]
        equal([d["peak_used_bytes"] for d in devices], [peak * MIB], f"summary of {name}")
    done = plain(harness.MEMLEDGER, "ledger", trace)
    contains(done.stderr, "this trace has only samples", "the ledger of a log")


def test_smi_says_nothing_of_leaks():
    import_file(DATA / "smi" / "memory_fft.txt")
    done = memledger("leaks", "--fail", "t.mled", code=1)
    contains(done.stdout, "No allocation was recorded", "the report")
    contains(done.stderr, "no allocation was recorded", "the error")
    check("Nothing grows" not in done.stdout and "nor times" not in done.stdout, "a verdict",
          done.stdout)


def test_reports_on_smi_alone():
    """Samples without times or allocations: no report shows zeros for them."""
    done = memledger("import", "-f", "-o", "t.mled", DATA / "smi" / "memory_fft.txt")
    rows = len((DATA / "smi" / "memory_fft.txt").read_text().splitlines()) - 1
    contains(done.stderr, f"{rows:,} samples in t.mled", "the note")
    for verb in ("tree", "table", "groups", "layers"):
        done = memledger(verb, "t.mled", code=1)
        contains(done.stderr, "this trace has only samples, and no allocations", f"error of {verb}")
    memledger("groups", "--gross", "t.mled", code=1)
    text = memledger("stats", "t.mled").stdout
    contains(text, "allocations             ?  not in this source", "stats")
    check("By thread" not in text, "a table of no thread", text)
    equal(report("stats", "t.mled")["events_per_second"], None, "events per second")
    lines = memledger("events", "t.mled").stdout.splitlines()[1:]
    equal({line.split()[0] for line in lines}, {"?"}, "times")


def test_report_on_a_file_that_can_be_imported():
    """The error names the command that makes a trace of it."""
    log = DATA / "smi" / "memory_fft.txt"
    for verb in ("summary", "plot", "table"):
        done = memledger(verb, log, code=1)
        contains(done.stderr, f"looks like nvidia-smi; memledger import {log}", f"error of {verb}")
    pathlib.Path("letter.txt").write_text("Dear reader\n")
    done = memledger("summary", "letter.txt", code=1)
    contains(done.stderr, "is not a memledger trace; give a file that memledger run wrote", "error")


def test_factor_of_a_tiny_value():
    """65,536 times 8 bytes is no news: the factor ends at a thousand."""
    for name, size in (("tiny", 8), ("large", 524288), ("fifty", 400)):
        pathlib.Path("sizes.csv").write_text(f"in_arg:a,{size}\n")
        import_file("sizes.csv", "--format", "mxnet-csv", trace=f"{name}.mled")
    text = memledger("compare", "tiny.mled", "large.mled").stdout
    contains(text, ">×1000", "the comparison")
    check("65536" not in text, "the factor", text)
    contains(memledger("compare", "tiny.mled", "fifty.mled").stdout, " ×50", "a smaller factor")


def test_smi_runs_side_by_side():
    traces = []
    for name in PEAKS:
        traces.append(import_file(DATA / "smi" / f"memory_{name}.txt", trace=f"memory_{name}.mled"))
    compared = memledger("compare", *traces)
    contains(compared.stdout, "winograd", "the comparison")
    contains(compared.stdout, "imported from nvidia-smi; unknown: times", "the comparison")
    check("RSS" not in compared.stdout.split("\n\n")[-1], "a process that nobody sampled",
          compared.stdout)
    memledger("plot", "-o", "runs.svg", *traces)
    picture = pathlib.Path("runs.svg").read_text()
    for name in PEAKS:
        contains(picture, name, "the picture")


def analyze(path):
    """Y - Y[0], as the script of HP3 reads a log."""
    used = [int(line.split(" ")[0]) for line in path.read_text().splitlines()[1:]]
    return [y - used[0] for y in used]


def smi_texts(*arguments):
    memledger("plot", "-f", "-o", "p.svg", "--unit", "MiB", *arguments)
    return re.findall(r"<text[^>]*>([^<]*)</text>", pathlib.Path("p.svg").read_text())


def test_smi_baseline_is_the_originals():
    """Also of logs that begin with memory in use, which the script subtracts."""
    for shift in (0, 67):
        traces = []
        for name, peak in PEAKS.items():
            path = DATA / "smi" / f"memory_{name}.txt"
            equal(max(analyze(path)), peak, f"the script's peak of {name}")
            rows = [f"{y + shift} MiB\n" for y in analyze(path)]
            pathlib.Path(f"memory_{name}.txt").write_text("memory.used [MiB]\n" + "".join(rows))
            traces.append(import_file(f"memory_{name}.txt", trace=f"memory_{name}.mled"))
        texts = smi_texts("--baseline", "first", *traces)
        for name, peak in PEAKS.items():
            equal(texts[texts.index(name) + 1], f"peak {peak}.0 MiB", f"{name} from {shift} MiB on")
        contains("\n".join(texts), "memory in use minus the first value (MiB)", "the axis")


def test_smi_baselines():
    trace = import_text("memory.used [MiB]\n400 MiB\n10 MiB\n900 MiB\n90 MiB\n")
    for baseline, words, peak in (("first", "the first value", "500.0 MiB"),
                                  ("min", "the lowest value", "890.0 MiB"),
                                  ("MIN", "the lowest value", "890.0 MiB"),
                                  ("230MiB", "230.0 MiB", "670.0 MiB"),
                                  ("2GiB", "2.00 GiB", "-1148.0 MiB")):
        texts = smi_texts("--baseline", baseline, trace)
        contains("\n".join(texts), f"minus {words} (MiB)", "the axis")
        check(f"peak {peak}" in texts, f"the peak with {baseline}", texts)
        lowest = min(float(t) for t in texts if re.fullmatch(r"-?\d+", t))
        check((lowest < 0) == (baseline not in ("min", "MIN")), f"marks with {baseline}", texts)


def test_smi_any_columns():
    trace = import_text(
        "timestamp, memory.free [MiB], index, name, memory.used [MiB], memory.total [MiB]\n"
        "2026/11/15 23:59:59.500, 90 MiB, 0, NVIDIA H200, 10 MiB, 100 MiB\n"
        "2026/11/15 23:59:59.500, [N/A], 1, NVIDIA H200, 20 MiB, 100 MiB\n"
        "2026/11/16 00:00:00.750, 70 MiB, 0, NVIDIA H200, 30 MiB, 100 MiB\n"
        "2026/11/16 00:00:00.751, 60 MiB, 1, NVIDIA H200, 40 MiB, 1")
    samples = events(trace, "sample")
    equal([(e["sampled_device"], e["time_ns"], e["used_bytes"] // MIB) for e in samples],
          [("cuda:0", 0, 10), ("cuda:1", 0, 20), ("cuda:0", 1250000000, 30)],
          "samples; the last line is cut off")
    check("free_bytes" not in samples[1], "a value that nvidia-smi did not know", samples[1])
    equal(report("summary", trace)["health"]["unknown"], [], "what is not known")


def test_smi_without_names():
    trace = import_text("5\n6\n7\n", "--format", "nvidia-smi", "--interval", "10ms")
    equal([(e["time_ns"], e["used_bytes"] // MIB) for e in events(trace, "sample")],
          [(0, 5), (10000000, 6), (20000000, 7)], "samples")
    trace = import_text("0, 5, 9\n1, 6, 9\n0, 7, 9\n", "--format", "nvidia-smi",
                        "--columns", "index,memory.used,memory.total")
    equal([(e["sampled_device"], e["time_ns"], e["used_bytes"] // MIB) for e in events(trace, "sample")],
          [("cuda:0", 0, 5), ("cuda:1", 0, 6), ("cuda:0", 1, 7)], "samples")
    refuse("0, 5\n", "line 1: more fields than the 1 columns; name them with --columns",
           "--format", "nvidia-smi")
    refuse("memory.used [MiB]\n5 MiB\nfive MiB\n6 MiB\n", "line 3: 'five MiB' is not a size in MiB")


POOL_HEADER = '"Attribute Name","Requested Size","Device","Actual Size","Reuse?"\n'


def test_nothing_in_a_file():
    refuse("", "input.txt: is empty; there is nothing to import")
    told = {"nvidia-smi": "has no samples of memory", "tbd-log": "has no line '[mem] Allocate ...'",
            "tbd-analysis": "the '{' at the beginning is missing", "mxnet-csv": "has no complete row like",
            "mxnet-pool-csv": 'has neither the header "Attribute Name",... nor a row',
            "chrome": "neither '{' nor '[' at the beginning", "torch-snapshot": "cut short",
            "pprof": "a profile without a value in bytes"}
    for name, words in told.items():
        refuse("", words, "--format", name)
    refuse("\n \n", "has no complete row like", "--format", "mxnet-csv")
    refuse("in_arg:a,1", "has no complete row like", "--format", "mxnet-csv")
    refuse("{}", "has no tags with sizes", "--format", "tbd-analysis")
    refuse("Epoch 1\n", "has no line '[mxnet:profiler:gpu_memory_profiler:W] Allocating ...'", "--format", "mxnet-log")
    refuse('{"traceEvents": []}', "has no events of a Chrome trace")


def test_nothing_was_allocated():
    """The file is whole and says so: a trace, and a word."""
    for name, text in (("mxnet-pool-csv", POOL_HEADER), ("mxnet-log", "")):
        pathlib.Path("input.txt").write_text(text)
        done = memledger("import", "-q", "-f", "-o", "t.mled", "--format", name, "input.txt")
        equal(done.stderr, "memledger: warning: input.txt contains no allocations; its trace is "
              "empty\n", f"the warning of {name}")
        equal(events("t.mled"), [], "events")


# ---- TBD ------------------------------------------------------------------------

def test_tbd_log():
    trace = import_file(DATA / "tbd" / "conv_resnet_log")
    lines = (DATA / "tbd" / "conv_resnet_log").read_text().splitlines()
    told = [re.match(r"\[mem\] Allocate (\d+) bytes GPU memory \((.*)\)\.$", l) for l in lines]
    wanted = [(int(m[1]), m[2]) for m in told if m]
    sizes = [e["bytes"] for e in events(trace, "alloc")]
    labels = [e["label"] for e in events(trace, "label")]
    equal(list(zip(sizes, labels)), wanted, "allocations and tags")
    free = [e for e in events(trace, "sample")]
    equal(len(free), sum("global memory free" in l for l in lines), "samples")
    equal((free[0]["free_bytes"], free[0]["total_bytes"], free[0].get("used_bytes")),
          (14995 * MIB, 16160 * MIB, None), "the first sample")
    text = memledger("summary", trace).stdout
    contains(text, "imported from tbd-log; unknown: addresses, frees, times", "summary")
    contains(text, "frees are unknown", "summary")
    heading = memledger("groups", trace).stdout.split("\n\n")[1]
    check(heading.endswith("blocks (peak)"), "a time that the log does not tell", heading)


def tbd_lines(text):
    return [line for line in text.splitlines() if line.startswith("[mem] ")]


def test_tbd_log_there_and_back():
    """An exported log has every line of the imported one, in order. Host memory is no GPU's."""
    log = (DATA / "tbd" / "conv_resnet_log").read_text()
    host = ("[mem] Allocate 8 bytes CPU memory (data).\n[mem] 5 MB CPU global memory free, "
            "total 9 MB.\n[mem] Release GPU memory.\n")
    features = ("[mem] Allocate 96 bytes GPU memory (forward_features:fc1).\n"
                "[mem] finished binding.\n[mem] start of the second epoch\n")
    for text in (log, features * 2, host):
        trace = import_text(text)
        again = memledger("export", "--format", "tbd-log", "-o", "-", trace).stdout
        equal(tbd_lines(again), tbd_lines(text), "the log")
        device, = {s["device"] for s in report("summary", trace)["by_device"]}
        equal(device, "cpu" if text is host else "gpu", "the device")


MARKS = """
from memledger.mxnet import profiler
profiler.set_state("run")
profiler.Domain("d").new_marker("finished binding.").mark()
"""


def test_markers_are_no_lines_of_tbd():
    trace = harness.run(sys.executable, "-c", MARKS, options=["-qf"]).trace
    contains(str(events(trace, "marker")), "finished binding.", "the marker")
    equal(memledger("export", "--format", "tbd-log", "-o", "-", trace).stdout, "", "the log")


def test_sizes_that_cannot_be():
    huge = 1 << 63
    refuse(f"[mem] Allocate {huge} bytes GPU memory (in_arg:a).\n", "line 1: expected a size and a tag")
    refuse(f"memory.used [MiB]\n{huge >> 20} MiB\n5 MiB\n", "line 2: '8796093022208 MiB' is not a size")
    refuse(f"in_arg:a,{huge >> 20}\n", "line 1: expected a tag and a number of MiB", "--format", "mxnet-csv")
    refuse(POOL_HEADER +
           f'"a","{huge}","0","{huge}","0"\n', "line 2: a size that no memory has")
    for size in (-huge, (1 << 50) + 1, 1 << 80, 1e30, str(1 << 62)):
        refuse(json.dumps({"traceEvents": [memory_event(1, 4096, size)]}),
               "a size that no memory has, more than 1 PiB")
    trace = import_text(json.dumps({"traceEvents": [memory_event(1, 4096, 1 << 50)]}))
    equal(report("summary", trace)["live_bytes"], 1 << 50, "the largest size that there is")
    refusal = dict(memory_event(1, 0, 1 << 60), name="[OutOfMemory]")
    trace = import_text(json.dumps({"traceEvents": [refusal]}))
    equal([e["bytes"] for e in events(trace, "oom")], [1 << 60], "what was refused may be anything")


def test_tbd_analysis():
    path = DATA / "tbd" / "conv_resnet_log_ANALYSIS"
    trace = import_file(path)
    wanted = json.loads(path.read_text())
    sums, tags = {}, {}
    for event in events(trace):
        if event["kind"] == "alloc":
            sums[event["scope"]] = sums.get(event["scope"], 0) + event["bytes"]
        if event["kind"] == "label":
            tags.setdefault(event["scope"], []).append("(%s).\n" % event["label"])
    equal(sums, {name: entry[0] for name, entry in wanted.items()}, "sums")
    equal(tags, {name: entry[1] for name, entry in wanted.items()}, "tags")
    contains(str(report("summary", trace)["health"]["unknown"]), "sizes of single allocations",
             "what is not known")


# ---- MXNet's memory profilers ---------------------------------------------------

def test_mxnet_csv():
    rows = "in_arg:fc1_weight,1.00003\nworkspace,linalg_impl,7.62939e-06\ndata_entry:x,4096\n"
    trace = import_text(rows)
    sizes = [e["bytes"] for e in events(trace, "alloc")]
    labels = [e["label"] for e in events(trace, "label")]
    equal("".join("%s,%g\n" % (l, s / MIB) for l, s in zip(labels, sizes)), rows,
          "the rows again")
    contains(str(report("summary", trace)["health"]["unknown"]), "exact sizes", "unknown")
    refuse(rows + "in_arg:x,many\n", "line 4: expected a tag and a number of MiB", "--format", "mxnet-csv")


def test_mxnet_pool_csv():
    rows = [("tensordot:in_arg:A", 8388608, 0, 8388608, 0),
            ("init:_random_uniform", 33554432, 1, 33554432, 1),
            ('resource:temp_space (sample_op.h +365), "x"', 8, 0, 4096, 0)]
    text = '"Attribute Name","Requested Size","Device","Actual Size","Reuse?"\n'
    for name, *numbers in rows:
        text += ",".join('"%s"' % str(f).replace('"', '""') for f in [name, *numbers]) + "\n"
    trace = import_text(text)
    got = []
    for alloc, label in zip(events(trace, "alloc_ex"), events(trace, "label")):
        got.append((label["label"], alloc["requested_bytes"], int(alloc["device"].split(":")[1]),
                    alloc["bytes"], int(alloc["scope"] == "reused")))
    equal(got, rows, "the rows again")


def test_mxnet_log():
    trace = import_text(
        "[mxnet:profiler:gpu_memory_profiler:W] Allocating 4 with unknown memory tag unknown:a b\n"
        "Stack trace returned 2 entries:\n"
        "[bt] (0) /usr/lib/libmxnet.so(Alloc(int)+0x1f) [0x7f0123456789]\n"
        "[bt] (1) python3(main+0x2) [0x55d0]\n\n")
    alloc, = events(trace, "alloc")
    equal((alloc["bytes"], events(trace, "label")[0]["label"]), (4 * MIB, "unknown:a b"), "block")
    equal([f.get("function") for f in alloc["stack"]], ["Alloc(int)", "main"], "stack")


# ---- Chrome traces --------------------------------------------------------------

def table_of(path):
    """MXNet's own statistics: {(category, name): [count, figures...]}."""
    rows, category = {}, None
    lines = path.read_text().splitlines()
    for i, line in enumerate(lines):
        if i + 1 < len(lines) and lines[i + 1].startswith("====="):
            category = line
        found = re.match(r"(.*?) +(\d+)((?: +[0-9.]+){3,4})$", line)
        if found:
            rows[category, found[1]] = [int(found[2]), *map(float, found[3].split())]
    return rows


def close(a, b, what):
    """Four digits behind the point are printed, of a number that has 24 bits."""
    check(abs(a - b) <= 0.00006 + abs(b) / 2**24, f"{what}: {a}, MXNet says {b}")


def four_digits(a, b, what):
    """So many are in the JSON, rounded up or down where both are as near."""
    unit = 10.0 ** (math.floor(math.log10(b)) - 3) if b else 1e-9
    check(abs(a - b) <= 0.5001 * unit, f"{what}: {a}, MXNet says {b}")


def mxnet_figures(row):
    """A row of our statistics as MXNet computes and prints it: in thousands, whatever it is,
    and with its defects."""
    if row["unit"] == "ns":
        return {name: row[ours] / 1e6 for name, ours in
                (("Total", "total"), ("Min", "min"), ("Max", "max"), ("Avg", "average"))}
    return {
        # Defect: the total of a counter is its last value, and of memory it is left out.
        **({} if row["category"] == "Device Storage" else {"Total": row["last"] / 1e3}),
        "Min": row["min"] / 1e3,
        "Max": row["max"] / 1e3,
        # Defect: the average of a counter is half its range, a whole number.
        "Avg": (row["max"] - row["min"]) // 2 / 1e3,
    }


def imported_stats(version):
    trace = import_file(DATA / "mxnet" / f"mxnet_{version}_profile.json")
    rows = report("stats", trace, "--top", "1000")["objects"]
    for row in rows:  # ours is a real one
        check(row["min"] <= row["average"] <= row["max"], "an average", row)
    return {(row["category"], row["name"]): row for row in rows}


def compare_with_mxnet(version):
    wanted = table_of(DATA / "mxnet" / f"mxnet_{version}_profile.table.txt")
    got = imported_stats(version)
    equal(sorted(got), sorted(wanted), "rows")  # Defect: markers have none
    for key, (count, *figures) in wanted.items():
        equal(got[key]["count"], count, f"count of {key}")
        ours = mxnet_figures(got[key])
        equal(len(ours), len(figures), f"figures of {key}")
        for (name, value), figure in zip(ours.items(), figures):
            close(value, figure, f"{name} of {key}")


def test_mxnet_profile_1():
    compare_with_mxnet("1.9.1")


def test_stats_without_allocations():
    """A file that has none does not say that there were none."""
    for path in (DATA / "mxnet" / "mxnet_1.9.1_profile.json", DATA / "smi" / "memory_fft.txt"):
        text = plain(MEMLEDGER, "stats", import_file(path)).stdout
        check(re.search(r"^allocations +\?  not in this source$", text, re.MULTILINE), "stats", text)
        check("\ntemporary " not in text, "figures of allocations", text)


def test_mxnet_stats_json():
    """Four digits of every figure; the same rows as in the table."""
    got = imported_stats("1.9.1")
    stats = json.loads((DATA / "mxnet" / "mxnet_1.9.1_profile.stats.json").read_text())
    equal(stats["Unit"], {"Time": "ms", "Memory": "kB"}, "units")
    seen = set()
    for kind in ("Time", "Memory"):
        for category, rows in stats[kind].items():
            equal(kind == "Memory", category == "Device Storage", f"where {category} stands")
            for name, row in rows.items():
                ours = {"Count": got[category, name]["count"],
                        **mxnet_figures(got[category, name])}
                equal(list(ours), list(row), f"figures of {name}")
                for key, figure in row.items():
                    four_digits(ours[key], figure, f"{key} of {name}")
                seen.add((category, name))
    equal(seen, set(got), "rows")


def test_mxnet_large_counter():
    """Defect: MXNet's least value of a counter begins at INT_MAX, and stays there if all are
    greater. Ours is what it was."""
    values = (3 << 30, 5 << 30, 4 << 30)
    records = ['{"name": "Memory: gpu/0", "cat": "Device Storage", "ph": "C", "ts": %d, "args": '
               '{ "Memory: gpu/0": %d }, "pid": 7, "tid": 1}' % (1000 + i, value)
               for i, value in enumerate(values)]
    text = '{"traceEvents": [%s], "displayTimeUnit": "ms"}' % ",".join(records)
    row, = report("stats", import_text(text))["objects"]
    equal((row["min"], row["max"], row["last"], row["average"]),
          (values[0], values[1], values[2], sum(values) / 3), "a counter above INT_MAX")


def memory_counters(version):
    """The values of MXNet's memory counter, in the order of their times."""
    path = DATA / "mxnet" / f"mxnet_{version}_profile.json"
    events = json.loads(path.read_text())["traceEvents"]
    found = [e for e in events if e.get("cat") == "Device Storage" and e["ph"] == "C"]
    return [e["args"]["Memory: cpu/0"] for e in sorted(found, key=lambda e: e["ts"])]


def test_mxnet_curve():
    """MXNet's memory counters are the curve of its profile."""
    traces, peaks = [], []
    for version in ("1.9.1", "2.0.0b1"):
        trace = import_file(DATA / "mxnet" / f"mxnet_{version}_profile.json",
                            trace=f"{version}.mled")
        values = memory_counters(version)
        summary = report("summary", trace)
        device, = summary["samples"]["devices"]
        equal([device["device"], device["peak_used_bytes"], summary["samples"]["events"]],
              ["cpu/0", max(values), len(values)], f"samples of {version}")
        equal(summary["health"]["unknown"], ["allocations"], f"unknown in {version}")
        traces.append(trace)
        peaks.append(max(values))
    compared = report("compare", traces[0], traces[1])
    equal([run["by_sample"][0]["peak_bytes"] for run in compared["runs"]], peaks, "peaks compared")
    memledger("plot", "-f", "-o", "curve.svg", *traces)
    contains(pathlib.Path("curve.svg").read_text(), "peak 5.3 MiB", "the picture")


def test_mxnet_without_memory():
    """A profile without memory counters: reports name the unknown values, and plots do not draw them as 0."""
    text = ('{"traceEvents": [{"name": "dot", "cat": "operator", "ph": "B", "ts": 1, "pid": 0, '
            '"tid": 1}, {"name": "dot", "cat": "operator", "ph": "E", "ts": 5, "pid": 0, "tid": 1}]}')
    trace = import_text(text)
    done = memledger("plot", "-f", "-o", "none.svg", trace, code=1)
    check(not os.path.exists("none.svg"), "a picture of nothing")
    contains(done.stderr, "profile_memory=True", "what plot says")
    for command in ("groups", "tree", "layers", "table"):
        done = memledger(command, trace, code=1)
        contains(done.stderr, "the imported file has no allocations", f"what {command} says")
    rows = memledger("compare", trace, trace).stdout.splitlines()[-2:]
    for row in rows:
        equal(row.split()[1:4], ["?", "?", "?"], "peak, never freed and allocations", row)
    known = import_file(DATA / "mxnet" / "mxnet_1.9.1_profile.json", trace="known.mled")
    both = memledger("compare", known, trace)
    equal(both.stdout.splitlines()[-1].split()[1], "?", "a peak without samples", both.stdout)
    other = import_file(DATA / "mxnet" / "mxnet_2.0.0b1_profile.json", trace="other.mled")
    percent = report("compare", trace, known, other)["runs"][2]["by_sample"][0]["peak_bytes_percent"]
    contains(memledger("compare", trace, known, other).stdout.splitlines()[-1], f"{percent:+.1f} %",
             "the change from the first run that has samples")


def test_mxnet_profile_2():
    compare_with_mxnet("2.0.0b1")


def mxnet_file(names, end=True, comma=False):
    text = '{\n    "traceEvents": [\n'
    if comma:
        text += ",\n"
    records = []
    for i, name in enumerate(names):
        for phase, time in (("B", 10 * i), ("E", 10 * i + 5)):
            records.append('    {\n        "name": "%s",\n        "cat": "operator",\n        "ph": '
                           '"%s",\n        "ts": %d,\n        "pid": 0,\n        "tid": 1\n    }\n'
                           % (name, phase, 1794708733010865 + time))
    text += ",\n".join(records)
    return text + ('\n    ],\n    "displayTimeUnit": "ms"\n}\n' if end else "")


def operators(text):
    rows = report("stats", import_text(text))["objects"]
    return {r["name"]: (r["count"], r["total"]) for r in rows}


def test_mxnet_defects():
    names = ['plain', 'a "quoted" name', 'C:\\new\\ud83d', 'x", "y": "z', "tab\there", '"']
    wanted = {name: (1, 5000) for name in names}
    equal(operators(mxnet_file(names)), wanted, "names that are not escaped")
    equal(operators(mxnet_file(names, end=False)), wanted, "no footer")
    equal(operators(mxnet_file(names, comma=True)), wanted, "a comma at the beginning")
    cut = mxnet_file(names, end=False)
    equal(operators(cut[:cut.rindex('"ts"')]), {n: wanted[n] for n in names[:-1]}, "cut in an event")


KINETO = {
    "baseTimeNanoseconds": 1790857026000000000,
    "traceEvents": [
        {"ph": "M", "name": "process_name", "pid": 5, "tid": 0, "args": {"name": "python"}},
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 6, "ts": 100.5, "dur": 9},
    ],
}


def memory_event(time, address, size, device=0, index=-1):
    return {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 5, "tid": 6,
            "ts": time, "args": {"Total Reserved": 0, "Total Allocated": 0, "Bytes": size,
                                 "Addr": address, "Device Type": device, "Device Id": index}}


def test_kineto():
    profile = json.loads(json.dumps(KINETO))
    profile["traceEvents"] += [memory_event(103.25, 4096, 512), memory_event(120, 4096, -512),
                               memory_event(121, 8192, 64, 1, 3)]
    trace = import_text(json.dumps(profile))
    blocks = [(e["kind"], e["device"], e["address"], e.get("bytes"), e["scope"], e["time_ns"])
              for e in events(trace) if e["kind"] in ("alloc", "free")]
    equal(blocks, [("alloc", "cpu", "0x1000", 512, "aten::mm", 2750),
                   ("free", "cpu", "0x1000", 512, "", 19500),
                   ("alloc", "cuda:3", "0x2000", 64, "", 20500)], "blocks")
    summary = report("summary", trace)
    equal(summary["health"]["unknown"], ["what was there before"], "what is not known")


def test_kineto_too_deep():
    """More operators in each other than a trace can tell; those within are closed again."""
    deep = [{"ph": "X", "cat": "cpu_op", "name": f"op{i}", "pid": 1, "tid": 1, "ts": i,
             "dur": 20000 - 2 * i} for i in range(5000)]
    later = dict(memory_event(30000, 4096, 512), pid=1, tid=1)
    trace = import_text(json.dumps({"traceEvents": deep + [later]}))
    kinds = [e["kind"] for e in events(trace)]
    equal((kinds.count("push"), kinds.count("pop")), (4096, 4096), "scopes")
    equal(events(trace, "alloc")[0]["scope"], "", "the scope behind them")


def test_kineto_operators():
    """Bytes by operator, as PyTorch's profiler adds them up itself."""
    trace = import_file(DATA / "torch" / "mlp_profile.json.gz")
    got = {}
    for event in events(trace):
        if event["kind"] in ("alloc", "free"):
            operator = event["scope"].split(" > ")[-1] or "[memory]"
            sign = 1 if event["kind"] == "alloc" else -1
            got[operator] = got.get(operator, 0) + sign * event["bytes"]
    truth = json.loads((DATA / "torch" / "mlp_profile.truth.json").read_text())
    equal({name: size for name, size in got.items() if size}, truth["self_cpu_memory_usage"],
          "bytes by operator")


# ---- The command ----------------------------------------------------------------

def test_gzip_and_standard_input():
    log = (DATA / "smi" / "memory_cudnn.txt").read_bytes()
    pathlib.Path("log.txt.gz").write_bytes(gzip.compress(log[:999]) + gzip.compress(log[999:]))
    equal(len(events(import_file("log.txt.gz"), "sample")), 720, "samples of two members")
    memledger("import", "-", text=log.decode())
    equal(len(events("memledger-stdin.mled", "sample")), 720, "samples of standard input")
    pathlib.Path("cut.gz").write_bytes(gzip.compress(log)[:-20])
    before = set(os.listdir("."))
    done = memledger("import", "cut.gz", code=1)
    contains(done.stderr, "cut.gz: the gzip data is truncated", "the error")
    equal(set(os.listdir(".")), before, "files")


def test_interrupted():
    """By a signal, while the trace is being made: nothing is left."""
    process = subprocess.Popen([harness.MEMLEDGER, "import", "--format", "nvidia-smi", "-o", "t.mled",
                                "-"], stdin=subprocess.PIPE)
    process.stdin.write(b"memory.used [MiB]\n1 MiB\n2 MiB\n")
    process.stdin.flush()
    harness.wait_until(lambda: os.listdir("."), "the trace is begun")
    process.send_signal(signal.SIGINT)
    equal(process.wait(harness.PATIENCE_S), -signal.SIGINT, "how it ended")
    equal(os.listdir("."), [], "files")


def test_name_taken_meanwhile():
    process = subprocess.Popen([harness.MEMLEDGER, "import", "--format", "nvidia-smi", "-o", "t.mled",
                                "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdin.write("memory.used [MiB]\n1 MiB\n2 MiB\n")
    process.stdin.flush()
    harness.wait_until(lambda: os.listdir("."), "the trace is begun")
    pathlib.Path("t.mled").write_text("another's")
    _, error = process.communicate(timeout=harness.PATIENCE_S)
    equal(process.returncode, 1, "exit code", error)
    contains(error, "t.mled exists; choose another name or overwrite it with -f", "the error")
    equal(os.listdir("."), ["t.mled"], "files")
    equal(pathlib.Path("t.mled").read_text(), "another's", "the file that came meanwhile")


def test_names_and_refusals():
    refuse("Once upon a time\n", "not recognised as one of the formats nvidia-smi, tbd-log")
    refuse('{"traceEvents": [{"ph": "B", "ts": 1}, {"ph": "E" "ts"}]}', "byte 55: no ':' after")
    done = memledger("import", "--format", "tbd-lag", "x", code=2)
    contains(done.stderr, "did you mean 'tbd-log'?", "the error")
    contains(memledger("import", "--format", "list").stdout, "mxnet-pool-csv", "the list")
    log = DATA / "smi" / "memory_fft.txt"
    memledger("import", log)
    done = memledger("import", log, code=1)
    contains(done.stderr, "memledger-memory_fft.mled exists", "the error")
    done = memledger("import", "-o", "again.mled", "memledger-memory_fft.mled", code=1)
    contains(done.stderr, "is already a memledger trace; see memledger summary memledger-memory_fft",
             "the error")
    done = memledger("import", "-o", "one.mled", log, log, code=2)
    contains(done.stderr, "one name for 2 files", "the error")
    os.mkdir("there")
    memledger("import", "-o", "there", log, DATA / "tbd" / "conv_resnet_log")
    equal(sorted(os.listdir("there")), ["memledger-conv_resnet_log.mled", "memledger-memory_fft.mled"],
          "files")


if __name__ == "__main__":
    harness.main(globals())
