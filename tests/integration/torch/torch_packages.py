# torch_packages.py: packages that build on PyTorch, for the tests: that of the PyTorch in use, or
# else one from PyPI that works with the distribution's.
#
# SPDX-License-Identifier: Apache-2.0
import functools
import glob
import os

import pypi
from harness import check, plain
from torch_support import PYTHON, need_torch


@functools.cache
def environment(package):
    """The environment of a program that imports the package. scripts/ lists what it needs."""
    need_torch()
    if plain(PYTHON, "-c", f"import {package}").returncode == 0:
        return dict(os.environ)
    requirements = os.path.join(os.environ["TEST_SOURCE"], "scripts",
                                f"requirements-{package}.txt")
    folder = pypi.environment(requirements, os.path.join(os.environ["PYPI_FOLDER"], package),
                              PYTHON)
    packages = glob.glob(os.path.join(folder, "lib", "python3*", "site-packages"))
    check(len(packages) == 1, "no packages in the environment", folder)
    path = filter(None, [packages[0], os.environ.get("PYTHONPATH")])
    return dict(os.environ, PYTHONPATH=":".join(path))
