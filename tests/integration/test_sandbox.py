#!/usr/bin/env python3
# test_sandbox.py: programs whose seccomp filter kills them for system calls that only the
# recorder would make. They end as without memledger, and what could not be recorded is counted.
#
# SPDX-License-Identifier: Apache-2.0
import functools
import subprocess

import harness
from harness import check, collector_of, contains, equal, finish, plain, program, read_line, run, start
from kernel_counts import wait_until_asleep

WAYS = ("prctl", "syscall")
MODES = ((), ("--heap",), ("--heap=all",))

# Calls that neither the program nor libc makes here, and the recorder makes somewhere.
RECORDERS_OWN = ("memfd_create", "socket", "sendmsg", "nanosleep,clock_nanosleep", "prctl", "openat",
                 "gettid", "getpid,getppid", "ftruncate,fcntl", "readlink,process_vm_readv")

# More than a ring has room for.
OVERFLOW = 100000


def same(*arguments, options=(), code=3, out="done\n"):
    """Runs it with and without memledger."""
    command = [program("sandbox_itself"), *arguments]
    done = plain(*command)
    equal((done.returncode, done.stdout), (code, out), f"without memledger: {arguments}",
          done.stderr)
    result = run(*command, options=("-f", *options))
    equal((result.code, result.out), (done.returncode, done.stdout),
          f"{arguments} with {options or 'no options'}", result)
    return result


def events_of(result):
    """Those that are in the trace, and those that were lost."""
    trace = result.dump()
    return trace["kinds"].get("alloc", 0) + trace["kinds"].get("free", 0) + trace["lost"]


@functools.cache
def events_without_filter(actions, options):
    result = run(program("sandbox_itself"), "none", "none", *actions, options=("-f", *options))
    equal((result.code, result.dump()["lost"]), (3, 0), f"{actions} without a filter", result)
    return events_of(result)


def all_counted(way, restriction, *actions, options=()):
    """Each event is in the trace or among the lost."""
    events = events_without_filter(actions, options)
    result = same(way, restriction, *actions, options=options)
    equal(events_of(result), events, f"{way} {restriction} {actions} {options}: recorded and lost",
          result)
    return result


def test_each_call():
    """One call killed at a time: in a thread, a child, and a loop that fills the ring."""
    for calls in RECORDERS_OWN:
        result = all_counted("prctl", f"deny:{calls}", "thread:100", "fork:100", f"loop:{OVERFLOW}",
                             options=("--heap",))
        contains(result.err, "1 process entered a seccomp sandbox", f"note for {calls}")
        contains(result.err, "1 process was not recorded: started in a sandbox",
                 f"note for {calls}")


def test_wake_up():
    """Nor is the collector woken by a futex, or a wait for it made."""
    for way in WAYS:
        all_counted(way, "deny:futex,nanosleep,clock_nanosleep", f"loop:{OVERFLOW}",
                    options=("--heap",))


def test_list_of_allowed_calls():
    """Only what libc needs is allowed."""
    for way in WAYS:
        for options in MODES:
            all_counted(way, "only", "thread:1000", "fork:1000", f"loop:{OVERFLOW}", "thread:1000",
                        options=options)


def test_table_of_calls():
    """All calls are allowed that libc and the loader make, and those that the recorder says it
    makes: it makes no others."""
    for way in WAYS:
        for options in MODES:
            result = same(way, "recorder", "thread:100", "fork:100", f"loop:{OVERFLOW}",
                          "names:40000", "spawn:100", "exec:100", out="done\ndone\n",
                          options=options)
            check("sandbox" not in result.err, "the note mentions a sandbox", result)
            equal(len(result.dump()["processes"]), 4, "processes", result)


def test_names():
    """More names than the first table has room for; a second one would need system calls."""
    for calls in "openat", "mmap", "prlimit64":
        result = same("prctl", f"deny:{calls}", "names:40000")
        check(harness.report("summary", result.trace)["health"]["names_folded"] > 0,
              f"names that were folded without {calls}", result)


def test_profile():
    """The built-in profiler opens no file, and asks neither who it is nor where."""
    for calls in "getpid", "getcwd", "openat,socket":
        same("prctl", f"deny:{calls}", "profile:2")


def test_threads_are_recorded():
    """A thread that begins in the sandbox has a ring, and its number."""
    result = same("prctl", "only", "thread:500", "thread:500")
    trace = result.dump()
    equal(trace["lost"], 0, "lost")
    equal(trace["kinds"]["alloc"], 1001, "allocations")
    check(all(t["tid"] for t in trace["threads"]), "a thread has no number", trace["threads"])


