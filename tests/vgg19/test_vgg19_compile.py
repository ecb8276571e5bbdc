# test_vgg19_compile.py: test_cuda_compile with NVIDIA's compiler: the machine's
# own, else the one from PyPI.
#
# SPDX-License-Identifier: Apache-2.0
import glob
import os

import harness
import pypi

PROGRAM = os.environ["TEST_COMPILE"]
NO_COMPILER = 77


def test_kernels_compile():
    done = harness.plain(PROGRAM)
    if done.returncode == NO_COMPILER:
        folder = pypi.environment(os.environ["PYPI_REQUIREMENTS"], os.environ["PYPI_FOLDER"])
        [library] = glob.glob(os.path.join(folder, "lib/python3*/site-packages/nvidia/cuda_nvrtc/lib"))
        done = harness.plain(PROGRAM, env=os.environ | {"LD_LIBRARY_PATH": library})
    harness.equal(done.returncode, 0, "exit code", done.stdout, done.stderr)
    harness.contains(done.stdout + done.stderr, "PASSED", "what cmocka says")


harness.main(globals())
