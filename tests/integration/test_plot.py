#!/usr/bin/env python3
# test_plot.py: pictures of real recordings, in every kind and format: files of the format that
# their names promise, and errors that name the next step.
#
# SPDX-License-Identifier: Apache-2.0
import glob
import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import xml.etree.ElementTree
import zlib

import harness
from harness import check, contains, equal, plain, program, run

TESTS = pathlib.Path(__file__).resolve().parent.parent
KINDS = ["timeline", "bars", "categories", "flame", "icicle", "lifetimes", "segments"]
SVG = "{http://www.w3.org/2000/svg}"


def plot(*args, code=0, **settings):
    done = plain(harness.MEMLEDGER, "plot", "-f", *args, **settings)
    equal(done.returncode, code, f"exit code of plot {args}", done.stderr)
    return done


def has_cairo():
    """Whether this machine can draw PNG; tests of the error without need nothing."""
    run(program("emit"), 1, trace="cairo.mled")
    done = plain(harness.MEMLEDGER, "plot", "cairo.mled", "-o", "cairo.png")
    if done.returncode != 0:
        raise harness.Skip(f"no Cairo: {done.stderr.strip()}")


def record_training():
    run(program("trains"), 6, trace="t.mled")


def texts(path):
    root = xml.etree.ElementTree.parse(path).getroot()
    return [e.text for e in root.iter(f"{SVG}text")]


def pixels(path):
    """Width, height and the bytes of the rows."""
    data = open(path, "rb").read()
    equal(data[:8], b"\x89PNG\r\n\x1a\n", "magic")
    equal(data[12:16], b"IHDR", "first chunk")
    width, height = struct.unpack(">II", data[16:24])
    at, packed = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        equal(struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0],
              zlib.crc32(kind + body), "checksum of a chunk")
        packed += body if kind == b"IDAT" else b""
        at += 12 + length
    return width, height, zlib.decompress(packed)


def pdf_text(path):
    """The file with its compressed parts unpacked."""
    data = open(path, "rb").read()
    check(data.startswith(b"%PDF-1."), "no PDF", data[:16])
    check(data.rstrip().endswith(b"%%EOF"), "a PDF without its end")
    for packed in re.findall(rb"stream\r?\n(.*?)endstream", data, re.S):
        try:
            data += zlib.decompress(packed)
        except zlib.error:
            pass
    return data


def test_every_kind_in_every_format():
    has_cairo()
    record_training()
    for kind in KINDS[:-1]:
        plot("t.mled", "--kind", kind, "-o", f"{kind}.svg")
        check(len(texts(f"{kind}.svg")) > 3, f"{kind}: too little text")
        plot("t.mled", "--kind", kind, "-o", f"{kind}.png", "--width", 640, "--scale", 1.5)
        width, _, rows = pixels(f"{kind}.png")
        equal(width, 960, f"{kind}: width")
        check(len(set(rows)) > 8, f"{kind}: an empty picture")
        plot("t.mled", "--kind", kind, "-o", f"{kind}.pdf")
        page = pdf_text(f"{kind}.pdf")
        equal(len(re.findall(rb"/Type\s*/Page\b", page)), 1, f"{kind}: pages")
        contains(page.decode("latin-1"), "MediaBox [ 0 0 750 ", f"{kind}: page")


def test_size_and_screen():
    has_cairo()
    record_training()
    plot("t.mled", "-o", "a.png", "--width", 500, "--height", 300)
    width, height, light = pixels("a.png")
    equal((width, height), (1000, 600), "twice the size asked for")
    plot("t.mled", "-o", "b.png", "--width", 500, "--height", 300, "--dark", "--scale", 1)
    width, height, dark = pixels("b.png")
    equal((width, height), (500, 300), "the size asked for")
    # The first pixel has no neighbours, so it stands behind its row's filter as it is.
    equal((light[1:4], dark[1:4]), (b"\xff\xff\xff", b"\x14\x18\x1d"), "paper")


