#!/usr/bin/env python3
# test_sampling.py: samples of the host are real; those of a GPU come from the
# stand-in (docs/testing.md).
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import re
import signal
import subprocess
import sys

import harness
from harness import check, contains, equal, finish, plain, program, report, run, start, wait_until, with_standin
from kernel_counts import wait_until_asleep

MIB = 1 << 20


def samples(result):
    found = report("summary", result.trace)["samples"]
    check(found, "nothing was sampled", result)
    return found


def device(found, name):
    named = [d for d in found["devices"] if d["device"] == name]
    equal(len(named), 1, f"devices called {name}", found["devices"])
    return named[0]


def so_far():
    """What was sampled of a program that runs; nothing before the file can be read."""
    done = plain(harness.MEMLEDGER, "summary", "t.mled", "--json")
    return done.returncode == 0 and json.loads(done.stdout)["samples"] or {"processes": [], "devices": [], "taken": 0}


def run_until(sampled, *command, options=(), what="a sample"):
    """Runs a program that goes on until its input ends: when that was sampled."""
    process = harness.start_anew(*command, stdin=subprocess.PIPE, options=options)
    wait_until(lambda: sampled(so_far()), what)
    return finish(process)


def has_host(found):
    return any(d["device"] == "cpu" for d in found["devices"])


def gpu_lane_ended(process):
    """Whether the collector has only its main thread, which writes short traces itself, and the one
    that samples the host, which starts after that for GPUs."""
    return len(os.listdir(f"/proc/{harness.collector_of(process)}/task")) == 2


def end(process):
    """A program that waits for SIGTERM."""
    os.kill(process.pid, signal.SIGTERM)
    result = finish(process)
    equal(result.code, 40 + signal.SIGTERM, "exit code", result)
    return result


def run_until_sampled(*options, seen=lambda process: True, **settings):
    """A program that waits until the host has been sampled, and for what else must be `seen`."""
    process = harness.start_anew(program("ends"), "wait", options=options, **settings)
    equal(harness.read_line(process), "ready", "first line")
    wait_until(lambda: has_host(so_far()) and seen(process), "a sample")
    return end(process)


def has_rss(mib, processes=1):
    """Whether so many processes with so much were sampled."""
    return lambda found: sum((p["peak_rss_bytes"] or 0) >= mib * MIB for p in found["processes"]) >= processes


# ---- The host ----------------------------------------------------------------


def test_rss():
    """What was sampled is what the kernel says at the end."""
    result = run_until(lambda found: has_rss(200)(found) and found["processes"][0]["peak_pss_bytes"],
                       program("touches"), 200)
    found = samples(result)
    wanted = int(result.out) * 1024
    [process] = found["processes"]
    check(abs(process["peak_rss_bytes"] - wanted) <= 4 * MIB,
          f"peak RSS {process['peak_rss_bytes']}, the kernel's {wanted}")
    check(0 < process["peak_pss_bytes"] <= wanted, "peak PSS", process)
    equal(process["peak_gpu_bytes"], None, "GPU memory of a program that uses none")
    host = device(found, "cpu")
    check(wanted < host["peak_used_bytes"] < host["total_bytes"], "the system's memory", host)


def test_in_order():
    """Samples stand among the program's events, each in its time."""
    process = start(program("emit"), 20000, 20000, stdin=subprocess.PIPE)
    equal(harness.read_line(process), "20000", "events so far")

    def has_sample_after_events():
        kinds = [e["kind"] for e in harness.dump("t.mled", events=True)["events"]]
        return (kinds.count("alloc"), kinds.count("free"), kinds[-1:]) == (10000, 10000, ["sample"])

    wait_until(lambda: has_host(so_far()) and has_sample_after_events(), "a sample after the first half")
    process.stdin.write("\n")
    trace = finish(process).dump(events=True)
    times = [e["time"] for e in trace["events"]]
    equal(times, sorted(times), "times")
    kinds = [e["kind"] for e in trace["events"]]
    half = [at for at, kind in enumerate(kinds) if kind == "free"][9999]
    check("sample" in kinds[half:kinds.index("alloc", half)], "no sample between the halves",
          trace["kinds"])
    harness.balanced(trace)


