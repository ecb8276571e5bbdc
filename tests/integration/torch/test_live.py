#!/usr/bin/env python3
# test_live.py: memledger inside a plain Python, without `memledger run`: bytes that
# are counted in the process, recordings that are started and stopped there, and the
# report of MemoryProfiler.
#
# SPDX-License-Identifier: Apache-2.0
import glob
import json
import os
import re

import harness
from harness import balanced, check, contains, equal, plain, report, run
from torch_support import PYTHON, need_torch, said

PACKAGE = os.environ["TEST_PACKAGE"]
CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "live_cases.py")


def environment(**more):
    # Many threads of OpenMP on a busy machine wait for each other.
    return os.environ | {"PYTHONPATH": PACKAGE, "OMP_NUM_THREADS": "1"} | more


def case(name, *args, code=0, **more):
    need_torch()
    done = plain(PYTHON, CASES, name, *args, env=environment(**more))
    equal(done.returncode, code, f"exit code of {name}", done.stdout, done.stderr)
    return done


def found(name, *args, **more):
    done = case(name, *args, **more)
    return said(done.stdout, done.stderr)


def host(trace):
    """The figures of the host's blocks."""
    devices = report("summary", trace)["by_device"]
    blocks, = next(d["levels"] for d in devices if d["device"] == "cpu")
    return blocks


def test_bytes():
    told = found("bytes_by_hand")
    equal(told["before"], 4 * 1000 + 2 * 4 * 10, "what was alive before, and a gradient")
    equal([told["one"], told["same"], told["gone"]], [1 << 20, 1 << 20, 0], "one block")
    equal(told["peak"], 8000, "peak")
    equal([told["again"], told["after"]], [8000, 6000], "peak before and after its reset")
    equal(told["unknown"], 0, "a device that is not there")


def test_own_kinds():
    """Code of the program is not run, and PyTorch does not warn."""
    told = found("own_kinds")
    equal(told["live"], 4 * 1000, "bytes that are live")
    equal(told["asked"], [], "what the class of a tensor was asked")
    equal(told["warned"], [], "warnings")


def check_start_stop(order, kept):
    told = found("start_stop", order)
    equal([told["path"], told["stopped"], told["second"], told["none"]],
          [os.path.abspath("first.mled"), os.path.abspath("first.mled"),
           os.path.abspath("second.mled"), None], "paths")
    equal([told["live"], told["peak"]], [kept + 4000, kept + (1 << 20)], "live and peak")
    for name, live, peak in (("first.mled", told["live"], told["peak"]),
                             ("second.mled", kept + 2000, kept + 4000 + 2000)):
        balanced(harness.dump(name), name)
        equal([host(name)["live_bytes"], host(name)["peak_bytes"]], [live, peak],
              f"live and peak in {name}")
    equal(told["live_then"], kept + 2000, "live after the second start")
    trace = harness.dump("first.mled")
    equal(trace["kinds"].get("push"), trace["kinds"].get("pop"), "scopes", trace["kinds"])
    check(trace["kinds"].get("mark"), "no step", trace["kinds"])


def test_start_before_import():
    check_start_stop("torch-later", 0)


def test_start_after_import():
    check_start_stop("torch-first", 4 * 2500)


def test_threads():
    equal(found("threads")["left"], 0, "bytes left")
    for trace in ("a.mled", "b.mled"):
        dump = harness.dump(trace)
        balanced(dump, trace)
        equal(dump["kinds"].get("alloc"), 4 * 199, f"allocations in {trace}")
        equal(dump["kinds"].get("free"), 4 * 199, f"frees in {trace}")


def test_restless():
    told = found("restless", 30)
    equal(told["left"], 0, "bytes left")
    some = 0
    for trace in told["paths"]:
        dump = harness.dump(trace)
        balanced(dump, trace)
        some += dump["kinds"].get("alloc", 0)
    check(some > 1000, "the threads were not recorded", some)


def test_workers():
    told = found("workers")
    equal(told["total"], 32 * sum(range(64)), "the sum over all batches")
    trace = harness.dump("w.mled")
    balanced(trace)
    check(len(trace["processes"]) >= 3, "the workers are missing", trace["processes"])


def test_children():
    told = found("children")
    equal([told["status"], told["own_status"], told["inside"]], [0, 0, 0], "the children")
    balanced(harness.dump("parent.mled"))
    equal(len(harness.dump("parent.mled")["processes"]), 2, "processes of the parent's trace")
    equal(host("child.mled")["live_bytes"], 4000, "what the child had from its parent")


def test_child_of_an_ended_recording():
    """It leaves that for one of its own, whose trace begins with what is alive."""
    equal(found("outlives")["status"], 0, "the child")
    parents, own = harness.dump("ended.mled"), harness.dump("late.mled")
    for trace, processes in (parents, 2), (own, 1):
        balanced(trace)
        equal(len(trace["processes"]), processes, "processes", trace["processes"])
    equal(host("late.mled")["live_bytes"], 400 + 4000, "what is alive at its end")


