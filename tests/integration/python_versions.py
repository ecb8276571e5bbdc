# python_versions.py: the installed versions of CPython, for tests that use each of them. PYTHONS
# names more interpreters, separated by blanks.
#
# SPDX-License-Identifier: Apache-2.0
import functools
import glob
import os
import sys

from harness import plain

KNOWN = [(3, minor) for minor in range(9, 15)]
PLACES = ["/usr/bin/python3.*", "/usr/local/bin/python3.*", "~/.pyenv/versions/3.*/bin/python3"]

# Nothing of an interpreter that is not CPython, or has no global lock.
VERSION = """
import sys, sysconfig
if sys.implementation.name == "cpython" and not sysconfig.get_config_var("Py_GIL_DISABLED"):
    print(*sys.version_info[:2])
"""


@functools.cache
def interpreters():
    """(3, minor) -> path, one of each version that is known."""
    candidates = os.environ.get("PYTHONS", "").split() + [sys.executable]
    for pattern in PLACES:
        candidates += sorted(glob.glob(os.path.expanduser(pattern)))
    found = {}
    for path in candidates:
        done = plain(path, "-c", VERSION)
        if not done.returncode and done.stdout.strip():
            found.setdefault(tuple(map(int, done.stdout.split())), path)
    known = {v: path for v, path in sorted(found.items()) if v in KNOWN}
    print("Python", ", ".join(f"3.{minor}" for _, minor in known), flush=True)
    return known