def test_rate():
    """The figures of the rate agree, and a slow one ends at once."""
    def host_samples():
        found = report("events", "t.mled", "--kind", "sample")["events"]
        return sum(e["sampled_device"] == "cpu" and "used_bytes" in e for e in found)

    result = run_until_sampled("--sample-hz", "20", seen=lambda process: host_samples() >= 2)
    found = samples(result)
    equal((found["hz_asked"], found["hz_pace"]), (20, 20), "asked")
    seconds = result.dump(events=True)["events"][-1]["time"] / 1e9
    check(2 <= found["taken"] <= 22 + 20 * seconds, f"taken in {seconds} seconds", found)
    check(0 < found["hz_achieved"] < 20.5, "achieved", found)
    check(0 < found["cpu_seconds"] < 1, "time taken", found)
    # The number of samples is not known if the thread was still asleep at the end.
    found = samples(run_until_sampled("--sample-hz", "1"))
    check(found["taken"] >= 1, "the end did not wake the thread", found)


def test_off():
    process = start(program("ends"), "wait", options=["--sample-hz", "0"])
    equal(harness.read_line(process), "ready", "first line")
    wait_until_asleep(harness.collector_of(process), 20, "rounds of the collector")
    result = end(process)
    equal(report("summary", result.trace)["samples"], None, "samples")
    equal(result.dump()["kinds"].get("sample"), None, "samples in the trace")
    check("GPU" not in result.err, "a note on what nobody asked for", result)


def test_many_processes():
    """Each that comes and goes is sampled, or not, and nothing breaks."""
    result = run_until(has_rss(60), "sh", "-c", "for i in $(seq 100); do true; done; " + program("touches") + " 60")
    equal(result.code, 0, "exit code", result)
    most = max(p["peak_rss_bytes"] or 0 for p in samples(result)["processes"])
    check(60 * MIB <= most < 80 * MIB, "the last one's RSS", most)


# ---- Untouched ---------------------------------------------------------------


def test_counts_agree():
    """The closing note and the summary count events and samples alike."""
    result = run_until_sampled()
    note = re.search(r"([\d,]+ events) of 1 process( and [\d,]+ samples?) in ", result.err)
    check(note, "no counts in the closing note", result)
    head = " ".join(plain(harness.MEMLEDGER, "summary", result.trace).stdout.split())
    contains(head, f", {note[1]}{note[2]}, ", "the head of the summary")