def test_without_cairo():
    """Another file of its name stands before it: not a library, or a wrong one."""
    record_training()
    env = dict(os.environ, LD_LIBRARY_PATH=os.path.abspath("."))
    with open("libcairo.so.2", "w") as file:
        file.write("not a library")
    done = plot("t.mled", "-o", "a.png", code=1, env=env)
    contains(done.stderr, "apt install libcairo2", "error")
    contains(done.stderr, "-o NAME.svg", "error")
    check(not os.path.exists("a.png"), "half a picture was left")
    plot("t.mled", "-o", "a.svg", env=env)
    os.unlink("libcairo.so.2")
    os.symlink(os.path.join(harness.STANDIN, "libcuda.so.1"), "libcairo.so.2")
    done = plot("t.mled", "-o", "a.pdf", code=1, env=env)
    contains(done.stderr, "has no cairo_image_surface_create", "error")
    contains(done.stderr, "apt install libcairo2", "error")


def test_nothing_recorded():
    """No event gives no picture; one event, or a run beside an empty one, gives one."""
    # A sample of the host would be a curve, and a slow start has one.
    run("true", options=("-qf", "--sample-hz=0"), trace="none.mled")
    run(program("emit"), 1, trace="one.mled")
    for kind in KINDS[:-1]:
        plot("one.mled", "--kind", kind, "-o", "a.svg")
        xml.etree.ElementTree.parse("a.svg")
        done = plot("none.mled", "--kind", kind, "-o", "none.svg", code=1)
        contains(done.stderr, "there is no block" if kind == "lifetimes" else
                 "no allocation was recorded; memledger run --heap", f"error of {kind}")
    for name in ("none.mled", "one.mled"):
        done = plot(name, "--kind", "segments", "-o", "none.svg", code=1)
        contains(done.stderr, "no pool or driver segments", "error")
    done = plot("none.mled", "--kind", "bars", "--gross", "-o", "none.svg", code=1)
    contains(done.stderr, "no allocation was recorded", "error of all that was allocated")
    for args in (["none.mled"], ["--kind", "categories", "--grid", "none.mled"]):
        done = plot(*args, "none.mled", "--labels", "a,b", "-o", "none.svg", code=1)
        contains(done.stderr, "no allocation was recorded", f"error of {args}")
        done = plot(*args, "one.mled", "-o", "a.svg")
        contains(done.stderr, "none: no allocation was recorded", f"warning of {args}")
    check(not os.path.exists("none.svg"), "a picture of nothing")


def test_one_file_each_or_a_grid():
    record_training()
    os.link("t.mled", "run-a.mled")
    os.link("t.mled", "run-b.mled")
    done = plot("run-a.mled", "run-b.mled", "--kind", "categories", "-o", "c.svg")
    equal(done.stdout.split(), ["c-a.svg", "c-b.svg"], "files")
    titles = [texts(name)[0] for name in ("c-a.svg", "c-b.svg")]
    check(titles[0].startswith("a: ") and titles[1].startswith("b: "), "runs in titles", titles)
    equal(titles[0][3:], titles[1][3:], "their command")
    equal(texts("c-a.svg")[1:], texts("c-b.svg")[1:], "texts of the same recording")
    plot("run-a.mled", "run-b.mled", "--kind", "categories", "-o", "c.svg", "--title", "Both")
    equal([texts(name)[0] for name in ("c-a.svg", "c-b.svg")], ["a: Both", "b: Both"], "titles")
    done = plot("run-a.mled", "run-b.mled", "--kind", "categories", "--grid", "-o", "g.svg",
                "--title", "Both")
    equal(done.stdout.split(), ["g.svg"], "files")
    check({"Both", "a", "b"} <= set(texts("g.svg")), "names in the grid", texts("g.svg"))
    plot("run-a.mled", "run-b.mled", "--kind", "categories", "--grid", "-o", "g.svg",
         "--dictionary", "torch,layers")
    check({"run: memory by category", "a, torch", "a, layers", "b, torch", "b, layers"} <=
          set(texts("g.svg")), "dictionaries in the grid", texts("g.svg"))
    plot("run-a.mled", "--kind", "categories", "--grid", "-o", "g.svg", "--title", "One")
    check({"One", "run-a"} <= set(texts("g.svg")), "a grid of one", texts("g.svg"))
    plot("run-a.mled", "run-b.mled", "-o", "o.svg")
    equal(texts("o.svg")[0], "run: live memory over time", "title of the curves")
    done = plot("run-a.mled", "run-b.mled", "--kind", "categories", "-o", "d.svg",
                "--labels", "x,x", code=2)
    contains(done.stderr, "two pictures would have the name 'x'; name the runs with --labels", "error")
    check(not os.path.exists("d-x.svg"), "one picture in the place of two")


