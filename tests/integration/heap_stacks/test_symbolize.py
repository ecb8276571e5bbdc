#!/usr/bin/env python3
# test_symbolize.py: source lines and inlined functions of native stacks: after a run, from separate
# debug files, on another machine.
#
# SPDX-License-Identifier: Apache-2.0
import functools
import glob
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import harness
from harness import check, contains, equal, plain, report, run

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "inlined_callers.cc")
OPTIONS = ["-q", "-f", "--heap", "--stacks=native", "--sample-hz=0"]
BYTES = 54321


def line_of(mark):
    with open(SOURCE) as file:
        return next(i for i, line in enumerate(file, 1) if f"/* {mark} */" in line)


INLINED = [("shop::Basket::inner(unsigned long)", line_of("malloc")),
           ("shop::Basket::middle(unsigned long)", line_of("inner")),
           ("shop::Basket::outer(unsigned long)", line_of("middle")),
           ("main", line_of("outer"))]


@functools.cache
def built(*options):
    folder = tempfile.TemporaryDirectory()
    path = os.path.join(folder.name, "program")
    subprocess.run(["c++", "-O2", "-g", "-Wl,--build-id", *options, "-o", path, SOURCE], check=True)
    return folder, path


def build(name, *options):
    return os.path.abspath(shutil.copy(built(*options)[1], name))


def split(program, debug):
    """Moves the program's debug information to a file of its own."""
    os.makedirs(os.path.dirname(debug), exist_ok=True)
    for command in (["objcopy", "--only-keep-debug", program, debug],
                    ["strip", program]):
        subprocess.run(command, check=True)


def build_id(program):
    out = subprocess.run(["readelf", "-n", program], check=True, capture_output=True, text=True).stdout
    return out.split("Build ID: ")[1].split()[0]


def frames(trace="t.mled"):
    for event in report("events", trace, "--kind", "alloc")["events"]:
        if event["bytes"] == BYTES:
            return event["stack"]
    raise harness.Failure(f"no allocation of {BYTES} bytes")


def has_lines(trace="t.mled"):
    found = frames(trace)
    equal([(f["function"], f.get("line")) for f in found[:len(INLINED)]], INLINED, "frames", found)
    for frame in found[:len(INLINED)]:
        equal(os.path.basename(frame["file"]), os.path.basename(SOURCE), "file", frame)


def has_no_lines(trace="t.mled"):
    check(all("line" not in f for f in frames(trace)[:2]), "lines without debug information",
          frames(trace))


def symbolize(*options, trace="t.mled"):
    done = plain(harness.MEMLEDGER, "symbolize", *options, trace)
    equal(done.returncode, 0, "symbolize", done.stderr)
    return done.stderr


def test_after_a_run():
    equal(run(build("program"), options=OPTIONS).code, 0, "the program")
    has_lines()
    equal(frames()[len(INLINED)]["library"].rpartition("/")[2], "libc.so.6", "the caller of main")
    table = plain(harness.MEMLEDGER, "table", "--by", "stack", "t.mled").stdout
    contains(table, f"(inlined_callers.cc:{line_of('malloc')})", "the table")


def test_later_and_again():
    run(build("program"), options=OPTIONS + ["--symbols=off"])
    size = os.path.getsize("t.mled")
    equal(frames()[0]["function"], "shop::Basket::outer(unsigned long)", "the recorded name")
    has_no_lines()
    contains(symbolize(), "have a source line", "the note")
    has_lines()
    grown = os.path.getsize("t.mled")
    check(grown > size, "the trace did not grow")
    symbolize()
    has_lines()
    equal(os.path.getsize("t.mled"), grown, "size after the second time")
    equal(report("summary", "t.mled")["health"]["cut_short"], False, "cut short")


def test_elsewhere():
    """Neither the program nor its debug file is where it was."""
    program = build("program")
    run(program, options=OPTIONS + ["--symbols=off"])
    number = build_id(program)
    split(program, f"debug/.build-id/{number[:2]}/{number[2:]}.debug")
    symbolize()
    has_no_lines()
    symbolize("--debug-dir", "debug")
    has_lines()
    os.makedirs("root" + os.path.dirname(program))
    shutil.move(program, "root" + program)
    symbolize("--debug-dir", "debug")
    has_lines()
    contains(symbolize(), "is not here, or is another build", "the note")
    has_no_lines()
    symbolize("--sysroot", os.path.abspath("root"), "--debug-dir", "debug")
    has_lines()


def test_debuglink():
    program = build("program")
    run(program, options=OPTIONS + ["--symbols=off"])
    split(program, os.path.abspath(".debug/program.debug"))
    subprocess.run(["objcopy", "--add-gnu-debuglink=.debug/program.debug", program], check=True)
    symbolize()
    has_lines()


