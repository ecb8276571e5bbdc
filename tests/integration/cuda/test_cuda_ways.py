#!/usr/bin/env python3
# test_cuda_ways.py: each way a program can reach the CUDA driver leads through
# the recorder, and the program sees what it sees without.
#
# SPDX-License-Identifier: Apache-2.0
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import harness
from harness import check, equal, plain, with_standin

HERE = os.path.join(harness.PROGRAMS, "cuda")
ECHO = os.path.join(HERE, "echo", "libcuda.so.1")
RECORDER = os.path.join(harness.LIBRARIES, "libmemledger.so")
WAYS = ("dlsym", "default", "program", "proc", "proc_v1", "proc_self", "static")
HOOKED = "init recorder alloc recorder free recorder"
HOOKED_WITH_HEAP = ("default of the plugin malloc", " dlclose: ")
UNHOOKED = "init driver alloc driver free driver"


def program(name):
    return os.path.join(HERE, name)


def both(name, *arguments, injected=False, options=(), env=None):
    """Runs a program alone and under memledger; what it prints must be equal."""
    command = [program(name), *arguments]
    alone = plain(*command, env=with_standin() if env is None else env)
    equal(alone.returncode, 0, f"{name} alone", alone.stderr)
    env = with_standin() if env is None else env
    if injected:
        # Without the preloaded one, as the launcher does it where that is asked for.
        command = ["/usr/bin/env", "-u", "LD_PRELOAD", f"CUDA_INJECTION64_PATH={RECORDER}"] + command
    done = harness.run(*command, env=env, options=("-qf", *options))
    equal(done.code, 0, f"{name} {arguments}", done)
    equal(done.out, alone.stdout, f"what {name} {arguments} prints")
    return done


def lines(text, word):
    return [line.partition(" ")[2] for line in text.splitlines() if line.startswith(word + " ")]


def check_recorded(done, what):
    """The blocks of cuda_work.h are in the trace, and nothing that failed."""
    events = done.dump(events=True)
    sizes = [e["size"] for e in events["events"] if e.get("kind") == "alloc"
             and e.get("size") in (12345678, 10240)]
    equal(sorted(sizes), [10240, 12345678], f"blocks of {what}", events["kinds"])


def test_every_entry_is_forwarded():
    for options in ((), ("--heap",)):
        done = harness.run(program("cuda_echo"), ECHO, "hooked", options=("-qf", *options))
        equal((done.code, done.out), (0, "0 failures\n"), "hooks of all entries", done)
    done = plain(program("cuda_echo"), ECHO, "plain")
    equal(done.stdout, "0 failures\n", "without hooks")


def test_looked_up():
    for way in WAYS:
        done = both("cuda_lookup", way)
        equal(lines(done.err, "before"), [HOOKED], f"functions found by {way}", done)
        equal(set(lines(done.err, "variant")), {"recorder"}, f"variants after {way}", done)
        check_recorded(done, way)


def test_linked():
    for binding in ("lazy", "now"):
        check_recorded(both(f"cuda_linked_{binding}"), f"a program linked {binding}")


def test_stubs_that_load_the_driver():
    for way in ("local", "global"):
        done = both("cuda_stubbed", program("libcuda_stubs.so"), way)
        check_recorded(done, f"a library with stubs, opened {way}")
        check("init 0" in done.out.splitlines(), "the stubs find no driver", done.out)
        without = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}
        done = both("cuda_stubbed", program("libcuda_stubs.so"), way, env=without)
        check("init -1" in done.out.splitlines(), "not the stub's own failure", done.out)


def test_injected():
    for binding in ("lazy", "now"):
        done = both(f"cuda_linked_{binding}", injected=True)
        check_recorded(done, f"a program linked {binding}, injected")
    for way in WAYS:
        done = both("cuda_lookup", way, injected=True)
        equal(lines(done.err, "before"), [UNHOOKED], f"functions found by {way}", done)
        equal(lines(done.err, "after"), [HOOKED], f"{way} after cuInit", done)
        equal(set(lines(done.err, "variant")), {"recorder"}, f"variants after {way}", done)
        check_recorded(done, f"{way}, injected")