def test_names_at_peaks_leave_the_legend_alone():
    """Runs with the same peak: their names are beside each other's, not above the picture."""
    record_training()
    names = [f"name{i}" for i in range(8)]
    for name in names:
        os.link("t.mled", f"{name}.mled")
    plot(*[f"{name}.mled" for name in names], "--labels", ",".join(names), "-o", "n.svg")
    places = {}
    for e in xml.etree.ElementTree.parse("n.svg").getroot().iter(f"{SVG}text"):
        places.setdefault(e.text, []).append(float(e.get("y") or 0))
    legend = max(places[name][0] for name in names)
    at_peaks = sorted(places[name][-1] for name in names)
    check(at_peaks[0] - 13 > legend, "a name on the legend", legend, at_peaks)
    check(all(b - a > 12 for a, b in zip(at_peaks, at_peaks[1:])), "names on each other", at_peaks)


def marks(path):
    """The numbers beside each axis of a grid, which begin with 0."""
    numbers = [float(t) for t in texts(path) if re.fullmatch(r"[0-9.]+", t)]
    begins = [i for i, number in enumerate(numbers) if number == 0] + [len(numbers)]
    return [numbers[a:b] for a, b in zip(begins, begins[1:])]


def test_axes_of_a_grid():
    for count, name in ((2, "few"), (20, "many")):
        run(program("trains"), count, trace=f"{name}.mled")
    both = ("few.mled", "many.mled", "--kind", "categories", "--grid", "--gross", "--unit", "B",
            "-d", "layers")
    plot(*both, "-o", "same.svg")
    plot(*both, "-o", "each.svg", "--axes", "each")
    few, many = marks("same.svg")
    equal(few, many, "the same axis")
    own_few, own_many = marks("each.svg")
    equal(own_many, many, "the axis of the larger run")
    check(own_few[-1] < many[-1] / 2, "an axis of its own", own_few, many)


def test_too_large_a_picture():
    has_cairo()
    record_training()
    with open("a.png", "w") as file:
        file.write("what was there")
    done = plot("t.mled", "-o", "a.png", "--width", 20000, "--scale", 8, code=1)
    contains(done.stderr, "make it smaller with --width, --height or --scale", "error")
    with open("a.png") as file:
        equal(file.read(), "what was there", "the file that was there")
    equal(sorted(f for f in os.listdir(".") if f.startswith("a.png")), ["a.png"], "files")


def test_interrupted():
    """While the picture is being made: no part of it is left, nor is the older one gone."""
    has_cairo()
    record_training()
    with open("a.png", "w") as file:
        file.write("what was there")
    process = subprocess.Popen([harness.MEMLEDGER, "plot", "-f", "t.mled", "-o", "a.png", "--width", "8000",
                                "--height", "5000", "--scale", "1"])
    harness.wait_until(lambda: glob.glob("a.png.*"), "the picture is begun")
    process.send_signal(signal.SIGTERM)
    equal(process.wait(harness.PATIENCE_S), -signal.SIGTERM, "how it ended")
    equal(glob.glob("a.png*"), ["a.png"], "files")
    with open("a.png") as file:
        equal(file.read(), "what was there", "the file that was there")


def test_small_shares_are_left_out():
    record_training()
    plot("t.mled", "--kind", "categories", "-o", "all.svg")
    done = plot("t.mled", "--kind", "categories", "--min-share", 60, "-o", "few.svg")
    contains(done.stderr, "left out: ", "note")
    shares = [[float(t[:-1]) for t in texts(name) if t.endswith("%")]
              for name in ("all.svg", "few.svg")]
    equal(shares[1], [s for s in shares[0] if s > 60], "shares")
    equal(shares[0][:-1], sorted(shares[0][:-1], reverse=True), "order")