def test_sample_only_leaves_alone():
    """The program's environment and libraries are those it has without us."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("MEMLEDGER")}
    env["LD_PRELOAD"] = ""
    without = plain("env", env=env).stdout.splitlines()
    result = run("env", options=["--sample-only"], env=env)
    equal(sorted(result.out.splitlines()), sorted(without), "environment")
    result = run("cat", "/proc/self/maps", options=["--sample-only", "-f"])
    check("memledger" not in result.out, "something of ours in the program", result.out)


def test_sample_only_tree():
    """The program and its children, with what each had and how it ended."""
    result = run_until(has_rss(50, processes=3), program("touches"), 50, 3, options=["--sample-only"])
    equal(result.code, 0, "exit code", result)
    trace = result.dump()
    equal([p["how"] for p in trace["processes"]], ["started"] + 3 * ["forked"], "processes")
    equal([p["parent"] for p in trace["processes"]], [-1, 0, 0, 0], "parents")
    contains(trace["processes"][0]["command"], "touches 50 3", "command")
    equal(trace["kinds"]["process_end"], 4, "ends")
    equal(set(trace["kinds"]), {"sample", "process_end"}, "kinds")
    children = samples(result)["processes"][1:]
    for child in children:
        check(50 * MIB <= child["peak_rss_bytes"] < 60 * MIB, "RSS of a child", child)
    check("--heap" not in result.err, "advice that does not fit", result)


def test_sample_only_meets_each_once():
    """A child that has ended and that nobody waits for is not met again."""
    os.mkfifo("end")
    process = start("sh", "-c", "cat <end & exec cat", stdin=subprocess.PIPE, options=["--sample-only"])
    wait_until(lambda: len(so_far()["processes"]) == 2, "a sample of the child")
    open("end", "w").close()
    wait_until(lambda: harness.dump("t.mled")["kinds"].get("process_end"), "the child's end")
    wait_until_asleep(harness.collector_of(process), 20, "rounds after that")
    trace = finish(process).dump()
    equal(len(trace["processes"]), 2, "processes", trace["processes"])
    equal(trace["kinds"]["process_end"], 2, "ends")


def test_sample_only_status():
    equal(run("sh", "-c", "exit 3", options=["--sample-only"]).code, 3, "exit code")
    equal(report("summary", "t.mled")["processes"][0]["exit_code"], 3, "exit code in the trace")
    result = run("sh", "-c", "kill -9 $$", options=["--sample-only", "-f"])
    equal(result.code, -signal.SIGKILL, "end by a signal")


def test_reports_on_samples_alone():
    result = run_until(has_rss(30), program("touches"), 30, options=["--sample-only"])
    for verb in ("summary", "stats", "events"):
        done = plain(harness.MEMLEDGER, verb, result.trace)
        equal((done.returncode, done.stderr), (0, ""), f"memledger {verb}")
        report(verb, result.trace)
    contains(plain(harness.MEMLEDGER, "events", result.trace).stdout, "of_pid=", "events")
    equal(plain(harness.MEMLEDGER, "compare", result.trace, result.trace).returncode, 0, "compare")
    for files in ([result.trace], [result.trace, result.trace]):
        done = plain(harness.MEMLEDGER, "plot", "-f", *files, "-o", "p.svg")
        equal((done.returncode, done.stderr), (0, ""), "memledger plot")
        with open("p.svg") as f:
            contains(f.read(), "memory in use", "picture")


# ---- GPUs --------------------------------------------------------------------


def gpu_events(result, **wanted):
    """Samples of GPUs that have all these fields."""
    return [e for e in report("events", result.trace, "--kind", "sample")["events"]
            if e["sampled_device"].startswith("cuda:")
            and all(e.get(key) == value for key, value in wanted.items())]


def gpu_bytes(found):
    """The most in use of the first GPU."""
    return max((d["peak_used_bytes"] or 0 for d in found["devices"] if d["device"] == "cuda:0"), default=0)


def go_on(process, where):
    """From that place of uses_gpu."""
    process.stdin.write("\n")
    process.stdin.flush()
    equal(harness.read_line(process), where, "the next place")


def use_gpu(*options, mib=256, until=lambda found: True, **settings):
    """Each of its states is sampled. `until`: what else must have been before the block is freed."""
    process = harness.start_anew(program("uses_gpu"), mib, options=options, env=with_standin(**settings),
                                 stdin=subprocess.PIPE)
    equal(harness.read_line(process), "begun", "the first place")
    before = wait_until(lambda: gpu_bytes(so_far()), "a sample before the block")
    go_on(process, "allocated")
    wait_until(lambda: gpu_bytes(so_far()) >= before + mib * MIB and until(so_far()), "a sample of the block")
    go_on(process, "freed")
    process.stdin.write("\n")
    return finish(process)


def by_process(mib):
    return lambda found: any((p["peak_gpu_bytes"] or 0) > mib * MIB for p in found["processes"])


def test_gpu():
    result = use_gpu("--cuda=off", until=by_process(256))  # without the readings around driver calls
    equal(result.code, 0, "exit code", result)
    found = samples(result)
    equal((found["hz_asked"], found["hz_pace"]), (1000, 1000), "asked")
    check(found["gpu_driver"], "no driver version", found)
    equal([d["device"] for d in found["devices"]], ["cuda:0", "cuda:1", "cpu"], "devices")
    gpu = device(found, "cuda:0")
    check(gpu["name"], "no name", gpu)
    used = [e["used_bytes"] for e in gpu_events(result, sampled_device="cuda:0")
            if "used_bytes" in e]
    equal(max(used), gpu["peak_used_bytes"], "peak")
    equal(max(used) - 256 * MIB in used, True, "the block itself is in the numbers", used)
    [process] = found["processes"]
    check(256 * MIB < process["peak_gpu_bytes"] <= gpu["peak_used_bytes"], "by process", process)
    equal({e["process_bytes"] for e in gpu_events(result, of="processes_not_recorded")}, {0},
          "others")
    check(all(e["pid"] is None or "when" in e for e in gpu_events(result)),
          "the collector's samples are no thread's")
    # Quiet stretches are short in the file: ten times a second, not a thousand.
    check(len(used) < 0.5 * found["taken"] or found["taken"] < 100, "repetitions", len(used), found)


def test_gpu_without_hooks():
    result = use_gpu("--sample-only")
    gpu = device(samples(result), "cuda:0")
    check(gpu["peak_used_bytes"] > 256 * MIB, "peak", gpu)
    done = plain(harness.MEMLEDGER, "plot", "-f", result.trace, "-o", "p.svg")
    equal(done.returncode, 0, "memledger plot", done.stderr)
    with open("p.svg") as f:
        contains(f.read(), "cuda:0", "picture")


def test_truth_in_plot():
    """The driver's word over what was recorded on the same device."""
    use_gpu("--cuda=off")  # or each device has what the driver put there
    equal(plain(harness.MEMLEDGER, "plot", "-f", "t.mled", "-o", "p.svg").returncode, 0, "memledger plot")
    with open("p.svg") as f:
        picture = f.read()
    equal(picture.count("in use, peak"), 1, "lines in the legend")


