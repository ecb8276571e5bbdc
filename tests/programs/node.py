# node.py: JavaScript with worker threads, child processes, compression and a full heap.
#
# SPDX-License-Identifier: Apache-2.0
import os

from outcome import observe
from stage import PATIENCE_S, as_user, environment

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "work.js")


def play(record, path):
    done = observe(as_user(record("node", ["node", SCRIPT])), PATIENCE_S, cwd=path,
                   env=environment(path))
    return {"end": done.code, "out": done.out, "errors": done.err}