def test_one_device():
    """Of the device that is asked for, in every kind; a message names one that does not exist."""
    trace = TESTS / "golden" / "traces" / "gpt.mled"
    for device, peak in (("cuda:0", "35.7 MiB"), ("cpu", "68.4 KiB")):
        plot(trace, "--device", device, "-o", "one.svg")
        check(peak in texts("one.svg"), f"the peak of {device}", texts("one.svg"))
        contains(" ".join(texts("one.svg")), f"live memory on {device} (", "the axis")
        plot(trace, trace, "--labels", "a,b", "--device", device, "-o", "two.svg")
        check(f"peak {peak}" in texts("two.svg"), f"the peaks of {device}", texts("two.svg"))
    plot(trace, "--kind", "lifetimes", "--device", "cpu", "-o", "blocks.svg")
    contains(" ".join(texts("blocks.svg")), "the 1 largest of 1 block,", "blocks on the host")
    for kind in KINDS[:-1]:
        done = plot(trace, "--kind", kind, "--device", "cuda:7", "-o", "none.svg", code=1)
        contains(done.stderr, "cuda:7", "error")
    check(not os.path.exists("none.svg"), "a picture of nothing")


def test_no_times():
    """What was imported from files without times has none in its pictures."""
    for name, things in (("tbd/conv_resnet_log", "events"), ("smi/memory_fft.txt", "samples")):
        done = plain(harness.MEMLEDGER, "import", "-qf", "-o", "i.mled", TESTS / "data" / name)
        equal(done.returncode, 0, f"exit code of import {name}", done.stderr)
        plot("i.mled", "-o", "i.svg")
        words = " ".join(texts("i.svg"))
        contains(words, f"{things}, in their order: the recording has no times", "the axis")
        check(not re.search(r"\((ns|us|ms|s)\)", words), "a unit of time", words)
        done = plot("i.mled", "--from", "1ns", "-o", "i.svg", code=1)
        contains(done.stderr, "this recording has no times", "error")
    plain(harness.MEMLEDGER, "import", "-qf", "-o", "i.mled", TESTS / "data/tbd/conv_resnet_log")
    for kind in ("bars", "lifetimes"):
        plot("i.mled", "--kind", kind, "-o", "i.svg")
        check(not re.search(r" at [0-9.]+ (ns|us|ms|s)\b", " ".join(texts("i.svg"))),
              f"a time in {kind}", texts("i.svg"))


def import_samples(name, values, *args):
    with open("samples.log", "w") as file:
        file.write("memory.used [MiB]\n" + "".join(f"{value} MiB\n" for value in values))
    done = plain(harness.MEMLEDGER, "import", "-qf", "-o", name, *args, "samples.log")
    equal(done.returncode, 0, "exit code of import", done.stderr)


def curve(path):
    """The line of the only curve."""
    root = xml.etree.ElementTree.parse(path).getroot()
    return [e.get("d") for e in root.iter(f"{SVG}path") if e.get("stroke-width") == "1.8"]


def test_every_sample_without_a_time_is_drawn():
    """The curve is that of samples at even times, up to the last ones."""
    for values in ([0, 100, 200, 300, 400, 500], [100, 500, 100, 500, 100], [100, 200]):
        import_samples("order.mled", values)
        import_samples("times.mled", values, "--interval", "10ms")
        plot("order.mled", "-o", "order.svg")
        plot("times.mled", "-o", "times.svg")
        equal(curve("order.svg"), curve("times.svg"), f"the curve of {values}")


