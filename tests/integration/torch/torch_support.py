# torch_support.py: the PyTorch that the tests use, and the output of their programs.
#
# PyTorch is the system's; TORCH_PYTHON names an interpreter that has another.
#
# SPDX-License-Identifier: Apache-2.0
import functools
import json
import os
import sys

import harness
from harness import check, plain

PYTHON = os.environ.get("TORCH_PYTHON", sys.executable)
OLDEST = (1, 13)


@functools.cache
def version():
    code = "import torch; print(*torch.__version__.split('.')[:2])"
    done = plain(PYTHON, "-c", code)
    if done.returncode:
        raise harness.Skip(f"{PYTHON} has no PyTorch; scripts/setup.sh test installs it")
    return tuple(map(int, done.stdout.split()))


def need_torch():
    if version() < OLDEST:
        raise harness.Skip(f"PyTorch {version()} is older than {OLDEST}", machine=True)


def said(text, details):
    lines = text.strip().splitlines()
    check(lines, "the program said nothing", details)
    return json.loads(lines[-1])
