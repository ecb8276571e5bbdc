# folders.py: the build folders whose tests make up the suite, and their tests.
#
# SPDX-License-Identifier: Apache-2.0
import functools
import json
import os
import shutil
import subprocess

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# The examples are left out: they take minutes under a sanitizer. -O1 compiles in half the time of
# -O2, and removes fewer of the accesses that are to be checked; -g1 takes a fifth less than -g, and has
# the lines of stacks. Warnings, unlike those of the plain build, are not errors: checks confuse the
# compiler's analysis.
SANITIZED = ["-Doptimization=1", "-Dc_args=-g1", "-Dcpp_args=-g1", "-Db_lundef=false",
             "-Dtests=enabled", "-Dexamples=false", "-Dpreload_tests=false", "-Dviewer=disabled"]


@functools.cache
def without_randomisation():
    """ThreadSanitizer needs parts of the address space that strong randomisation may have used."""
    prefix = ["setarch", "-R"]
    if shutil.which("setarch") and not subprocess.run([*prefix, "true"], capture_output=True).returncode:
        return prefix
    return []


class Folder:
    """`suites`: those whose tests run, None for all. `prefix`: a function that returns the words to
    put before each command."""

    def __init__(self, name, path, setup=(), suites=None, environment=(), prefix=list):
        self.name, self.path, self.setup, self.suites = name, os.path.join(SOURCE, path), setup, suites
        self.environment, self.prefix = dict(environment), prefix

    def configure(self, meson):
        """Sets the folder up, or brings its list of tests up to date. @return whether that worked"""
        if os.path.exists(os.path.join(self.path, "build.ninja")):
            command = ["ninja", "-C", self.path, "build.ninja"]
        else:
            command = [meson, "setup", self.path, *self.setup]
        done = subprocess.run(command, cwd=SOURCE, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            print(done.stdout, end="", flush=True)
        return done.returncode == 0

    def tests(self):
        """Those of its suites, as Meson describes them, without the project's name."""
        with open(os.path.join(self.path, "meson-info", "intro-tests.json"), encoding="utf-8") as file:
            tests = json.load(file)
        for test in tests:
            test["suite"] = [suite.rpartition(":")[2] for suite in test["suite"]]
        return [test for test in tests if self.suites is None or self.suites & set(test["suite"])]

    def targets(self, tests):
        """What ninja must build for them: what they name, and in the folder of all suites also everything
        that is no test."""
        with open(os.path.join(self.path, "meson-info", "intro-targets.json"), encoding="utf-8") as file:
            targets = json.load(file)
        files = {target["id"]: target["filename"] for target in targets}
        built = {name for names in files.values() for name in names}
        needed = {word for test in tests for word in test["cmd"]} & built
        for target in {target for test in tests for target in test["depends"]}:
            needed.update(files.get(target, ()))
        if self.suites is None:
            needed.update(name for target in targets if target["build_by_default"]
                          for name in target["filename"]
                          if not name.startswith(os.path.join(self.path, "tests")))
        return sorted(os.path.relpath(path, self.path) for path in needed)


ASAN = {"ASAN_OPTIONS": "abort_on_error=1:detect_leaks=1:strict_string_checks=1"
                        # Spares a system call for each large block; it changes no check.
                        ":clear_shadow_mmap_threshold=16777216",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"}
TSAN = {"TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1"}

FOLDERS = [
    Folder("plain", "build"),
    Folder("asan", "build/asan", ["-Db_sanitize=address,undefined", *SANITIZED],
           {"unit", "sanitize"}, ASAN),
    Folder("tsan", "build/tsan", ["-Db_sanitize=thread", *SANITIZED],
           {"threads"}, TSAN, without_randomisation),
]