def test_runs_with_and_without_times():
    """They have no axis in common."""
    import_samples("order.mled", [100, 300, 200])
    import_samples("times.mled", [100, 300, 200], "--interval", "10ms")
    for files in (["order.mled", "times.mled"], ["times.mled", "order.mled"]):
        done = plot(*files, "-o", "mixed.svg", code=1)
        contains(done.stderr, "order.mled has no times", "error")
        contains(done.stderr, "memledger import --interval", "error")
    plain(harness.MEMLEDGER, "import", "-qf", "-o", "log.mled", TESTS / "data/tbd/conv_resnet_log")
    done = plot("times.mled", "log.mled", "-o", "mixed.svg", code=1)
    contains(done.stderr, "log.mled has no times", "error")
    contains(done.stderr, "plot it alone", "error")
    check("--interval" not in done.stderr, "an option that this format does not have", done.stderr)
    check(not os.path.exists("mixed.svg"), "a picture without a common axis")
    plot("order.mled", "order.mled", "--labels", "a,b", "-o", "orders.svg")


def test_a_block_of_which_nothing_is_known():
    with open("profile.json", "w") as file:
        json.dump({"traceEvents": [
            {"ph": "i", "name": "[memory]", "pid": 5, "tid": 6, "ts": 1, "s": "t",
             "args": {"Bytes": 4096, "Addr": 4096, "Device Type": 0, "Device Id": -1}}]}, file)
    plain(harness.MEMLEDGER, "import", "-qf", "-o", "i.mled", "profile.json")
    plot("i.mled", "--kind", "lifetimes", "-o", "i.svg")
    check("unknown" in texts("i.svg"), "the name of the block", texts("i.svg"))


def test_a_keyword_file():
    """Layers by a dictionary of the user's, and what was expected beside it."""
    record_training()
    with open("mine.txt", "w") as file:
        file.write("[Everything]\n/./\n")
    plot("t.mled", "--kind", "bars", "-d", "mine.txt,torch", "--expected", "1GiB", "-o", "b.svg")
    words = " ".join(texts("b.svg"))
    for word in ("Layer", "Data structure", "Everything", "Untrackable"):
        contains(words, word, "bars")
    done = plot("t.mled", "--kind", "bars", "--expected", "much", code=2)
    contains(done.stderr, "neither auto nor a size", "error")


def test_existing_picture():
    """As other commands do, it asks for -f before it replaces a file."""
    record_training()
    with open("p.svg", "w") as file:
        file.write("precious")
    done = plain(harness.MEMLEDGER, "plot", "t.mled", "-o", "p.svg")
    equal(done.returncode, 1, "exit code", done.stderr)
    contains(done.stderr, "p.svg exists; choose another name or overwrite it with -f", "error")
    equal(open("p.svg").read(), "precious", "the file that was there")
    plot("t.mled", "-o", "p.svg")
    check(texts("p.svg"), "no picture with -f")


def test_legend_at_the_highest_total():
    """The numbers behind the names add up to the one at the ring."""
    trace = str(TESTS / "golden" / "traces" / "gpt.mled")
    plot(trace, "-o", "t.svg", "--unit", "B")
    root = xml.etree.ElementTree.parse("t.svg").getroot()
    description = next(root.iter(f"{SVG}desc")).text
    peak, *parts = [int(n) for n in re.findall(r"([0-9]+) B\b", description)]
    equal(sum(parts), peak, "what there was at the highest total", description)
    shown = [text for text in texts("t.svg") if text]
    for part in parts:
        check(f"{part} B" in shown, f"{part} B is not in the legend", shown)


def test_the_gpu_comes_first():
    run(program("two_devices"), options=["-qf", "--sample-hz", "0"])
    plot("t.mled", "-o", "two.svg")
    contains(" ".join(texts("two.svg")), "on cuda:0; --device shows the others: cpu (peak 2.9 KiB)",
             "the devices")


def test_devices_are_not_added_up():
    """The one with the highest peak is shown, and the others are named."""
    trace = str(TESTS / "golden" / "traces" / "gpu.mled")
    plot(trace, "-o", "all.svg")
    drawn = " ".join(texts("all.svg"))
    contains(drawn, "live memory on cuda:0 (", "the axis")
    contains(drawn, "on cuda:0; --device shows the others: cuda managed (peak 64.0 MiB)", "others")
    check("sum of all devices" not in drawn, "devices are added up", drawn)
    plot(trace, "-o", "managed.svg", "--device", "cuda managed")
    contains(" ".join(texts("managed.svg")), "live memory on cuda managed (", "another device")