def test_names_fail():
    done = case("nameless")
    told = said(done.stdout, done.stderr)
    check(told["path"] and told["path"] == told["stopped"], "the trace", told)
    check(not told["is_in_front"], "half of the names are there")
    equal(done.stderr.count("cannot hook PyTorch: module names are off"), 1, "the number of messages")
    balanced(harness.dump("nameless.mled"))


def wait_for(trace):
    """A program that ends without stop() leaves the rest to the collector."""
    def is_complete():
        done = plain(harness.MEMLEDGER, "summary", trace, "--json")
        return done.returncode == 0 and not json.loads(done.stdout)["health"]["cut_short"]

    harness.wait_until(is_complete, f"a complete {trace}")


def test_ends():
    """PyTorch 2.3 keeps the frame that calls sys.exit() to the end of the program."""
    for how, code, live in (("exception", 1, 4000), ("_exit", 7, 4000), ("kill", -9, 4000),
                            ("exit", 3, None)):
        done = case("ends", how, code=code)
        if live is None:
            live = said(done.stdout, done.stderr)["kept_bytes"]
        wait_for("e.mled")
        blocks = host("e.mled")
        equal([blocks["live_bytes"], blocks["peak_bytes"]], [live, 4000 + (1 << 20)],
              f"live and peak after {how}")
        os.remove("e.mled")


def test_twice():
    told = found("twice")
    equal(told["second"], told["first"], "the second start()'s path")
    equal(told["stopped"], told["first"], "what stop() says")
    check(re.search(r"memledger-live_cases\.\d+\.mled$", told["first"]), "the name", told)
    equal(told["third"], told["first"].replace(".mled", ".2.mled"), "the third start()'s path")
    contains(told["refused"], "call memledger.stop() first", "what another path says")
    contains(told["exists"], "mine.mled", "what an existing file says")
    for trace in (told["first"], told["third"], "mine.mled", "again.mled"):
        harness.dump(trace)


def test_stacks():
    told = found("stacks")
    contains(told["refused"], "python, native, all", "what a wrong wish says")
    check(not told["exists"], "no trace", told)
    for trace, wanted in (("python.mled", ["stacks"]), ("None.mled", [])):
        big = [e for e in harness.report("events", trace)["events"]
               if e["kind"] == "alloc" and e["bytes"] == 1 << 20]
        equal([[f["function"] for f in e.get("stack", [])][:1] for e in big], [wanted],
              f"the innermost function in {trace}")


def test_profile():
    done = case("decorated")
    told = said(done.stdout, done.stderr)
    equal(told["result"], [1 << 20, 3 << 20], "results")
    equal([told["name"], told["doc"]], ["one", "Its own words."], "what the decorator keeps")
    for line in ("memledger: one: cpu: peak 1.0 MiB, 0 B more live than before",
                 "memledger: one: cpu: peak 3.0 MiB, 0 B more live than before",
                 "memledger: two: cpu: peak 2.0 MiB, 0 B more live than before",
                 f"memledger: next: memledger summary {os.path.abspath('two.mled')}"):
        contains(done.stderr, line, "stderr")
    equal(host("two.mled")["peak_bytes"], 2 << 20, "peak of the call")
    traces = sorted(glob.glob("memledger-live_cases.*.mled"))
    equal(sorted(host(trace)["peak_bytes"] for trace in traces), [1 << 20, 3 << 20], "peaks")


def test_early():
    """Counting begins before PyTorch is imported, alone and under `memledger run`."""
    need_torch()
    result = run(PYTHON, CASES, "early", options=["-qf"], env=environment())
    equal(result.code, 0, "exit code", result)
    equal(said(result.out, result)["live"], 4000, "live bytes under memledger run")
    done = plain(PYTHON, CASES, "early", env=environment())
    equal(said(done.stdout, done.stderr)["live"], 4000, "live bytes alone")


def test_interrupted():
    told = found("interrupted")
    paths = [os.path.abspath(name) for name in ("interrupted.mled", "again.mled", "again.mled")]
    equal([told[key] for key in ("stopped", "again", "ended")], paths, "what start and stop say")
    harness.dump("interrupted.mled")


def test_early_trouble():
    done = case("early_trouble")
    equal(done.stderr.count("cannot hook PyTorch: module names are off"), 1, "the number of messages",
          done.stderr)


def test_under_run():
    """No second recording, and one message about it."""
    need_torch()
    result = run(PYTHON, CASES, "under_run", options=["-qf"], env=environment())
    equal(result.code, 0, "exit code", result)
    told = said(result.out, result)
    equal([told["path"], told["stopped"], told["exists"]], [None, None, False], "what start() does")
    equal(told["live"], 4000, "live bytes")
    equal(result.err.count("already recorded"), 1, "how often that was said", result.err)
    balanced(result.dump())
    blocks = host(result.trace)
    equal([blocks["peak_bytes"], blocks["live_bytes"]], [6000, 0], "peak and end of the trace")