def test_exec():
    """The program that is started in the sandbox runs, and a note says that it is not recorded."""
    calls = ("memfd_create,socket,sendmsg,nanosleep,clock_nanosleep,prctl,gettid,getpid,getppid,"
             "madvise,ftruncate,fcntl,lseek,readlink,rt_sigprocmask,process_vm_readv,futex")
    for options in MODES:
        result = same("prctl", f"deny:{calls}", "exec:1000", options=options)
        contains(result.err, "1 process was not recorded: started in a sandbox", "note")


def test_exec_read_only():
    """A file that is opened for writing kills the program that is started, too."""
    result = same("prctl", "readonly", "exec:1000")
    contains(result.err, "1 process entered a seccomp sandbox", "note")


def test_strict():
    """Strict mode takes the clock away as well."""
    for options in MODES:
        result = all_counted("prctl", "strict", "loop:1000", options=options)
        check(result.dump()["lost"] >= 2000, "the clock was read in strict mode", result)
        contains(result.err, "1 process entered a seccomp sandbox", "note")


def test_no_counter():
    """The counter alone is taken away, from new threads and children too."""
    for options in MODES:
        all_counted("prctl", "counter", "loop:100", "thread:100", "fork:100", options=options)


def test_refused_filter():
    """A filter that the kernel refuses changes nothing, nor does errno."""
    for way in WAYS:
        result = same(way, "bad", "fork:100", f"loop:{OVERFLOW}", "thread:100",
                      out="invalid\ndone\n")
        trace = result.dump()
        equal((trace["kinds"]["alloc"], trace["lost"]), (201 + OVERFLOW, 0), "recorded and lost")
        equal(len(trace["processes"]), 2, "processes")
        check("sandbox" not in result.err, "the note mentions a sandbox", result)


def test_unseen_filter():
    """Without libc's functions: noticed by a child that can read its state, before it makes any
    other call, and recorded no further."""
    calls = "memfd_create,socket,sendmsg,nanosleep,clock_nanosleep,prctl,gettid,getpid,madvise"
    for options in (*MODES, ("--heap", "--stacks=native")):
        result = same("raw", f"deny:{calls}", "loop:100", "fork:100", options=options)
        contains(result.err, "1 process was not recorded: started in a sandbox", "note")


def test_filter_that_does_no_harm():
    """One that refuses with an error, or kills for calls that the recorder does not make: threads,
    children and the programs that they become are recorded as usual."""
    for way in WAYS:
        for calls in ("refuse:process_vm_readv,readlink,ptrace", "deny:ptrace"):
            result = same(way, calls, "fork:100", "thread:100", "spawn:100", "exec:100",
                          out="done\ndone\n")
            trace = result.dump()
            equal((trace["kinds"]["alloc"], trace["lost"]), (403, 0), "recorded and lost", result)
            equal(len(trace["processes"]), 4, "processes")
            check("sandbox" not in result.err, "the note mentions a sandbox", result)


def test_no_harm_in_many_processes():
    """A process and its programs are recognised among more others than the session has room for."""
    children = ["fork:10"] * 100
    result = same("prctl", "deny:ptrace", *children, "spawn:10", "exec:10", out="done\ndone\n")
    equal(result.dump()["kinds"]["alloc"], 1 + 1000 + 11 + 11, "allocations", result)


def test_no_harm_while_the_collector_looks():
    """It looks ten times a second, and knows the filters that a program was started with."""
    command = [program("sandbox_itself"), "prctl", "deny:ptrace", "--", "sh", "-c",
               "echo first; read line; sh -c 'echo second; read line; exit 3'"]
    process = start(*command, options=("--heap",), stdin=subprocess.PIPE)
    collector = collector_of(process)
    for place in "first", "second":
        equal(read_line(process), place, "the shell")
        wait_until_asleep(collector, 20, "rounds of the collector")
        process.stdin.write("\n")
        process.stdin.flush()
    result = finish(process)
    equal(result.code, 3, "exit code", result)
    check("sandbox" not in result.err, "the note mentions a sandbox", result)


def test_filters_in_turn():
    """After one that does no harm, one that does."""
    inner = [program("sandbox_itself"), "prctl", "only", "fork:100", "thread:100"]
    for first in ("refuse:ptrace", "deny:ptrace"):
        result = same("syscall", first, "loop:1", "--", *inner, options=("--heap",))
        contains(result.err, "1 process entered a seccomp sandbox", "note")
        contains(result.err, "1 process was not recorded: started in a sandbox", "note")


def test_profile_says_why():
    """The functions that control the profile fail or do nothing; they open no file and ask for no
    process id."""
    for calls in "getpid,getppid", "getcwd", "openat", "socket", "gettid":
        result = same("prctl", f"deny:{calls}", "config:1", "run:1", "dump:2", "run:1", "loop:1")
        contains(result.err, "1 process entered a seccomp sandbox", f"note for {calls}")


