# usr_bin.py: every program of /usr/bin, asked for its version.
#
# Each runs twice alone, since some say something the first time only. One that prints other
# numbers each time is compared without them. What a program says under memledger it may also say
# alone, another time: groff's two children print in any order. One that does not end by itself in
# a few seconds, or cannot be started, cannot be compared, and is named.
#
# SPDX-License-Identifier: Apache-2.0
import os
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor

from outcome import RECORDED, observe

FOLDER = "/usr/bin"
ALONE_S = 20
TRIES_ALONE = 20
RECORDED_S = 600  # long: this only ends what hangs
# These stop or restart the machine, or the session that asks.
DANGEROUS = {"reboot", "shutdown", "halt", "poweroff", "telinit", "init", "loginctl", "unminimize"}
# They print how much of /dev/shm is free, and the session's page is there.
PRINT_FREE_SPACE = {"chromium", "gnome-www-browser", "x-www-browser"}


def programs():
    for name in sorted(os.listdir(FOLDER)):
        path = os.path.join(FOLDER, name)
        if os.path.isfile(path) and os.access(path, os.X_OK) and name not in DANGEROUS:
            yield path


class Sweep:
    def __init__(self, recorder):
        self.recorder = recorder
        self.equal, self.different, self.lost = [], [], 0
        self.endless, self.not_started = [], []

    def run_once(self, path, mode, folder, timeout_s):
        """Each run finds the same empty folder, since programs print where they are."""
        work = os.path.join(folder, "work")
        shutil.rmtree(work, ignore_errors=True)
        os.mkdir(work)
        trace = os.path.join(folder, "t.mled")
        environment = dict(os.environ, HOME=work, TERM="dumb", LC_ALL="C", PERL_HASH_SEED="0",
                           PYTHONHASHSEED="0")
        return observe(self.recorder.command(mode, trace, [path, "--version"]), timeout_s,
                       cwd=work, env=environment)

    def compare(self, path, mode, folder, alone):
        got = self.run_once(path, mode, folder, RECORDED_S)
        if not alone[0].same_as(alone[1]) or os.path.basename(path) in PRINT_FREE_SPACE:
            got, alone = got.without_numbers(), [a.without_numbers() for a in alone]
        if not any(map(got.same_as, alone)) and not self.also_alone(path, folder, got):
            self.different.append(f"{path} under {mode}:\n{got}\n=== alone\n{alone[1]}")
            return False
        self.lost += self.recorder.losses(os.path.join(folder, "t.mled"))
        return True

    def also_alone(self, path, folder, got):
        """Whether it says this by itself too, at another time; numbers count if they stay."""
        runs = [self.run_once(path, "bare", folder, ALONE_S) for _ in range(TRIES_ALONE)]
        if not all(map(runs[0].same_as, runs)):
            got, runs = got.without_numbers(), [run.without_numbers() for run in runs]
        return any(map(got.same_as, runs))

    def one(self, path):
        with tempfile.TemporaryDirectory(prefix="programs-") as folder:
            try:
                alone = [self.run_once(path, "bare", folder, ALONE_S) for _ in range(2)]
            except OSError: # a part of a script, say, which is marked as a program
                self.not_started.append(path)
                return
            if None in [a.code for a in alone]:
                self.endless.append(path)
                return
            if all([self.compare(path, mode, folder, alone) for mode in RECORDED]):
                self.equal.append(path)


def play(recorder):
    sweep = Sweep(recorder)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for _ in pool.map(sweep.one, programs()):
            pass
    for text in sweep.different:
        print(text)
    for what, paths in (("do not end by themselves", sweep.endless),
                        ("cannot be started", sweep.not_started)):
        if paths:
            print(f"{what}: {' '.join(map(os.path.basename, paths))}")
    compared = len(sweep.equal) + len({d.split()[0] for d in sweep.different})
    print(f"{FOLDER}: {len(sweep.equal)} of {compared} programs equal under "
          f"{', '.join(RECORDED)}; {sweep.lost} events lost")
    return not sweep.different and sweep.lost == 0