def test_injected_then_loaded():
    done = both("cuda_late", program("libcuda_plugin.so"), program("libcuda_plugin_copy.so"),
                injected=True)
    equal(lines(done.err, "early"), ["recorder"], "looked up after the injection", done)
    equal(lines(done.err, "late"), ["recorder"], "loaded after the injection", done)


def test_preloaded_and_injected():
    env = with_standin(CUDA_INJECTION64_PATH=RECORDER)
    command = program("cuda_lookup"), "dlsym"
    done = harness.run(*command, env=env, options=("-qf",))
    equal(lines(done.err, "after"), [HOOKED], "preloaded and injected", done)
    check_recorded(done, "a program preloaded and injected")


def test_off():
    for way in WAYS:
        done = both("cuda_lookup", way, options=("--cuda=off",))
        equal(lines(done.err, "before"), [UNHOOKED], f"functions found by {way}", done)
        equal(set(lines(done.err, "variant")), {"driver"}, f"variants after {way}", done)
    for binding in ("lazy", "now"):
        done = both(f"cuda_linked_{binding}", options=("--cuda=off",))
        equal(done.dump()["kinds"].get("alloc", 0), 0, f"events of a program linked {binding}")


def test_no_session():
    """Preloaded by hand, with nobody to record for, it only forwards."""
    for way in WAYS:
        env = with_standin(LD_PRELOAD=RECORDER)
        done = plain(program("cuda_lookup"), way, env=env)
        alone = plain(program("cuda_lookup"), way, env=with_standin())
        equal(lines(done.stderr, "before"), [UNHOOKED], f"functions found by {way}", done)
        equal(done.stdout, alone.stdout, f"what cuda_lookup {way} prints")
    done = plain(program("cuda_echo"), ECHO, "plain", env=dict(os.environ, LD_PRELOAD=RECORDER))
    equal(done.stdout, "0 failures\n", "without a session")
    for binding in ("lazy", "now"):
        alone = plain(program(f"cuda_linked_{binding}"), env=with_standin())
        done = plain(program(f"cuda_linked_{binding}"), env=with_standin(LD_PRELOAD=RECORDER))
        equal(done.stdout, alone.stdout, f"what a program linked {binding} prints")


def test_no_driver():
    env = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}
    for options in ((), ("--heap",)):
        both_without_heap_names(options, env, program("cuda_absent"), program("libcuda_plugin.so"))
        both_without_heap_names(options, env, program("cuda_absent_linked"))


def both_without_heap_names(options, env, *command):
    """With --heap, malloc and dlclose are rightly the recorder's."""
    alone = plain(*command, env=env)
    equal(alone.returncode, 0, f"{command} alone", alone.stderr)
    done = harness.run(*command, env=env, options=("-qf", *options))
    equal(done.code, 0, command, done)

    def kept(text):
        return [line for line in text.splitlines()
                if not options or not any(name in line for name in HOOKED_WITH_HEAP)]

    equal(kept(done.out), kept(alone.stdout), "what is found without a driver")
    check("recorder" not in done.out, "hooks are found without a driver", done.out)


def test_many_threads_and_fork():
    check_many_threads()


def test_many_threads_on_one_processor():
    """Those that wait for a lock must leave its holder time to run."""
    everywhere = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(everywhere)})
    try:
        check_many_threads()
    finally:
        os.sched_setaffinity(0, everywhere)


def check_many_threads():
    done = both("cuda_many")
    trace = done.dump(events=True)
    harness.balanced(trace)
    blocks = [e for e in trace["events"] if e["kind"] == "alloc"
              and trace["spaces"][e["space"]]["name"] == "cuda memory"]
    equal(len(blocks), 2000, "blocks of a thousand threads")


harness.main(globals())
