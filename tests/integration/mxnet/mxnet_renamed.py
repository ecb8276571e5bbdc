# mxnet_renamed.py: copies of MXNet's real library. In one a function goes by another name, for
# all who look for it: what a build without that function looks like. Another has a build-id
# of its own: what a build that nobody knows looks like.
#
# SPDX-License-Identifier: Apache-2.0
import glob
import mmap
import os
import shutil

from harness import check, equal
from mxnet_run import FOLDER, python


def same_hash(name):
    """Another name that the loader finds in the same place: of two letters that follow
    each other in it, the hash of a name (h * 33 + letter) takes one more of the first for
    33 less of the second."""
    for at in range(len(name) - 2, 0, -1):
        first, second = name[at], name[at + 1]
        if ord("a") <= first < ord("z") and ord("a") <= second <= ord("z"):
            return name[:at] + bytes([first + 1, second - 33]) + name[at + 2:]
    raise ValueError(name)


def rename(library, symbol):
    """Its name is in the table of names once; other tables refer to that."""
    name = symbol.encode()
    with open(library, "r+b") as f, mmap.mmap(f.fileno(), 0) as text:
        at = text.find(b"\0" + name + b"\0")
        check(at >= 0, f"MXNet has no {symbol}")
        text[at + 1:at + 1 + len(name)] = same_hash(name)
        equal(text.find(b"\0" + name + b"\0"), -1, "another name of the function")


def renumber(library):
    """Its build-id is in a note near the beginning; a byte of it is changed."""
    with open(library, "r+b") as f, mmap.mmap(f.fileno(), 0) as text:
        at = text.find(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0", 0, 4096)
        check(at >= 0, "MXNet has no build-id")
        text[at + 16] ^= 1


def library_without(symbol):
    library = copied()
    rename(library, symbol)
    return library


def library_of_another_build():
    library = copied()
    renumber(library)
    return library


def copied():
    """The path of the copy, in the folder of the test."""
    python()
    package, = glob.glob(os.path.join(FOLDER, "lib/python3*/site-packages/mxnet"))
    for needed in glob.glob(os.path.join(package, "*.so.*")):
        if not os.path.exists(os.path.basename(needed)):
            os.symlink(needed, os.path.basename(needed))
    library = os.path.abspath("libmxnet.so")
    shutil.copyfile(os.path.join(package, "libmxnet.so"), library)
    return library