def test_other_processes():
    """The memory of processes that are not recorded is reported separately."""
    other = subprocess.Popen([program("uses_gpu"), "128"], env=with_standin(), text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def others(trace="t.mled"):
        found = report("events", trace, "--kind", "sample")["events"]
        return max((e["process_bytes"] for e in found if e.get("of") == "processes_not_recorded"
                    and e["sampled_device"] == "cuda:0"), default=0)

    try:
        equal(harness.read_line(other), "begun", "the first place")
        go_on(other, "allocated")
        result = use_gpu(until=lambda found: by_process(256)(found) and others() > 128 * MIB)
    finally:
        other.kill()
        other.communicate()
    check(others(result.trace) > 128 * MIB, "the other's", others(result.trace))
    [process] = samples(result)["processes"]
    check(process["peak_gpu_bytes"] > 256 * MIB, "ours", process)


def test_no_numbers_by_process():
    """Where the driver does not say whose memory it is, nothing is claimed."""
    result = use_gpu(STANDIN_NVML_NO_PROCESSES=1)
    equal(samples(result)["processes"][0]["peak_gpu_bytes"], None, "by process")
    equal(gpu_events(result, of="processes_not_recorded"), [], "others")
    check(device(samples(result), "cuda:0")["peak_used_bytes"] > 256 * MIB, "the device is known")


def test_driver_refuses():
    process = start(program("uses_gpu"), 256, env=with_standin(STANDIN_NVML_FAIL="init"),
                    stdin=subprocess.PIPE)
    equal(harness.read_line(process), "begun", "the first place")
    wait_until(lambda: has_host(so_far()) and gpu_lane_ended(process), "a sample, and the driver's answer")
    process.stdin.write("\n\n\n")
    result = finish(process)
    equal(result.code, 0, "exit code", result)
    contains(result.err, "memledger: no GPU was sampled: the NVIDIA driver refuses", "note")
    equal(result.err.count("GPU was sampled"), 1, "the number of messages")
    equal([d["device"] for d in samples(result)["devices"]], ["cpu"], "devices")


def test_no_driver():
    probe = plain(sys.executable, "-c", "import ctypes; ctypes.CDLL('libnvidia-ml.so.1')")
    if probe.returncode == 0:
        raise harness.Skip("this machine has the driver", machine=True)
    result = run_until_sampled(seen=gpu_lane_ended)
    contains(result.err, "memledger: no GPU was sampled: no NVIDIA driver", "note")
    equal(run("true", options=["-f", "-q"]).err, "", "what a quiet run says")


def test_driver_hangs():
    """Neither the run nor the host's samples wait for a driver that is stuck."""
    result = run_until_sampled(env=with_standin(STANDIN_NVML_HANG_MS=100 * 1000 * harness.PATIENCE_S))
    contains(result.err, "memledger: no GPU was sampled: the NVIDIA driver did not answer", "note")
    check(result.dump()["has_index"], "no footer")
    equal([d["device"] for d in samples(result)["devices"]], ["cpu"], "devices")


# ---- Options -----------------------------------------------------------------


def environment(*options, **more):
    result = run("env", options=["-f", "-q", *options], env=os.environ | more)
    return dict(line.split("=", 1) for line in result.out.splitlines() if "=" in line)


def test_ways_in():
    plain_env, injected = environment(), environment("--cuda", "injection")
    recorder = os.path.join(harness.LIBRARIES, "libmemledger.so")
    contains(plain_env["LD_PRELOAD"], recorder, "preload")
    equal(plain_env["NVTX_INJECTION64_PATH"], recorder, "who gets NVTX ranges")
    check("CUDA_INJECTION64_PATH" not in plain_env, "injection without being asked")
    equal(injected["CUDA_INJECTION64_PATH"], recorder, "injection")
    check("libmemledger" not in injected.get("LD_PRELOAD", ""), "preload beside injection")
    own = environment(NVTX_INJECTION64_PATH="/other.so")
    equal(own["NVTX_INJECTION64_PATH"], "/other.so", "a tool that the user chose")


def test_contradictions():
    for options, word in ((["--sample-only", "--heap"], "untouched"),
                          (["--sample-only", "--sample-hz", "0"], "nothing"),
                          (["--heap", "--cuda", "injection"], "preload"),
                          (["--sample-hz", "10001"], "10000")):
        result = run("true", options=options)
        equal(result.code, 2, f"exit code of {options}", result)
        contains(result.err, word, "message")
    done = plain(harness.MEMLEDGER, "run", "--sample-only")
    equal(done.returncode, 2, "exit code without a program")
    contains(done.stderr, "sleep 60", "message")


harness.main(globals())
