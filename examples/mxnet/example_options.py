# SPDX-License-Identifier: Apache-2.0
"""Shared by the examples: their options, and how a run is watched and timed."""
import argparse
import json
import os
import statistics
import sys
import time

ENGINES = {"naive": "NaiveEngine", "threaded": "ThreadedEnginePerDevice"}


def add_engine(parser):
    parser.add_argument("--engine", choices=list(ENGINES), help="threaded unless "
                        "MXNET_ENGINE_TYPE says otherwise")


def choose_engine():
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    add_engine(parser)
    name = parser.parse_known_args()[0].engine
    if name:
        os.environ["MXNET_ENGINE_TYPE"] = ENGINES[name]


choose_engine()  # before MXNet is loaded, because it reads it then

import mxnet
import numpy

from own_counter import OwnCounter, start_profiler

WARM_UP = 3  # steps that do not count in --time


def parse(description, arguments, small, paper, steps, extra=()):
    """Parses the options; arguments None: the command line. small and paper: {option: number},
    the default sizes and those of --paper. extra: (flag, help) of options without a value."""
    parser = argparse.ArgumentParser(description=description, allow_abbrev=False)
    for name, value in small.items():
        parser.add_argument("--" + name, type=int, metavar="N",
                            help=f"{value}; with --paper {paper.get(name, value)}")
    parser.add_argument("--steps", type=int, default=steps, metavar="N", help=str(steps))
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="1")
    parser.add_argument("--paper", action="store_true", help="the sizes of the published model")
    add_engine(parser)
    parser.add_argument("--check-books", action="store_true", help="say after each step, in a line "
                        "of JSON, how many bytes live by MXNet's own counter")
    parser.add_argument("--profiler", choices=["all", "memory"], help="let MXNet's own profiler "
                        "watch the training")
    parser.add_argument("--time", action="store_true", help="end with a line of JSON: "
                        "milliseconds a step")
    for flag, what in extra:
        parser.add_argument(flag, action="store_true", help=what)
    options = parser.parse_args(arguments)
    for name, value in small.items():
        if getattr(options, name) is None:
            setattr(options, name, paper.get(name, value) if options.paper else value)
    return options


def start(options):
    """Sets up MXNet and its watchers, before the first array is created. @return a Watch"""
    watch = Watch(options)
    if mxnet.__version__.startswith("2"):
        mxnet.npx.set_np()
    mxnet.random.seed(options.seed)
    numpy.random.seed(options.seed)  # MXNet's initializers use numpy
    return watch


class Watch:
    """Reports the progress of the training: call step() at the end of each step, and end() at
    the end."""

    def __init__(self, options):
        self.options = options
        self.counter = OwnCounter() if options.check_books else None
        if options.profiler and not self.counter:
            start_profiler(options.profiler, "profile.json")
        self.times, self.cpu_times = [], []
        self._begin()

    def _begin(self):
        self.began, self.cpu_began = time.perf_counter(), time.process_time()

    def step(self, step, name, value):
        """value: a function, because reading the loss waits for it."""
        number = value()
        mxnet.nd.waitall()
        self.times.append(time.perf_counter() - self.began)
        self.cpu_times.append(time.process_time() - self.cpu_began)
        if not self.options.time:
            print(f"step {step} {name} {number:.4f}", flush=True)
        if self.counter:
            print(json.dumps({"step": step, "cpu_bytes": self.counter.live(step)}), flush=True)
        self._begin()

    def end(self):
        if self.counter:
            self.counter.close()
        if not self.options.time:
            return
        counted, cpu = self.times[WARM_UP:], self.cpu_times[WARM_UP:]
        if not counted:
            sys.exit(f"--time needs more than {WARM_UP} steps")
        print(json.dumps({"steps": len(counted), "median_ms": 1e3 * statistics.median(counted),
                          "fastest_ms": 1e3 * min(counted),
                          "cpu_ms": 1e3 * statistics.median(cpu)}), flush=True)
