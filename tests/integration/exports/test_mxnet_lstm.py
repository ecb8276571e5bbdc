#!/usr/bin/env python3
# test_mxnet_lstm.py: the LSTM of examples/mxnet, recorded with the real wheel, in the words
# of the old tools: TBD's log line by line, the top entries, the two bars and the category
# bars of MXNet's and TBD's scripts.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import re
import xml.etree.ElementTree

import harness
import old_files
import old_tools
import pypi
from harness import MEMLEDGER, check, equal, plain, run

VERSION = os.environ["MXNET_VERSION"]
FOLDER = os.path.join(os.environ["PYPI_FOLDER"], f"mxnet-{VERSION}")
EXAMPLES = os.environ["MXNET_EXAMPLES"]
DICTIONARY = os.path.join(EXAMPLES, "lstm.dictionary")
# What the dictionary's keywords are, for the old scripts, which know no expressions.
LAYERS = {"Embedding": ["embed"], "LSTM": ["lstm", "RNN"], "Output": ["decoder", "softmax"]}
GIB = 1 << 30
recorded = []  # the trace's bytes, for all tests


def lstm():
    """The recording, as lstm.mled in the folder of the test."""
    if not recorded:
        python = os.path.join(pypi.environment(os.environ["PYPI_REQUIREMENTS"], FOLDER),
                              "bin/python")
        result = run(python, os.path.join(EXAMPLES, "lstm.py"), "--steps", 3, "--batch", 4,
                     "--vocabulary", 500, options=("-qf",),
                     env=os.environ | {"OMP_NUM_THREADS": "1"})
        equal(result.code, 0, "exit code of the LSTM", result)
        with open(result.trace, "rb") as file:
            recorded.append(file.read())
    with open("lstm.mled", "wb") as file:
        file.write(recorded[0])
    return "lstm.mled"


# ---- Files ----------------------------------------------------------------------------


def test_tbd_log_line_by_line():
    """Each allocation has its line, in order; the old analysis gets the totals that we report."""
    trace = lstm()
    allocations = [e["size"] for e in harness.dump(trace, events=True)["events"]
                   if e["kind"] == "alloc"]
    with open(old_files.export(trace, "tbd-log")) as file:
        lines = [line for line in file if "Allocate" in line]
    told = [re.fullmatch(r"\[mem\] Allocate (\d+) bytes CPU memory \((\S*)\)\.\n", line)
            for line in lines]
    check(all(told), "a line that is none of TBD's", lines)
    equal([int(m[1]) for m in told], allocations, "sizes in the log")
    equal(old_files.check_tbd(trace), len(allocations), "allocations that the old analysis saw")


def test_tbd_totals_are_the_summary():
    """The totals of TBD's analysis, by category, are those of our own categories."""
    trace = lstm()
    categories, _ = old_tools.tbd_analysis(old_files.export(trace, "tbd-log"))
    peak = {c["category"]: c["peak_bytes"] for c in harness.report("summary", trace)["by_category"]}
    # What is made once and lives to the end: all of it lives at the peak.
    for keyword, category in (("arg_grad", "gradient"), ("in_arg", "parameter"),
                              ("optimizer", "optimizer_state")):
        equal(categories[keyword][0], peak[category], f"bytes of {category}")


def test_other_files():
    trace = lstm()
    old_files.check_all(trace)
    for name in ("mxnet-csv", "mxnet-pool-csv", "tbd-log", "tbd-analysis"):
        old_files.check_round(trace, name)


def test_names_from_environment():
    """The variables of the old profiler, as they stood in the program's environment."""
    lstm()
    env = os.environ | {"MXNET_GPU_MEMORY_PROFILER_CSV_FNAME": "mine.csv",
                        "MXNET_GPU_MEMORY_PROFILER_LOG_FNAME": "mine.log"}
    for name, path in (("mxnet-csv", "mine.csv"), ("mxnet-log", "mine.log")):
        done = plain(MEMLEDGER, "export", "--format", name, "lstm.mled", env=env)
        equal((done.returncode, done.stdout), (0, path + "\n"), f"the file of {name}", done.stderr)
        check(os.path.getsize(path) > 0, f"{path} is empty")


