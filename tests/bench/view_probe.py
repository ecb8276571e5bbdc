#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How quickly `memledger view` answers: its first timeline, random zooms, random instants.

Usage: view_probe.py MEMLEDGER TRACE...

Asks the server as the page does, one question after the other. The cache is a new folder, so that a
trace without checkpoints of its own gets them first.
"""
import http.client
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse

QUESTIONS = 200
WIDTH = 1280  # pixels of the page's timeline


class Server:
    """A running `memledger view` of one trace."""

    def __init__(self, memledger, trace, cache):
        self.start = time.monotonic()
        self.process = subprocess.Popen([memledger, "view", "--no-open", trace], text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        env=dict(os.environ, XDG_CACHE_HOME=cache))
        address = urllib.parse.urlsplit(self.process.stdout.readline().strip())
        self.port = address.port
        self.place = address.path.rstrip("/")
        self.token = urllib.parse.parse_qs(address.query)["token"][0]

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()

    def ask(self, verb, **options):
        """@return the answer, and the seconds that it took"""
        start = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        connection.request("GET", "%s/api/%s?%s" % (self.place, verb, urllib.parse.urlencode(
            {"file": 0, **options})), headers={
                "Host": "127.0.0.1:%d" % self.port,
                "Cookie": "memledger-%d=%s" % (self.port, self.token)})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        if answer.status != 200:
            raise ValueError("%s: %d %s" % (verb, answer.status, body[:200]))
        return body, time.monotonic() - start

    def resident_mib(self):
        with open("/proc/%d/status" % self.process.pid, encoding="ascii") as status:
            for line in status:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) / 1024
        return 0


    def children_cpu_s(self):
        """Of the commands that have answered so far."""
        with open("/proc/%d/stat" % self.process.pid, encoding="utf-8") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")

    def ask_all(self, questions):
        """@return the seconds of each (verb, options), and the CPU seconds of one on average"""
        before = self.children_cpu_s()
        seconds = [self.ask(verb, **options)[1] for verb, options in questions]
        return seconds, (self.children_cpu_s() - before) / len(seconds)


def windows(numbers, end_ns):
    """From the whole run down to a millionth of it."""
    for _ in range(QUESTIONS):
        length = max(int(end_ns * 10 ** numbers.uniform(-6, 0)), 1000)
        start = numbers.randrange(max(end_ns - length, 1))
        yield {"from": "%dns" % start, "to": "%dns" % (start + length)}


def probe(memledger, trace):
    """@return {what: seconds or a list of them}, and the server's megabytes"""
    numbers = random.Random(1)
    with tempfile.TemporaryDirectory() as cache, Server(memledger, trace, cache) as server:
        body, plot_s = server.ask("plot", width=WIDTH)
        first_s = time.monotonic() - server.start
        end_ns = json.loads(body)["end_ns"]
        zooms, zoom_cpu_s = server.ask_all(
            [("plot", {"width": WIDTH, "by": numbers.choice(["category", "module"]), **window})
             for window in windows(numbers, end_ns)])
        instants, instant_cpu_s = server.ask_all(
            [("tree", {"at": "%dns" % numbers.randrange(end_ns)}) for _ in range(QUESTIONS)])
        return {"first_s": first_s, "plot_s": plot_s, "zooms": zooms, "instants": instants,
                "zooms_cpu_s": zoom_cpu_s, "instants_cpu_s": instant_cpu_s,
                "server_mib": server.resident_mib()}


def line(figures):
    return ["%.2f" % figures["first_s"], "%.0f" % (1000 * figures["plot_s"]),
            *("%.0f / %.0f / %.0f" % (1000 * statistics.median(figures[what]),
                                      1000 * max(figures[what]), 1000 * figures[what + "_cpu_s"])
              for what in ("zooms", "instants")),
            "%.0f" % figures["server_mib"]]


COLUMNS = ["from view to the timeline's numbers, s", "of it the question, ms",
           "zoom, ms: median / worst / CPU", "instant, ms: median / worst / CPU", "server, MiB"]


def main():
    memledger, *traces = sys.argv[1:]
    print(" | ".join(["trace", *COLUMNS]))
    for trace in traces:
        figures = probe(memledger, trace)
        print(" | ".join([os.path.basename(trace), *line(figures)]), flush=True)


if __name__ == "__main__":
    main()