def test_peak_under_run():
    """From the start of the recording, or a reset."""
    need_torch()
    result = run(PYTHON, CASES, "peak_under_run", options=["-qf"], env=environment())
    equal(result.code, 0, "exit code", result)
    told = said(result.out, result)
    equal([told["first"], told["again"]], [4 << 20, 4 << 20], "the peak before the first call")
    equal(told["after"], told["live"], "the peak after a reset", told)
    equal(told["last"], told["live"] + (8 << 20), "the peak since the reset", told)
    equal(host(result.trace)["peak_bytes"], told["last"], "the peak of the trace")


REPORT = """
*******************************************
Memory Usage for Iteration 2 of Epoch {epoch}
*******************************************
Peak cached...........................{peak} MB
Current cached........................10 MB
Total feature map usage................6 MB

Total layer weight usage...............4 MB
  0.weight.............................2 MB
  0.bias...............................0 MB
  2.weight.............................2 MB
  2.bias...............................0 MB

Total layer weight gradient usage......4 MB
  0.weight grad........................2 MB
  0.bias grad..........................0 MB
  2.weight grad........................2 MB
  2.bias grad..........................0 MB
Intermediate gradients.................8 MB

Total optimizer state usage............0 MB
  0.weight state.......................0 MB
  0.bias state.........................0 MB
  2.weight state.......................0 MB
  2.bias state.........................0 MB
Epoch {epoch} finished
"""


def test_profiler_text():
    """Byte for byte. Weights and gradients 4 MB each, a batch 2 MB, and as feature maps
    the rectified hidden layer, 4 MB, and the output, 2 MB. In backward the hidden layer's
    gradient is there before and after the rectifier, 8 MB."""
    text = case("profiler", "plain").stdout
    peaks = re.findall(r"Peak cached\.+(\d+) MB", text)
    equal(text, "".join(REPORT.format(epoch=epoch, peak=peaks[0]) for epoch in (1, 2)), "the report")


def test_profiler_csv():
    text = case("profiler", "csv").stdout
    path, = glob.glob("memory_csv_data/*.csv")
    check(re.fullmatch(r"\d{14}\.csv", os.path.basename(path)), "its name", path)
    equal(text.splitlines()[0], f"Logging data in ./{path}", "the first line")
    with open(path) as file:
        head, *rows = file.read().splitlines()
    equal(head, "epoch,iteration,peak_cached,current_cached,total_feature_map_usage,"
                "total_weight_usage,0.weight,0.bias,2.weight,2.bias,"
                "total_layer_weight_gradient_usage,0.weight_grad,0.bias_grad,2.weight_grad,"
                "2.bias_grad,intermediate_gradients,total_optimizer_state_usage,0.weight_state,"
                "0.bias_state,2.weight_state,2.bias_state", "columns")
    peak = re.search(r"Peak cached\.+(\d+) MB", text).group(1)
    equal(rows, [f"{epoch},2,{peak},10,6,4,2,0,2,0,4,2,0,2,0,8,0,0,0,0,0" for epoch in (1, 2)], "rows")


def test_profiler_bytes():
    """A batch of 100: hidden layer 400,000 bytes, output 200,000, loss 4."""
    told = found("profiler_bytes")
    weights = 4 * (2 * 500 * 1000 + 1000 + 500)
    equal(told["found"][:2], [[200000, 0, 0], [400000 + 200000, 0, 0]],
          "feature maps in inference and when forward ends")
    feature_maps, gradients, intermediate = told["found"][2]
    equal([feature_maps, gradients], [400000 + 4, weights], "when backward begins")
    check(800000 <= intermediate <= 1000000 + 4, "intermediate gradients", intermediate)
    equal(told["found"][3], [0, 0, 0], "when all is gone")
    equal(told["copies"], 1, "profilers: copies of the model have none")


def test_two_profilers():
    """Of 4 MB each, on rows of 4,000 bytes."""
    told = found("two_profilers")
    equal(told["gradients"], [4000000, 4000000], "gradients")
    check(all(4000 <= size <= 20000 for size in told["intermediate"] + [told["later"]]),
          "intermediate gradients", told)


def test_without_recorder():
    told = found("nothing_there", MEMLEDGER_LIBRARY="/nowhere/libmemledger.so")
    equal([told["found"], told["result"], told["stopped"]], [[0, 0, 0], 5, None], "results")
    equal(len(told["said"]), 1, "warnings", told["said"])
    contains(told["failed"], "/nowhere/libmemledger.so", "what start() says")


harness.main(globals())