class DebugServer:
    """A real debuginfod that has the files of a folder."""

    def __init__(self, folder):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self.command = ["debuginfod", "-F", "-p", str(port), "-d", ":memory:", "-t", "1", folder]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, env=os.environ | {"DEBUGINFOD_URLS": ""})
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=harness.PATIENCE_S)

    def wait_for(self, number):
        def is_there():
            try:
                with urllib.request.urlopen(f"{self.url}/buildid/{number}/debuginfo", timeout=5) as answer:
                    return answer.status == 200
            except OSError:
                return False

        harness.wait_until(is_there, "a debuginfod that has the file")


def asking(url, cache):
    return os.environ | {"DEBUGINFOD_URLS": url, "DEBUGINFOD_CACHE_PATH": os.path.abspath(cache)}


def test_server_of_debug_files():
    if not shutil.which("debuginfod"):
        raise harness.Skip("no debuginfod here")
    program = build("program")
    run(program, options=OPTIONS + ["--symbols=off"])
    number = build_id(program)
    split(program, os.path.abspath("served/program.debug"))
    symbolize()
    has_no_lines()
    with DebugServer(os.path.abspath("served")) as server:
        server.wait_for(number)
        equal(plain(harness.MEMLEDGER, "symbolize", "t.mled", env=asking(server.url, "cache")).returncode, 0,
              "symbolize")
        has_lines()
        check(glob.glob(f"cache/{number}/debuginfo"), "the file is kept")
        # After a run as well.
        run(program, options=OPTIONS, env=asking(server.url, "cache2"))
        has_lines()
    # Without the server its cache serves.
    symbolize()
    has_no_lines()
    done = plain(harness.MEMLEDGER, "symbolize", "t.mled", env=asking(server.url, "cache"))
    equal(done.returncode, 0, "symbolize", done.stderr)
    has_lines()


def test_server_that_is_not_there():
    program = build("program")
    run(program, options=OPTIONS + ["--symbols=off"])
    split(program, os.path.abspath("elsewhere/program.debug"))
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = "http://127.0.0.1:%d" % free.getsockname()[1]
    done = plain(harness.MEMLEDGER, "symbolize", "t.mled", env=asking(url, "cache"))
    equal(done.returncode, 0, "symbolize", done.stderr)
    contains(done.stderr, f"the servers of DEBUGINFOD_URLS ({url}) have no debug files of", "the note")
    has_no_lines()


def test_server_that_does_not_answer():
    """It accepts connections and says nothing. Each library would wait for it."""
    program = build("program")
    run(program, options=OPTIONS + ["--symbols=off"])
    split(program, os.path.abspath("elsewhere/program.debug"))
    with socket.create_server(("127.0.0.1", 0), backlog=64) as silent:
        url = "http://127.0.0.1:%d" % silent.getsockname()[1]
        env = asking(url, "cache") | {"DEBUGINFOD_TIMEOUT": "1"}
        done = plain(harness.MEMLEDGER, "symbolize", "t.mled", env=env)
    equal(done.returncode, 0, "symbolize", done.stderr)
    contains(done.stderr, "cannot be reached", "the note")


def test_another_build():
    """Lines of a program that was built again would be wrong."""
    run(build("program"), options=OPTIONS + ["--symbols=off"])
    build("program", "-DANOTHER", "-O1")
    contains(symbolize(), "is not here, or is another build", "the note")
    has_no_lines()


def test_damaged_debug_information():
    """A library cannot harm the trace."""
    program = build("program")
    run(program, options=OPTIONS + ["--symbols=off"])
    headers = subprocess.run(["readelf", "-SW", program], check=True, capture_output=True,
                             text=True).stdout
    row = next(line for line in headers.splitlines() if " .debug_info " in line)
    offset, size = (int(word, 16) for word in row.partition(".debug_info")[2].split()[2:4])
    with open(program, "r+b") as file:
        file.seek(offset + 16)
        file.write(bytes((i * 37 + 11) % 256 for i in range(size - 16)))
    symbolize()
    contains(frames()[0]["function"], "outer", "the name")


def test_what_cannot_be_done():
    with open("empty.mled", "wb"):
        pass
    equal(plain(harness.MEMLEDGER, "symbolize", "empty.mled").returncode, 1, "an empty file")
    run(build("program"), options=OPTIONS + ["--symbols=off"])
    with open("t.mled", "r+b") as file:
        file.truncate(os.path.getsize("t.mled") - 40)
    done = plain(harness.MEMLEDGER, "symbolize", "t.mled")
    equal(done.returncode, 1, "a truncated file")
    contains(done.stderr, "no proper end", "the error")


harness.main(globals())
