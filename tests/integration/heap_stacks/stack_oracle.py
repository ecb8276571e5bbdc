#!/usr/bin/env python3
# stack_oracle.py [STACKS]: compares stacks of five programs, frame by frame, with libunwind's, which
# shares no code with ours: C, C++ with exceptions, Rust, Python, and signal handlers. Prints how many
# are equal, end early, and differ, with the first differences. Needs TEST_PROGRAMS, the folder
# build/tests/integration, and compilers.
#
# SPDX-License-Identifier: Apache-2.0
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM_S = 1800  # also with many stacks: this only ends what hangs
SQL = ("create table t(a integer primary key, b text, c real);"
       "with recursive n(i) as (select 1 union all select i + 1 from n where i < {rows})"
       " insert into t select i, 'row ' || i, i * 1.5 from n;"
       "select count(*), sum(c) from t where b like '%7%'; select b from t order by c desc limit 5;")
PYTHON = """
import json, re
def tree(depth, number):
    if depth == 0:
        return [str(number) * 20, re.sub("1", "one" * 50, str(number))]
    return {"%d" % number * 200: tree(depth - 1, number + 1), "list": sorted(range(3), key=lambda n: -n)}
print(sum(len(json.dumps(tree(number % 40, number))) for number in range(ROUNDS)))
"""


def compile_with(compiler, folder, source, *options):
    """The program, or None without the compiler."""
    program = os.path.join(folder, source.partition(".")[0])
    if not shutil.which(compiler):
        return None
    subprocess.run([compiler, *options, "-o", program, os.path.join(HERE, source)], check=True)
    return program


def programs(folder, stacks):
    """(name, command); a command is None if its program is not here."""
    yield "C (sqlite3)", shutil.which("sqlite3") and [
        "sqlite3", ":memory:", SQL.format(rows=max(200, stacks // 2))]
    throws = compile_with("c++", folder, "oracle_throws.cc", "-O2")
    yield "C++ with exceptions", throws and [throws, str(stacks)]
    shapes = compile_with("rustc", folder, "oracle_shapes.rs", "-O")
    yield "Rust", shapes and [shapes, str(stacks)]
    yield "Python", [sys.executable, "-c", PYTHON.replace("ROUNDS", str(max(2, stacks // 400)))]
    signals = compile_with("cc", folder, "oracle_signals.c", "-O2", "-fno-builtin")
    yield "signal handlers", signals and [signals, str(stacks)]


def judged(command, folder, judge):
    """(equal, ended early, different, the first differences), of all its processes."""
    path = os.path.join(folder, "judged")
    if os.path.exists(path):
        os.remove(path)
    env = dict(os.environ, LD_PRELOAD=judge, STACK_JUDGE=path, STACK_JUDGE_EVERY="1",
               PYTHONMALLOC="malloc")
    subprocess.run(command, env=env, check=True, timeout=PROGRAM_S, stdout=subprocess.DEVNULL)
    sums, first = [0, 0, 0], []
    with open(path) as file:
        for line in file:
            words = line.split()
            sums = [a + int(b) for a, b in zip(sums, words[:3])]
            first += words[3:]
    return (*sums, first)


def results(stacks, library="libstack_judge_libunwind.so"):
    """{name: result}, or None for a program that is not here."""
    judge = os.path.join(os.environ["TEST_PROGRAMS"], "heap_stacks", library)
    with tempfile.TemporaryDirectory() as folder:
        return {name: judged(command, folder, judge) if command else None
                for name, command in programs(folder, stacks)}


def main():
    total = [0, 0, 0]
    for name, result in results(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000).items():
        if not result:
            print(f"{name:20}  not here")
            continue
        *sums, first = result
        total = [a + b for a, b in zip(total, sums)]
        print("%-20s  %9s equal  %6s end early  %6s differ %s"
              % (name, *(format(n, ",") for n in sums), " ".join(first)))
    print("%-20s  %9s equal  %6s end early  %6s differ" % ("all", *(format(n, ",") for n in total)))
    return 1 if total[2] else 0


if __name__ == "__main__":
    sys.exit(main())