def test_filter_of_the_machine():
    """What memledger itself runs under, as in a container, is no reason to record less."""
    outside = [program("sandbox_itself"), "prctl", "deny:process_vm_readv", "--"]
    recorded = [harness.MEMLEDGER, "run", "-o", "t.mled", "--", program("sandbox_itself")]
    done = plain(*outside, *recorded, "none", "none", "fork:100", "thread:100")
    equal((done.returncode, done.stdout), (3, "done\n"), "how it ended", done.stderr)
    check("sandbox" not in done.stderr, "the note mentions a sandbox", done.stderr)
    trace = harness.dump("t.mled")
    equal((trace["kinds"]["alloc"], trace["lost"]), (201, 0), "recorded and lost")
    done = plain(*outside, *recorded[:2], "-f", *recorded[2:], "prctl", "only", "fork:100")
    equal((done.returncode, done.stdout), (3, "done\n"), "with one more filter", done.stderr)
    contains(done.stderr, "1 process entered a seccomp sandbox", "note")


# ---- Several threads and processes -------------------------------------------

# All that the recorder alone needs, in threads that are there and do not end.
IN_THREADS = "deny:" + ",".join(["memfd_create", "socket", "sendmsg", "setsockopt", "nanosleep",
                                 "clock_nanosleep", "openat", "gettid", "ftruncate", "fcntl",
                                 "rt_sigprocmask"])


def family(scene, *filters, options=(), out="done\n"):
    """A scene of sandbox_family, with and without memledger."""
    command = [program("sandbox_family"), scene, *filters]
    done = plain(*command)
    equal((done.returncode, done.stdout), (3, out), f"without memledger: {scene}", done.stderr)
    result = run(*command, options=("-f", *options))
    equal((result.code, result.out), (3, out), f"{scene} {filters}", result)
    return result


def test_filters_are_of_threads():
    """A thread's harmless filter does not excuse one that the main thread's child adds."""
    result = family("thread-then-child", "deny:memfd_create", out="done\ndone\n")
    contains(result.err, "1 process was not recorded: started in a sandbox", "note")


def test_filters_at_once():
    """One that is refused, or does no harm, while another thread adds one that does."""
    for _ in range(10):
        result = family("at-once", "deny:memfd_create")
        contains(result.err, "1 process entered a seccomp sandbox", "note")
        trace = result.dump()
        recorded = trace["kinds"]["alloc"] + trace["kinds"]["free"]
        equal(recorded + trace["lost"], 2 * (2 + 12 * 100), "recorded and lost together", result)


def test_filter_for_all_threads():
    """Threads that wait for room, or are getting their rings, have left the kernel by then."""
    for options in ((), ("--ring-size", "64KiB")):
        for _ in range(5):
            family("all-threads", IN_THREADS, options=options)


def test_vfork():
    """What a child does to itself is not its parent's, though they share their memory."""
    # What is recorded by parent and program, and lost by a child without a clock.
    scenes = {"deny:memfd_create": (101, 0), "deny:ptrace": (202, 0), "counter": (202, 2)}
    for restriction, counts in scenes.items():
        result = family("vfork", restriction, out="done\ndone\n")
        trace = result.dump()
        equal((trace["kinds"]["alloc"], trace["lost"]), counts, f"{restriction}: recorded and lost",
              result)
        check("entered a seccomp sandbox" not in result.err, "the note mentions a sandbox", result)


def test_no_harm_after_the_parent():
    """A program whose parent added a harmless filter, and has ended."""
    command = [program("sandbox_family"), "daemon", "deny:ptrace"]
    done = plain(*command)
    equal((done.returncode, done.stdout), (3, "ended\ndone\ndone\n"), "without memledger", done.stderr)
    process = start(*command, options=["-f"], stdin=subprocess.PIPE)
    equal(read_line(process), "ended", "the parent")
    wait_until_asleep(collector_of(process), 20, "rounds of the collector")
    process.stdin.write("\n")
    result = finish(process)
    equal((result.code, result.out), (3, "done\ndone\n"), "with memledger", result)
    equal(result.dump()["kinds"]["alloc"], 1 + 100 + 101, "allocations", result)
    check("sandbox" not in result.err, "the note mentions a sandbox", result)


def test_no_descriptors():
    """A process that cannot read its state for want of a descriptor is in no sandbox. Its child,
    which can, is recorded."""
    result = family("no-descriptors")
    contains(result.err, "1 process was not recorded: no room for the recorder's buffers", "note")
    check("sandbox" not in result.err, "the note mentions a sandbox", result)
    equal(result.dump()["kinds"]["alloc"], 1 + 100, "allocations", result)


harness.main(globals())
