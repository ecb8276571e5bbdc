#!/usr/bin/env python3
# test_thread_suite.py TESTS NM: the suite `threads` has the tests in which ThreadSanitizer finds
# something to check, and no others.
#
# Those are the programs of the suites `unit` and `sanitize` that start threads, lock or handle
# signals, as their symbols say. Fuzzers are left out: they have one thread, besides the writer's,
# which other tests use more. So are programs that are not built, of which `make check` has some.
# TESTS is Meson's list of the tests.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import subprocess
import sys

CHECKED = {"pthread_create", "pthread_mutex_lock", "sigaction", "signal"}


def imported(nm, programs):
    """{program: the symbols that it takes from shared libraries, without their versions}."""
    lines = subprocess.run([nm, "--dynamic", "--undefined-only", "--format=posix",
                            "--print-file-name", *programs],
                           check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    symbols = {program: set() for program in programs}
    for line in lines:
        program, _, symbol = line.rpartition(": ")
        symbols[program].add(symbol.split()[0].partition("@")[0])
    return symbols


def suites_of(test):
    return {suite.rpartition(":")[2] for suite in test["suite"]}


def main(tests_file, nm):
    build = os.path.dirname(os.path.dirname(tests_file)) + "/"
    with open(tests_file, encoding="utf-8") as file:
        tests = [test for test in json.load(file)
                 if suites_of(test) & {"unit", "sanitize"} and "fuzz" not in suites_of(test)
                 and test["cmd"][0].startswith(build)]
    built = [test for test in tests if os.path.exists(test["cmd"][0])]
    if tests and not built:
        print("skipped: none of these programs is built")
        return 77
    symbols = imported(nm, [test["cmd"][0] for test in built])
    wrong = 0
    for test in built:
        reasons = sorted(symbols[test["cmd"][0]] & CHECKED)
        if bool(reasons) != ("threads" in suites_of(test)):
            wrong += 1
            print(f"{test['name']}: belongs into the suite threads: it uses {', '.join(reasons)}"
                  if reasons else f"{test['name']}: has nothing to do in the suite threads")
    print(f"{len(built)} programs of {len(tests)}, {wrong} in the wrong suite")
    return 1 if wrong or not tests else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