def test_sum_of_devices_is_called_one():
    """Where it is asked for."""
    trace = str(TESTS / "golden" / "traces" / "gpu.mled")
    plot(trace, "-o", "all.svg", "--by", "device")
    contains(" ".join(texts("all.svg")), "live memory, sum of all devices (", "the axis")
    plot(trace, "-o", "one.svg", "--device", "cuda:0")
    contains(" ".join(texts("one.svg")), "live memory on cuda:0 (", "the axis of one device")


def of_rank(rank):
    env = {key: value for key, value in os.environ.items() if "RANK" not in key}
    return env | {"RANK": str(rank), "WORLD_SIZE": "4"}


def numbers(*args):
    return json.loads(plot("--json", *args).stdout)


def test_ranks_are_stacked_over_the_wall_clock():
    for rank in range(3):
        run(program("trains"), 3 + rank, trace=f"rank{rank}.mled", env=of_rank(rank))
    files = [f"rank{rank}.mled" for rank in range(3)]
    alone = [numbers(file) for file in files]
    job = numbers("--by", "rank", *files)
    starts = [trace["start_ns"] for trace in job["traces"]]
    equal(starts, sorted(starts), "traces in the order of their starts")
    equal(starts[0], 0, "the start of the job")
    equal([band["name"] for band in job["bands"]], ["rank 0", "rank 1", "rank 2"], "bands")
    equal([band["peak_bytes"] for band in job["bands"]], [one["peak_bytes"] for one in alone], "peaks")
    equal(job["end_ns"], max(start + one["end_ns"] for start, one in zip(starts, alone)), "the end of the job")
    sums = [sum(values) for values in zip(*job["bytes"])]
    equal(job["peak_bytes"], max(sums), "the highest sum")
    for start, one, values in zip(starts, alone, job["bytes"]):
        column = (job["to_ns"] - job["from_ns"]) / (len(values) / 2)
        used = [time for time, value in zip(job["times_ns"], values) if value > 0]
        check(used[0] >= start - column and used[-1] <= start + one["end_ns"] + column, "a rank outside of its run")
    last = numbers("--by", "rank", "--from", f"{starts[2]}ns", *files)
    equal(last["bands"][2]["peak_bytes"], alone[2]["peak_bytes"], "the peak of the last rank in its own time")
    plot("--by", "rank", *files, "-o", "ranks.svg")
    contains(" ".join(texts("ranks.svg")), "rank 2", "the legend")


def test_ranks_of_one_recording():
    script = f"for rank in 0 1; do RANK=$rank {program('trains')} $((3 + rank)); done"
    run("sh", "-c", script, trace="both.mled", env=of_rank(0) | {"RANK": ""})
    peaks = [process["peak_bytes"] for process in numbers_of("summary", "both.mled")["processes"] if process["peak_bytes"]]
    job = numbers("--by", "rank", "both.mled")  # the longer run of rank 1 has more
    equal([band["name"] for band in job["bands"] if band["peak_bytes"]], ["rank 0", "rank 1"], "bands")
    equal([band["peak_bytes"] for band in job["bands"] if band["peak_bytes"]], sorted(peaks), "peaks")


def numbers_of(verb, trace):
    return json.loads(plain(harness.MEMLEDGER, verb, "--json", trace).stdout)


def test_ranks_that_cannot_be_stacked():
    import_samples("order.mled", [100, 300, 200])
    run(program("trains"), 2, trace="t.mled")
    contains(plot("--by", "rank", "order.mled", code=1).stderr, "has no times", "error")
    contains(plot("--json", "t.mled", "t.mled", code=2).stderr, "--by rank", "error")
    contains(plot("--by", "rank", "--kind", "bars", "t.mled", code=2).stderr, "--by rank", "error")
    contains(plot("--by", "rank", "--from", "1000s", "t.mled", code=1).stderr, "ended at", "error")


if __name__ == "__main__":
    harness.main(globals())