# ---- Top entries ----------------------------------------------------------------------


def rows_at_peak(trace):
    """(tag, GiB) of every block that lived at the peak."""
    profile = old_tools.mxnet_profile(old_files.export(trace, "mxnet-pool-csv", "--at", "peak"))
    return [(row[0], int(row[1]) / GIB) for row in profile]


def test_top_entries():
    trace = lstm()
    with open("layers.dictionary", "w") as file:
        file.write("match = all\n" + "".join("[%s]\n%s\n" % (name, "\n".join(words))
                                            for name, words in LAYERS.items()))
    for dictionary, keywords in (("layers.dictionary", LAYERS),
                                 ("mxnet", old_tools.MXNET_DATA_STRUCTURES)):
        done = plain(MEMLEDGER, "groups", "--style", "mxnet", "-d", dictionary, trace)
        equal(done.returncode, 0, "exit code of groups", done.stderr)
        equal(done.stdout, old_tools.mxnet_top_entries(rows_at_peak(trace), keywords),
              f"the top entries by {dictionary}")


# ---- Pictures -------------------------------------------------------------------------


def plot(trace, kind, *options):
    """The texts of the picture, drawn as SVG; as PNG where Cairo is there."""
    for end in ("svg", "png"):
        done = plain(MEMLEDGER, "plot", "-f", trace, "--kind", kind, "-o", f"{kind}.{end}", *options)
        if end == "png" and "libcairo2" in done.stderr:
            break
        equal(done.returncode, 0, f"exit code of plot --kind {kind}", done.stderr)
    root = xml.etree.ElementTree.parse(f"{kind}.svg").getroot()
    equal(root.tag, "{http://www.w3.org/2000/svg}svg", "the picture")
    return [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]


def shares(rows, keywords):
    """Percent of all rows by category, of those with a keyword in their tag; each once."""
    total = sum(gib for _, gib in rows)
    found = {name: sum(gib for tag, gib in rows if any(word in tag for word in words))
             for name, words in keywords.items()}
    return {name: 100 * gib / total for name, gib in found.items()}


def test_two_bars():
    trace = lstm()
    texts = plot(trace, "bars", "-d", f"{DICTIONARY},mxnet")
    check({"Layer", "Data structure"} <= set(texts), "names of the bars", texts)
    rows = rows_at_peak(trace)
    labelled = 0
    for name, share in {**shares(rows, LAYERS),
                        **shares(rows, old_tools.MXNET_DATA_STRUCTURES)}.items():
        equal(f"{share:.0f}% {name}" in texts, share >= 5, f"the label of {name}, {share} %", texts)
        labelled += share >= 5
    check(labelled >= 4, "few labels", texts)


def test_category_bars():
    trace = lstm()
    texts = plot(trace, "categories")
    rows = rows_at_peak(trace)
    wanted = shares(rows, {"Parameters": ["in_arg:"], "Gradients": ["arg_grad:"],
                           "Optimizer state": ["optimizer_state:"]})
    for name, share in wanted.items():
        check(name in texts and f"{share:.2f}%" in texts, f"{name}, {share} %", texts)
    # TBD's picture: all that was allocated, by its keywords.
    texts = plot(trace, "categories", "--gross", "-d", "tbd")
    gross = json.loads(plain(MEMLEDGER, "groups", "--gross", "-d", "tbd", "--json", trace).stdout)
    categories, _ = old_tools.tbd_analysis(old_files.export(trace, "tbd-log"))
    share = 100 * categories["in_arg"][0] / gross["runs"][0]["bytes"]
    check(f"{share:.2f}%" in texts, f"Weights, {share} %", texts)


harness.main(globals())
