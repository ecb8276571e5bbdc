#!/usr/bin/env python3
# followed_run.py: a long recording with `live` and `metrics` beside it.
#
#     followed_run.py memory MEMLEDGER BENCH_MALLOC [--events N] [--slots N] [--rate N]
#     followed_run.py speed MEMLEDGER BENCH_MALLOC [--turns N] [--seconds S] [--slots N] [--rate N]
#
# `memory` prints what the followers and the recorder use at the start and at the end of the run.
# `speed` switches the followers on and off in turns beside one program with a constant rate of
# events, and compares the program's CPU time with that in the two turns around it, so that drift
# cancels out.
#
# SPDX-License-Identifier: Apache-2.0
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

from row_live import Live, Metrics, collector_of, cpu_s


class Context:
    def __init__(self, memledger):
        self.memledger = memledger


def resident_kib(pid):
    with open(f"/proc/{pid}/status") as file:
        return next((int(line.split()[1]) for line in file if line.startswith("VmRSS")), 0)


def start(options, *program):
    run = subprocess.Popen([options.memledger, "run", "-q", "-f", "--heap", "-o", "t.mled", "--",
                            *map(str, program)], stdout=subprocess.DEVNULL)
    time.sleep(2)
    return run


def memory(options):
    rate = ["--rate", options.rate] if options.rate else []
    run = start(options, options.program, "--events", options.events, "--slots", options.slots, *rate)
    collector = collector_of(run.pid)
    context = Context(options.memledger)
    looks = {"live": Live(context, "t.mled"), "metrics": Metrics(context, "t.mled")}
    pids = {name: look.pid for name, look in looks.items()} | {"recorder": collector}
    time.sleep(5)
    seen, begin = [], time.monotonic()
    while run.poll() is None and os.path.exists(f"/proc/{collector}/status"):
        try:
            seen.append({name: (resident_kib(pid), cpu_s(pid)) for name, pid in pids.items()})
        except (FileNotFoundError, ProcessLookupError):
            break
        time.sleep(1)
    wall = time.monotonic() - begin
    for look in looks.values():
        look.end()
    run.wait()
    seen = [s for s in seen if all(kib for kib, _ in s.values())]
    if not seen:
        raise SystemExit("followed_run.py: the program ended within seconds; it needs more --events")
    print(f"{options.events} events, {options.slots} slots, {wall:.0f} s, "
          f"{os.path.getsize('t.mled') / 1e6:.0f} MB")
    for name in pids:
        kib = [s[name][0] for s in seen]
        tenth = max(1, len(kib) // 10)
        print(f"{name:9} RSS KiB: after 5 s {kib[0]}, mean of the first tenth "
              f"{statistics.mean(kib[:tenth]):.0f}, of the last {statistics.mean(kib[-tenth:]):.0f}, "
              f"most {max(kib)}; CPU {100 * (seen[-1][name][1] - seen[0][name][1]) / wall:.2f} % of a core")
    print(f"exit code of the run: {run.returncode}")


def await_calm(pids):
    """Until the followers have caught up."""
    while True:
        before = sum(map(cpu_s, pids))
        time.sleep(1)
        if sum(map(cpu_s, pids)) - before < 0.3:
            return


def cpu_share(pid, seconds):
    before, begin = cpu_s(pid), time.monotonic()
    time.sleep(seconds)
    return (cpu_s(pid) - before) / (time.monotonic() - begin)


def program_of(run):
    with open(f"/proc/{run.pid}/task/{run.pid}/children") as file:
        children = map(int, file.read().split())
    return next(pid for pid in children if pid != collector_of(run.pid))


def speed(options):
    run = start(options, options.program, "--events", 1 << 60, "--slots", options.slots, "--rate",
                options.rate or 1_000_000)
    program, context, shares = program_of(run), Context(options.memledger), []
    for turn in range(2 * options.turns + 1):
        looks = [Live(context, "t.mled"), Metrics(context, "t.mled")] if turn % 2 else []
        await_calm([look.pid for look in looks])
        shares.append(cpu_share(program, options.seconds))
        for look in looks:
            look.end()
    run.terminate()  # not SIGINT, which a shell ignores for programs in the background
    run.wait()
    ratios = [2 * shares[i] / (shares[i - 1] + shares[i + 1]) for i in range(1, len(shares), 2)]
    print(f"the program's share of a core: without {100 * statistics.median(shares[::2]):.2f} %, "
          f"with live and metrics {100 * statistics.median(shares[1::2]):.2f} %")
    print(f"with / neighbours without: median {statistics.median(ratios):.4f}, "
          f"of {len(ratios)}: {' '.join(f'{r:.3f}' for r in sorted(ratios))}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["memory", "speed"])
    parser.add_argument("memledger", type=os.path.abspath)
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--events", type=int, default=1_000_000_000)
    parser.add_argument("--slots", type=int, default=100_000)
    parser.add_argument("--rate", type=int, default=0)
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=4)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        {"memory": memory, "speed": speed}[options.what](options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
