# lab.py: shared by the checks on a GPU: how they are found, what they run, and where.
#
# SPDX-License-Identifier: Apache-2.0
import importlib.util
import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PATIENCE_S = 180

CHECKS = []


class Skip(Exception):
    pass


class Missed(Exception):
    """A target that nobody could reach on this machine, with the figures that say so."""


def check(function):
    CHECKS.append(function)
    return function


def need_module(name):
    if importlib.util.find_spec(name) is None:
        raise Skip(f"there is no Python module {name}")


def need_program(name):
    path = shutil.which(name) or shutil.which(name, path="/usr/local/cuda/bin")
    if not path:
        raise Skip(f"there is no {name}")
    return path


def execute(command, env=None, **settings):
    done = subprocess.run([str(c) for c in command], text=True, capture_output=True,
                          timeout=PATIENCE_S, env=os.environ | (env or {}), **settings)
    return done


def must(command, env=None):
    done = execute(command, env)
    if done.returncode:
        raise AssertionError(f"{' '.join(map(str, command))}: exit code {done.returncode}\n"
                             f"{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done


def script(name):
    return [sys.executable, os.path.join(HERE, name)]


class Lab:
    """Paths of what was built, and a folder for what is made."""

    def __init__(self, options):
        self.memledger = os.path.abspath(options.memledger)
        self.vgg19 = os.path.abspath(options.vgg19)
        self.folder = os.path.abspath(options.folder)
        os.makedirs(self.folder, exist_ok=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def record(self, name, command, *options, env=None, fails=False):
        """Records a program; its trace and what it printed."""
        trace = self.path(name + ".mled")
        done = execute([self.memledger, "run", "-f", "-q", "-o", trace, *options, "--", *command],
                       env)
        if done.returncode and not fails:
            raise AssertionError(f"{name}: exit code {done.returncode}\n{done.stdout[-2000:]}"
                                 f"{done.stderr[-3000:]}")
        return trace, done

    def report(self, verb, trace, *options):
        return json.loads(must([self.memledger, verb, trace, "--json", *options]).stdout)

    def ledger(self, trace, instant):
        """The book of the first GPU."""
        devices = self.report("ledger", trace, "--at", instant)["devices"]
        gpus = [d for d in devices if d["device"].startswith("cuda:")]
        assert gpus, f"{trace}: no GPU in the ledger: {devices}"
        return gpus[0]


def mib(number):
    return f"{number / (1 << 20):,.1f} MiB"


def blocks_of(lab, trace):
    """The figures of the blocks on the first GPU that has some."""
    devices = lab.report("summary", trace)["by_device"]
    found = [level for d in devices if d["device"].startswith("cuda:")
             for level in d["levels"] if level["level"] == "block"]
    assert found, f"{trace}: no blocks on a GPU: {devices}"
    return found[0]


def segment_bytes(book):
    """What PyTorch holds of the driver's memory: with blocks inside, or by who asked."""
    entries = {e["name"]: e for e in book["entries"]}
    empty = entries.get("driver allocations", {}).get("entries", [])
    return (entries["blocks"]["bytes"] +
            sum(e["bytes"] for e in empty if e["name"] == "PyTorch"))
