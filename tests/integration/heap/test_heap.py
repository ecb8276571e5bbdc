#!/usr/bin/env python3
"""The host heap: small programs do known things, and the trace must show the same.

usage: test_heap.py MEMLEDGER PROGRAMS CASE
    MEMLEDGER  the command
    PROGRAMS   the folder with the heap_* programs
    CASE       one of those below

SPDX-License-Identifier: Apache-2.0
"""
import collections
import glob
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
PATIENCE_S = 600  # only ends what hangs
MEMLEDGER, PROGRAMS, CASE = sys.argv[1:4]
SOURCES = os.path.dirname(os.path.abspath(__file__))


class Skip(Exception):
    pass


def program(name):
    return os.path.join(PROGRAMS, name)


class Run:
    """A program under `memledger run`, and the events of its trace."""

    def __init__(self, *command, heap="--heap", status=0, preload=None, limit_as=None):
        env = dict(os.environ)
        if preload:
            env["LD_PRELOAD"] = preload
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "heap.mled")
            done = subprocess.run(
                [MEMLEDGER, "run", "-q", "-o", trace] + ([heap] if heap else []) +
                ["--"] + (limited(limit_as) if limit_as else []) + list(command),
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, timeout=PATIENCE_S)
            self.command, self.preload = command, preload
            self.out, self.err = done.stdout.decode(), done.stderr.decode()
            check(done.returncode == status,
                  "exit status %d, not %d\n%s%s" % (done.returncode, status, self.out, self.err))
            self.events = report("events", trace)
            self.summary = report("summary", trace)
        if isinstance(self.events, dict):
            self.events = self.events["events"]
        check(self.summary["lost"] == 0, "%d events lost" % self.summary["lost"])

    def check_unharmed(self):
        """Without the recorder the program says the same."""
        env = dict(os.environ, **({"LD_PRELOAD": self.preload} if self.preload else {}))
        plain = subprocess.run(self.command, stdout=subprocess.PIPE, env=env).stdout.decode()
        check(plain == self.out, "without the recorder:\n%s\nwith it:\n%s" % (plain, self.out))

    def kinds(self, kind):
        return [e for e in self.events if e["kind"] == kind]


def report(what, trace):
    text = subprocess.run([MEMLEDGER, what, "--json", trace], stdout=subprocess.PIPE, check=True,
                          timeout=PATIENCE_S).stdout
    return json.loads(text)


