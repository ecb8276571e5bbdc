# transformers_support.py: Hugging Face's transformers for the tests: that of the PyTorch in use, or
# else one from PyPI that works with it.
#
# SPDX-License-Identifier: Apache-2.0
import functools
import glob
import os

import pypi
from harness import check, plain
from torch_support import PYTHON, need_torch

REQUIREMENTS = os.path.join(os.environ["TEST_SOURCE"], "scripts", "requirements-transformers.txt")


@functools.cache
def environment():
    """The environment of a program that imports transformers."""
    need_torch()
    if plain(PYTHON, "-c", "import transformers").returncode == 0:
        return dict(os.environ)
    folder = pypi.environment(REQUIREMENTS,
                              os.path.join(os.environ["PYPI_FOLDER"], "transformers"), PYTHON)
    packages = glob.glob(os.path.join(folder, "lib", "python3*", "site-packages"))
    check(len(packages) == 1, "no packages in the environment", folder)
    path = filter(None, [packages[0], os.environ.get("PYTHONPATH")])
    return dict(os.environ, PYTHONPATH=":".join(path))
