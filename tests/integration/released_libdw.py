#!/usr/bin/env python3
# released_libdw.py COMMAND: checks that a released command can do what it needs libdw for: record a
# running program with two threads, by ptrace, and find the source line of a malloc.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import subprocess
import sys
import tempfile

PATIENCE_S = 600  # only ends what hangs

# Allocates until its standard input ends, or once if it has an argument. Any process may trace it, also where the
# kernel allows that to parents only.
PROGRAM = """
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static void allocate(void)
{
    void *volatile block = malloc(12345); /* line 8 */
    free(block);
}

static void *allocate_on(void *unused)
{
    for (;; usleep(1000))
        allocate();
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    char c;

    (void)argv;
    if (argc > 1) {
        allocate();
        return 0;
    }
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    pthread_create(&thread, NULL, allocate_on, NULL);
    return write(1, "ready\\n", 6) == 6 && read(0, &c, 1) == 0 ? 0 : 1;
}
"""


def report(folder, *command):
    done = subprocess.run(command, check=True, text=True, capture_output=True, timeout=PATIENCE_S, cwd=folder)
    return done.stdout


def check_lines(command, folder):
    report(folder, command, "run", "-q", "--heap", "--stacks", "native", "-o", "lines.mled", "--", "./program", "once")
    rows = report(folder, command, "table", "--of", "calls", "--by", "line", "lines.mled")
    if "program.c:8 allocate" not in rows:
        sys.exit(f"{command} finds no source line:\n{rows}")


def check_attach(command, folder):
    program = subprocess.Popen(["./program"], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder)
    program.stdout.readline()
    attached = subprocess.run([command, "attach", "--heap", "--for", "1s", "-o", "attached.mled", str(program.pid)],
                              text=True, capture_output=True, timeout=PATIENCE_S, cwd=folder)
    program.stdin.close()
    code = program.wait(timeout=PATIENCE_S)
    if "not allowed to trace" in attached.stderr:
        print(f"memledger attach was not tried: {attached.stderr}")
        return
    if attached.returncode or code:
        sys.exit(f"attach: exit code {attached.returncode}, the program's {code}: {attached.stderr}")
    summary = json.loads(report(folder, command, "summary", "--json", "attached.mled"))
    if summary["allocations"] < 10:
        sys.exit(f"attach recorded {summary['allocations']} allocations: {attached.stderr}")


def check(command):
    command = os.path.abspath(command)
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "program.c"), "w") as file:
            file.write(PROGRAM.lstrip())
        subprocess.run(["cc", "-g", "-pthread", "-o", "program", "program.c"], check=True, cwd=folder)
        check_lines(command, folder)
        check_attach(command, folder)


if __name__ == "__main__":
    check(*sys.argv[1:])
