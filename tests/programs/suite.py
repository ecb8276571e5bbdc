# suite.py: real programs under memledger, compared with themselves alone.
#
#     suite.py --memledger PATH [NAME...]
#
# Ends in "N passed, N failed".
#
# SPDX-License-Identifier: Apache-2.0
import argparse
import glob
import importlib
import os
import sys
import time
import traceback

import usr_bin
from outcome import MODES, RECORDED, Recorder, Failure, check
from stage import folder

WORKLOADS = ("postgresql", "redis", "memcached", "nginx", "node", "java", "languages", "chromium")
# A renderer in its sandbox may ask the system for nothing, so it is recorded only up to there.
MAY_LOSE = {"chromium"}


def play(recorder, name, mode):
    """What was seen of a workload, and how many events were lost."""
    with folder() as path:
        record = lambda part, command: recorder.command(mode, f"{path}/{part}.mled", command)
        seen = importlib.import_module(name).play(record, path)
        traces = glob.glob(f"{path}/*.mled")
        check(MODES[mode] is None or traces, f"no trace of {name} under {mode}")
        # Each run has a folder of its own, which programs name.
        return str(seen).replace(path, "FOLDER"), sum(map(recorder.losses, traces))


def workload(recorder, name):
    alone, _ = play(recorder, name, "bare")
    for mode in RECORDED:
        seen, lost = play(recorder, name, mode)
        check(seen == alone, f"{name} under {mode} differs", seen, "=== alone", alone)
        check(lost == 0 or name in MAY_LOSE, f"{name} under {mode}: {lost} events lost")
        print(f"{name}: equal under {mode}, {lost} events lost", flush=True)
    return True


def passes(recorder, name):
    began = time.monotonic()
    try:
        ok = usr_bin.play(recorder) if name == "usr_bin" else workload(recorder, name)
    except Failure as failure:
        print(failure)
        ok = False
    except Exception:
        traceback.print_exc()
        ok = False
    print(f"{'ok' if ok else 'FAILED'}: {name} ({time.monotonic() - began:.0f} s)", flush=True)
    return ok


def main():
    everything = (*WORKLOADS, "usr_bin")
    parser = argparse.ArgumentParser()
    parser.add_argument("--memledger", required=True)
    parser.add_argument("names", nargs="*", default=everything, metavar="NAME")
    options = parser.parse_args()
    for name in options.names:
        if name not in everything:
            parser.error(f"no program '{name}'; known: {' '.join(everything)}")
    recorder = Recorder(os.path.abspath(options.memledger))
    results = [passes(recorder, name) for name in options.names]
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