def limited(address_space):
    """A command in front of a command: less room for what follows."""
    return ["/bin/sh", "-c", "ulimit -v %d && exec \"$0\" \"$@\"" % (address_space // 1024)]


class Books:
    """What a trace says about blocks, by their size."""

    def __init__(self, events, space):
        self.live = {}
        self.allocated = collections.Counter()
        self.gone = collections.Counter()
        self.moved = {}
        self.unknown = []  # frees of what was never allocated
        for event in events:
            if event.get("space") == space:
                getattr(self, "on_" + event["kind"])(event)

    @staticmethod
    def key(event):
        return event["pid"], int(event["address"], 16)

    def on_alloc(self, event):
        self.live[self.key(event)] = event["bytes"]
        self.allocated[event["bytes"]] += 1

    def on_oom(self, event):
        """Nothing was given."""

    def on_free(self, event):
        size = self.live.pop(self.key(event), None)
        if size is not None:
            self.gone[size] += 1
        else:
            self.unknown.append(event)

    def on_move(self, event):
        self.moved[self.key(event)] = self.live.get(self.key(event))
        self.on_free(event)

    def on_move_failed(self, event):
        size = self.moved[self.key(event)]
        self.live[self.key(event)] = size
        self.gone[size] -= 1

    def on_free_range(self, event):
        pid, begin = self.key(event)
        end = begin + event["bytes"]
        for (other, at), size in list(self.live.items()):
            if other != pid or at >= end or at + size <= begin:
                continue
            del self.live[other, at]
            if at < begin:
                self.live[other, at] = begin - at
            if at + size > end:
                self.live[other, end] = at + size - end
            if at >= begin and at + size <= end:
                self.gone[size] += 1

    def live_bytes(self, begin, end):
        return sum(max(0, min(at + size, end) - max(at, begin))
                   for (_, at), size in self.live.items())


def check(condition, what):
    if not condition:
        sys.exit("FAILED: " + what)


def check_expected(run, space="malloc"):
    """Compares the program's account of itself with the trace."""
    books = Books(run.events, space)
    seen = 0
    for line in run.out.splitlines():
        word, *numbers = line.split()
        if word == "expect":
            size, allocated, gone = map(int, numbers)
            got = books.allocated[size], books.gone[size]
            check(got == (allocated, gone), "%d bytes: %d allocated and %d gone, not %d and %d" %
                  (size, got[0], got[1], allocated, gone))
            seen += 1
        elif word in ("range", "empty"):
            begin, end = (int(n, 16) for n in numbers)
            wanted = end - begin if word == "range" else 0
            got = books.live_bytes(begin, end)
            check(got == wanted, "%s: %d bytes live, not %d" % (line, got, wanted))
            seen += 1
    check(seen, "the program told nothing:\n" + run.out)
    if len(run.summary["processes"]) == 1:
        check(not books.unknown, "freed twice, or never allocated: %s" % books.unknown[:1])


# ---- Cases --------------------------------------------------------------------


def case_calls():
    run = Run(program("heap_calls"), status=7)
    check_expected(run)
    run.check_unharmed()
    check(len(run.kinds("move_failed")) == 1, "one realloc failed")


def case_off():
    """The plain recorder does not look at the heap."""
    run = Run(program("heap_calls"), heap=None, status=7)
    check(not run.kinds("alloc"), "allocations without --heap")


def case_threads():
    check_expected(Run(program("heap_threads")))


def case_processes():
    run = Run(program("heap_processes"))
    check_expected(run)
    # Two forked children that each fork one, two that exec, the program itself, which ends as
    # another. The vforked child that only exits is nobody.
    check(len(run.summary["processes"]) == 8, "%d processes" % len(run.summary["processes"]))


def case_signals():
    run = Run(program("heap_signals"))
    check_expected(run)
    scopes = int(run.out.split("scopes")[1])
    check(len(run.kinds("push")) == scopes, "%d scopes, not %d" % (len(run.kinds("push")), scopes))


def case_dlopen():
    check_expected(Run(program("heap_dlopen"), program("libheap_plugin.so")))


def case_linked():
    check_expected(Run(program("heap_linked")))


def case_cxx():
    check_expected(Run(program("heap_cxx")))
    check_expected(Run(program("heap_cxx_main"), program("libheap_cxx.so")))
    check_expected(Run(program("heap_cxx_main"), program("libheap_cxx.so"), "global"))


def case_maps():
    check_expected(Run(program("heap_maps"), heap="--heap=all"), "mmap")
    run = Run(program("heap_maps"))
    check(not any(e.get("space") == "mmap" for e in run.events), "mappings without --heap=all")


def find_library(pattern):
    for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"):
        found = sorted(glob.glob(os.path.join(folder, pattern)))
        if found:
            return found[0]
    raise Skip("no %s here" % pattern)


def build(folder, library, *sources):
    """A program that has the library among its own."""
    cxx = any(s.endswith(".cc") for s in sources)
    compiler = shutil.which("c++" if cxx else "cc")
    if not compiler:
        raise Skip("no compiler")
    path = os.path.join(folder, "linked")
    subprocess.run([compiler, "-O1", "-D_GNU_SOURCE", "-o", path] +
                   [os.path.join(SOURCES, s) for s in sources] + [library, "-ldl", "-lpthread"],
                   check=True)
    return path


def allocator(pattern, *args):
    """An allocator beside libc's: loaded behind the recorder, and linked."""
    library = find_library(pattern)
    for heap in "--heap", "--heap=all":
        run = Run(program("heap_calls"), *args, status=7, preload=library, heap=heap)
        check_expected(run)
        run.check_unharmed()
        check_expected(Run(program("heap_threads"), preload=library, heap=heap))
    with tempfile.TemporaryDirectory() as folder:
        check_expected(Run(build(folder, library, "heap_calls.c"), *args, status=7))
        check_expected(Run(build(folder, library, "heap_processes.c")))
        if shutil.which("c++"):
            check_expected(Run(build(folder, library, "heap_cxx.cc", "heap_new_delete.cc")))
    if os.path.exists(program("heap_cxx")):
        check_expected(Run(program("heap_cxx"), preload=library))


def case_jemalloc():
    allocator("libjemalloc.so.*", "nopvalloc")


def case_tcmalloc():
    allocator("libtcmalloc_minimal.so.*")


def case_static():
    """A statically linked program cannot be recorded: a note says so, and it runs."""
    run = Run(program("heap_static"), status=7)
    check("statically linked" in run.err, "no word about static linking: " + run.err)


def case_own_malloc():
    run = Run(program("heap_own_malloc"))
    check(run.out == "own malloc\n", run.out)
    check(run.err.count("the heap is not recorded") == 1, "no word about the own malloc: " + run.err)
    run = Run("sh", "-c", 2 * (program("heap_own_malloc") + ";"))
    check(run.err.count("the heap is not recorded") == 1, "not once a run: " + run.err)
    # A program that only takes malloc's address calls the recorder's all the same.
    run = Run(program("heap_address"))
    check(not run.err, run.err)
    check_expected(run)


def case_sanitizer(name, mistake, status, words):
    """A program that is built with a sanitizer runs, is recorded, and has its mistakes reported."""
    for heap in (None, "--heap", "--heap=all"):
        run = Run(program("sanitized_" + name), heap=heap)
        check(run.out == "1\n" and not run.err, run.out + run.err)
        sizes = collections.Counter(e["bytes"] for e in run.events if e["kind"] == "alloc")
        for size in (71001, 71002, 71003):
            check(sizes[size] == (1 if heap else 0), "%d of %d bytes" % (sizes[size], size))
        run = Run(program("sanitized_" + name), mistake, heap=heap, status=status)
        check(words in run.err, "no report: " + run.err)
        # Whoever allocated it is found through the recorder's hook.
        allocated = run.err.lower().split("allocated by")[-1] if mistake == "after-end" else run.err
        check("main" in allocated.split("#3")[0], "no caller in the report: " + run.err)


def case_sanitizer_address():
    case_sanitizer("address", "after-end", 1, "AddressSanitizer: heap-use-after-free")


def case_sanitizer_leak():
    case_sanitizer("leak", "leak", 23, "LeakSanitizer: detected memory leaks")


def case_sanitizer_thread():
    case_sanitizer("thread", "after-end", 66, "ThreadSanitizer: heap-use-after-free")


def case_limited():
    """With little address space left the program goes on, recorded or not."""
    for megabytes in 40, 100, 400:
        address_space = megabytes << 20
        done = subprocess.run(limited(address_space) + [program("heap_calls")],
                              stdout=subprocess.PIPE)
        Run(program("heap_calls"), status=done.returncode, limit_as=address_space)


def case_refused():
    """What finds no memory is an event, with the size that was asked for; errno is kept."""
    run = Run(program("heap_refused"))
    run.check_unharmed()
    huge, most = 1 << 46, (1 << 64) - 1
    check([e["bytes"] for e in run.kinds("oom")] ==
          [huge, 2 * huge, most, huge + 1, huge + 64, huge + 128],
          "refusals: %s" % run.kinds("oom"))
    check(run.summary["out_of_memory"] == 6, "the summary does not count them")
    check(run.summary["health"]["unknown_frees"] == 0, "a refused realloc lost its block")


def main():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        globals()["case_" + CASE]()
    except Skip as reason:
        print("skipped:", reason)
        sys.exit(SKIPPED)


main()
