#!/usr/bin/env python3
# test_serving.py: unmodified programs that generate text (serving.py): keys and values have a name
# and their category, and each attention module holds as many bytes as its sizes say.
#
# SPDX-License-Identifier: Apache-2.0
import functools
import os
import tempfile

import harness
from harness import check, equal, report, run
from torch_packages import environment
from torch_support import PYTHON, said

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "serving.py")
CASES = ["beam", "static", "tuples", "encoder_and_decoder", "prompt_copied", "server", "two_models",
         "pretrained"]
PARAMETER_BYTES = 8_109_056  # of the model in the files
MARKER_BYTES = 1004
ENOUGH_PERCENT = 99
FOLDER = tempfile.TemporaryDirectory()  # traces for all of the functions below


class Record:
    def __init__(self, case):
        self.trace = os.path.join(FOLDER.name, f"{case}.mled")
        result = run(PYTHON, PROGRAM, case, trace=self.trace, env=environment("transformers"),
                     options=["-qf", "--sample-hz", "0"])
        equal(result.code, 0, f"exit code of {case}", result)
        self.held = said(result.out, result)
        if "skip" in self.held:
            raise harness.Skip(self.held["skip"], machine=True)

    def kv_caches(self):
        """{module: bytes of keys and values} when the program was done. Older models return
        their linear layers' results: these count for the attention module around them."""
        layers = report("layers", self.trace, "--at", self.end())["layers"]
        found = {row["module"]: row["by_category"]["kv_cache"] for row in layers if row["module"]}
        folded = {}
        for module, size in found.items():
            above = [name for name in self.held if module.startswith(f"{name}.")]
            name = above[0] if above else module
            folded[name] = folded.get(name, 0) + size
        return {module: size for module, size in folded.items() if size}

    def end(self):
        markers = [e for e in report("events", self.trace, "--kind", "alloc")["events"]
                   if e["bytes"] == MARKER_BYTES]
        return f"{markers[-1]['time_ns'] / 1e9:.9f}s"


recorded = functools.cache(Record)


def each_case(test):
    """Runs a test with each case that this transformers has."""
    for case in CASES:
        try:
            record = recorded(case)
        except harness.Skip as reason:
            if not reason.machine:
                raise
            print(f"  {case}: skipped: {reason}", flush=True)
            continue
        test(case, record)


def test_attention_holds_its_keys_and_values():
    def holds(case, record):
        equal(record.kv_caches(), record.held, f"keys and values of {case}")
    each_case(holds)


def test_everything_has_a_name():
    def is_named(case, record):
        percent = report("summary", record.trace)["named_percent_at_peak"]
        check(percent >= ENOUGH_PERCENT, f"only {percent} % of the peak of {case} have a name")
    each_case(is_named)


def test_no_key_is_an_activation():
    """A cache that grows is replaced for each token; all of its blocks have the category."""
    def is_cache(case, record):
        labels = report("events", record.trace, "--kind", "label")["events"]
        named = {e["label"] for e in labels if e["category"] == "kv_cache"}
        check(len(named) >= 2, f"{case} has keys and values", named)
        rows = {row["category"]: row for row in report("summary", record.trace)["by_category"]}
        check(rows["kv_cache"]["peak_bytes"] > sum(record.held.values()) / 2, case, rows)
    each_case(is_cache)


def growth_of(case):
    cache = report("summary", recorded(case).trace)["kv_cache"]
    return [(row["growths"], row["least_growth_bytes"], row["most_growth_bytes"])
            for row in (cache, *cache["layers"])]


def test_growth_by_token():
    """Of 3 layers with 4 heads of 32 numbers, and 11 tokens after the prompt."""
    of_a_text = 2 * 4 * 32 * 4
    beam = 4 * 3 * of_a_text
    equal(growth_of("beam"), [(11, 3 * beam, 3 * beam), *[(11, beam, beam)] * 3], "beams")
    equal(growth_of("server"), [(33, 3 * of_a_text, 12 * of_a_text),
                                *[(33, of_a_text, 4 * of_a_text)] * 3], "batches of 1 to 4")
    several = growth_of("prompt_copied")[0]
    equal(several, (36, 3 * of_a_text, 30 * of_a_text), "questions of 10 tokens")


def test_static_cache_does_not_grow():
    equal(growth_of("static"), [(0, None, None)] * 4, "a static cache")


def test_a_pretrained_model_is_complete():
    """In memory of its own or in the file, by version."""
    record = recorded("pretrained")
    tree = report("tree", record.trace, "--at", record.end())
    equal(tree["by_category"]["parameter"], PARAMETER_BYTES, "bytes of parameters")
    check(tree.get("mapped_file_bytes", 0) in (0, PARAMETER_BYTES), "bytes in files", tree)


harness.main(globals())
