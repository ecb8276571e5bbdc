# java.py: a program that is compiled and run from its source, with threads and collections
# that the garbage collector has work with.
#
# SPDX-License-Identifier: Apache-2.0
import os

from outcome import observe
from stage import PATIENCE_S, as_user, environment

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Work.java")


def play(record, path):
    done = observe(as_user(record("java", ["java", "-Xmx256m", SOURCE])), PATIENCE_S, cwd=path,
                   env=environment(path))
    return {"end": done.code, "out": done.out, "errors": done.err}
