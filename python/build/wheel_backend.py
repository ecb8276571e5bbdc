# wheel_backend.py: meson-python, with one thing more: the wheel says that it
# serves every Python from 3.9 on, whichever built it.
#
# meson-python knows that the extension keeps to the stable ABI, but names the
# version that it runs under, and pip would refuse the wheel for an older one.
#
# SPDX-License-Identifier: Apache-2.0
import base64
import hashlib
import os
import re
import zipfile

import mesonpy
from mesonpy import *  # noqa: F401,F403: the other hooks are meson-python's own

OLDEST = "cp39"  # as Py_LIMITED_API in python/memledger/meson.build


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = mesonpy.build_wheel(wheel_directory, config_settings, metadata_directory)
    if "-abi3-" not in name:
        os.remove(os.path.join(wheel_directory, name))
        meson = os.environ.get("MESON")
        raise SystemExit(f"{meson or 'meson'} builds a wheel for one version of Python only ({name}); "
                         + ("unset MESON, or set it to Meson 1.3 or later" if meson else
                            "install Meson 1.3 or later"))
    return retag(wheel_directory, name)


def retag(folder, name):
    """Rewrites the wheel for the oldest Python; returns its new name."""
    new_name = re.sub(r"-cp3\d+-abi3-", f"-{OLDEST}-abi3-", name)
    if new_name == name:
        return name
    old, new = os.path.join(folder, name), os.path.join(folder, new_name)
    with zipfile.ZipFile(old) as source, zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as target:
        tags = next(n for n in source.namelist() if n.endswith(".dist-info/WHEEL"))
        record = tags.replace("WHEEL", "RECORD")
        text = re.sub(rb"(?m)^Tag: cp3\d+-", f"Tag: {OLDEST}-".encode(), source.read(tags))
        for item in source.infolist():
            data = source.read(item)
            if item.filename == tags:
                data = text
            elif item.filename == record:
                data = re.sub(rb"(?m)^" + re.escape(tags).encode() + rb",.*$",
                              f"{tags},{digest(text)},{len(text)}".encode(), data)
            target.writestr(item, data)
    os.remove(old)
    return new_name


def digest(data):
    """As RECORD spells it."""
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
